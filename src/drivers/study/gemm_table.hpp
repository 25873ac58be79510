// The table of `heddle study gemm`.
#pragma once

#include <heddle/gemm/gemm.hpp>
#include <heddle/gemm/tile_model.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

/// One product of n x n matrices.
struct StudyGemmRow {
  std::string device;
  int ranks = 1;
  std::string scalar;
  std::string placement;  ///< As --placements names it.
  Index size = 0;         ///< n
  bool chosen = false;    ///< By the tile model.
  GemmReport report;      ///< Of the repeat with the median of the seconds.
  TileBounds bounds;
  double peak_share = 0.0;              ///< Rate over the ranks' measured peak.
  std::optional<double> nominal_share;  ///< Rate over the ranks' nominal peak, where that was given.
  std::optional<double> hidden_share;   ///< Of the transfers' time; none: nothing travelled.
};

/// The rows of a table of another run, as they stand there. Throws Error(input), naming file and line, where it is
/// none.
[[nodiscard]] std::vector<std::string> joined_rows(const std::filesystem::path& path);

/// Writes the rows, then those of other runs.
void write_rows(const std::filesystem::path& path, const std::vector<StudyGemmRow>& rows,
                const std::vector<std::string>& joined);

[[nodiscard]] nlohmann::ordered_json as_json(const StudyGemmRow& row);

}  // namespace heddle::driver

// The table of `heddle study jacobi`.
#pragma once

#include <heddle/core/scalar.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

struct JacobiRow {
  std::string backend;  ///< "serial": one thread of a CPU; "openmp", "cuda", "hip".
  int processors = 1;   ///< p: threads, or multiprocessors.
  std::string method;
  Index order = 0;
  double seconds = 0;  ///< t_p
  int sweeps = 0;
  Index rotations = 0;
  double residual = 0;  ///< EigenErrors::residual
  // Where there is the time of the cyclic order on one thread, t_s:
  std::optional<double> speed_up;      ///< S = t_s/t_p
  std::optional<double> acceleration;  ///< (S - 1) 100 %
  std::optional<double> cost;          ///< p t_p
  std::optional<double> efficiency;    ///< 100 S/p %
  /// Against the same method on one thread.
  std::optional<double> own_speed_up;
};

/// Fills in what follows from the serial rows.
void derive(std::vector<JacobiRow>& rows);

void write_rows(const std::filesystem::path& path, const std::string& matrix, const std::string& device,
                const std::vector<JacobiRow>& rows);

/// The serial rows of a table. Throws Error(input), naming file and line, where it is none of this matrix or has none.
[[nodiscard]] std::vector<JacobiRow> read_serial_rows(const std::filesystem::path& path, const std::string& matrix);

[[nodiscard]] nlohmann::ordered_json as_json(const JacobiRow& row);

}  // namespace heddle::driver

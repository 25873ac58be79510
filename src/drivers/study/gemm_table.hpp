// The table of `heddle study gemm`.
#pragma once

#include "drivers/study/table.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/gemm/tile_model.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace heddle::driver {

/// One product of n x n matrices, by Heddle or a peer.
struct StudyGemmRow {
  std::string device;
  int ranks = 1;
  std::string method = "heddle";  ///< Or as --peers names it.
  std::string scalar;
  MathMode math = MathMode::automatic;
  std::string placement;  ///< As --placements names it; of a peer: "cyclic" or "whole-host".
  Index size = 0;         ///< n
  bool chosen = false;    ///< By the tile model; of a peer: its fastest block.
  /// Of the repeat with the median of the seconds. Of a peer, `tile` is the block, and only that, `grid`, the seconds
  /// and the rate are known.
  GemmReport report;
  std::optional<TileBounds> bounds;     ///< None of a peer.
  std::optional<Index> published_tile;  ///< What TileChoice::published takes; none of a peer.
  double peak = 0.0;                    ///< Measured flops per second of a rank at most.
  double peak_share = 0.0;              ///< Rate over the ranks' measured peak.
  std::optional<double> nominal_share;  ///< Rate over the ranks' nominal peak, where that is known.
  std::optional<double> hidden_share;   ///< Of the transfers' time; none: nothing travelled.

  [[nodiscard]] bool is_ours() const { return method == "heddle"; }
  [[nodiscard]] bool is_published() const { return published_tile == report.tile; }
};

inline constexpr StudyTable study_gemm_table = {
    "gemm",
    "device,ranks,method,scalar,math,placement,size,tile,chosen,grid,bands_per_pass,seconds,predicted_seconds,gflops,"
    "peak_gflops,peak_share,nominal_share,hidden_share,memory_bound,transfer_bound,published_tile,bytes_received"};

/// The row's cells by their columns; what is not known has none.
[[nodiscard]] nlohmann::ordered_json as_json(const StudyGemmRow& row);

}  // namespace heddle::driver

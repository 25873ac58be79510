// The table of `heddle study gemm`.
#pragma once

#include "studies/table.hpp"
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
  std::string method = "heddle";  ///< "heddle", or a name of --peers.
  std::string scalar;
  MathMode math = MathMode::automatic;
  std::string placement;  ///< A name of --placements; "cyclic" or "whole-host" for a peer.
  Index size = 0;         ///< n
  bool chosen = false;    ///< Marks the tile model's choice, or a peer's fastest block.
  /// Report of the repeat with the median of the seconds. A peer's has the block as `tile`, and besides it `grid`, the
  /// seconds and the rate only.
  GemmReport report;
  std::optional<TileBounds> bounds;     ///< Empty for a peer.
  std::optional<Index> published_tile;  ///< Tile of TileChoice::published; empty for a peer.
  double peak = 0.0;                    ///< Measured peak of a rank, flops per second.
  double peak_share = 0.0;              ///< Rate over the ranks' measured peak.
  std::optional<double> nominal_share;  ///< Rate over the ranks' nominal peak, if that is known.
  std::optional<double> hidden_share;   ///< Hidden share of the transfers' time; empty without transfers.

  [[nodiscard]] bool is_ours() const { return method == "heddle"; }
  [[nodiscard]] bool is_published() const { return published_tile == report.tile; }
};

inline constexpr StudyTable study_gemm_table = {
    "gemm",
    "device,ranks,method,scalar,math,placement,size,tile,chosen,grid,bands_per_pass,seconds,predicted_seconds,gflops,"
    "peak_gflops,peak_share,nominal_share,hidden_share,memory_bound,transfer_bound,published_tile,bytes_received"};

/// Return the row's cells by their columns; unknown values have none.
[[nodiscard]] nlohmann::ordered_json as_json(const StudyGemmRow& row);

}  // namespace heddle::driver

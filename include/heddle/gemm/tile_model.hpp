// The choice of the tile size of the distributed product, from measured rates of the machine.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/core/scalar.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace heddle {

/// Rates that were measured on this machine for each rank, for one scalar type and number of ranks.
struct MachineRates {
  /// The measured rate of local products with one tile size.
  struct GemmPoint {
    Index tile = 0;           ///< Tile size N_i of a product N_i x K by K x N_i.
    double flops = 0.0;       ///< Flops per second of the slowest rank, over milliseconds, while all ranks work.
    double warm_flops = 0.0;  ///< Flops per second once the device is warm, where `warm` was measured; 0: as `flops`.
    friend bool operator==(const GemmPoint&, const GemmPoint&) = default;
  };
  /// How far a device has warmed up after some time at work. A GPU lowers its clock as it gets warm; the fastest
  /// product is then the one that takes least power.
  struct WarmPoint {
    double seconds = 0.0;  ///< Time at work without a pause, in seconds.
    double warmth = 0.0;   ///< How far rates have gone from flops (0) to warm_flops (1).
    friend bool operator==(const WarmPoint&, const WarmPoint&) = default;
  };
  std::vector<GemmPoint> gemm;  ///< Rates of native products, by rising tile; rates between points are interpolated.
  /// Warmth by rising time; empty where it was not measured, and the device then never gets warm.
  std::vector<WarmPoint> warm;
  /// Rates of emulated products with the moduli that emulation_moduli() gives, by rising tile; empty where they were
  /// not measured.
  std::vector<GemmPoint> emulated;
  double memory_bandwidth = 0.0;  ///< Bytes per second that a copy reads and writes, with all ranks at work.
  /// Bytes per second that reach each rank while all receive from a neighbour; 0 for a single rank.
  double link_bandwidth = 0.0;
  /// Bytes per second that reach each rank from another node while all ranks receive from other nodes; 0: as within a
  /// node.
  double node_bandwidth = 0.0;
  double latency = 0.0;  ///< Seconds that an empty message takes one way: half a round trip to a neighbour.
  /// Share of a transfer that is hidden behind a running product: 1 where copy engines work alone, 0 where the cores
  /// that multiply also copy.
  double overlap = 0.0;
  /// The same of a transfer from another node, where node_bandwidth is not 0: near 1 where the link is slow, less where
  /// the cores that multiply are busy with the messages, too.
  double node_overlap = 0.0;
  /// Bytes per second from pinned host memory to each rank's device, with all ranks at work; 0 on CPU backends.
  double host_bandwidth = 0.0;
  /// Bytes per second each way between pinned host memory and each rank's device while both ways are busy; 0 on CPU
  /// backends.
  double host_bandwidth_both_ways = 0.0;

  /// The highest measured rate in flops per second: BW_math of Choi and Stegailov (2022).
  [[nodiscard]] double peak_flops() const;
  /// Flops per second with a tile size after so many seconds at work, interpolated. Throws Error(argument) where `gemm`
  /// is empty.
  [[nodiscard]] double flops_at(Index tile, double seconds = 0.0) const;
  /// How far rates have gone from cold (0) to warm (1) after so many seconds at work, interpolated.
  [[nodiscard]] double warmth_after(double seconds) const;
  friend bool operator==(const MachineRates&, const MachineRates&) = default;
};

/// The rates that a plan takes where none are given: those of a typical machine of this backend, on CPUs scaled by the
/// threads of a rank, whatever machine this is. Nothing is read or measured, so every rank and every run gets the same
/// rates. <heddle/tuning/rates.hpp> measures a machine's own rates.
template <Scalar T> [[nodiscard]] MachineRates typical_rates(const Communicator& comm);

/// The rates of an H200 among others in a server, joined by NVLink, as perf/RESULTS.md has them in round numbers, with
/// `node_bandwidth` bytes per second for each GPU between nodes.
template <Scalar T> [[nodiscard]] MachineRates h200_rates(double node_bandwidth);

/// The shape of the product that a tile is chosen for.
struct ProductShape {
  Index rows = 0;                       ///< Rows of C.
  Index columns = 0;                    ///< Columns of C.
  Index inner = 0;                      ///< Inner dimension: columns of op(A), rows of op(B).
  int ranks = 1;                        ///< Number of ranks.
  int element_bytes = 8;                ///< Bytes of an element.
  double flops_per_multiply_add = 2.0;  ///< Flops of one multiply-add: 2, or 8 for complex elements.
};

/// Lower bounds on the tile size N_i, from Y. R. Choi and V. Stegailov (2022), equations (5)-(9).
struct TileBounds {
  /// Equation (6): N_i > 4kN/(N - 2k), from the arithmetic intensity N_i N / (4N + 2 N_i) > k, where k is peak_flops
  /// over the elements that memory moves per second. Empty for N <= 2k, where no tile is limited by arithmetic.
  std::optional<Index> memory;
  /// Equation (8): N_i > (s/2)(P - 1) BW_math / BW_transfer, with s bytes an element: a band of N_i N elements reaches
  /// P - 1 ranks while a tile takes 2 N_i^2 N operations (8 N_i^2 N operations for complex elements).
  Index transfer = 1;

  /// Equation (9): the smallest tile above both bounds; empty where `memory` is.
  [[nodiscard]] std::optional<Index> smallest() const;
};
/// The lower bounds on the tile size for these rates and this product. Throws Error(argument) for rates that no
/// measurement gives: no gemm or memory rate, falling tiles, NaN; and for a shape that no product has: negative
/// extents, no rank, elements without bytes, multiply-adds without flops.
[[nodiscard]] TileBounds tile_bounds(const MachineRates& rates, const ProductShape& shape);

/// How the tile of a native product is chosen where none is given.
enum class TileChoice {
  model,      ///< The tile of least predicted time.
  published,  ///< published_tile(): the smallest tile whose transfers are hidden.
};
/// The name of a choice: "model" or "published".
[[nodiscard]] std::string_view to_string(TileChoice choice);

/// The tile of Choi and Stegailov (2022): the smallest that meets equation (9), whose transfers are hidden behind the
/// products. It is at most a rank's share of the rows, ceil(rows / ranks), so that every rank has a band; where no tile
/// up to that one meets (9), it is the share. Throws Error(argument) as tile_bounds() does.
[[nodiscard]] Index published_tile(const MachineRates& rates, const ProductShape& shape);

}  // namespace heddle

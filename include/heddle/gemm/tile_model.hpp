// The tile size of the distributed product, from rates of the machine.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/core/scalar.hpp>

#include <optional>
#include <vector>

namespace heddle {

/// What one rank of this machine was measured to do, for one scalar type and number of ranks.
struct MachineRates {
  struct GemmPoint {
    Index tile = 0;      ///< N_i of a product N_i x K by K x N_i.
    double flops = 0.0;  ///< Operations per second of the slowest rank, all ranks at work at once, for milliseconds.
    double warm_flops = 0.0;  ///< The same once the device is warm, where `warm` was measured; 0: as flops.
    friend bool operator==(const GemmPoint&, const GemmPoint&) = default;
  };
  /// A GPU lowers its clock as it gets warm, and what costs it least power is then the fastest.
  struct WarmPoint {
    double seconds = 0.0;  ///< At work without a pause.
    double warmth = 0.0;   ///< How far the rate has gone from flops (0) to warm_flops (1).
    friend bool operator==(const WarmPoint&, const WarmPoint&) = default;
  };
  std::vector<GemmPoint> gemm;  ///< By rising tile; between points the rate is interpolated.
  std::vector<WarmPoint> warm;  ///< By rising time; empty where it was not measured: never warm.
  /// Of emulated products with the moduli that round-off takes, by rising tile; empty where they were not measured.
  std::vector<GemmPoint> emulated;
  double memory_bandwidth = 0.0;  ///< Bytes/s of a copy, read plus written, all ranks at once.
  double link_bandwidth = 0.0;    ///< Bytes/s that arrive at each rank while all receive from a neighbour; 0 alone.
  double latency = 0.0;           ///< Seconds for an empty message to a neighbour and back, halved.
  /// Share of a transfer hidden behind a running product: 1 where copy engines work alone, 0 where the cores that
  /// multiply also copy.
  double overlap = 0.0;
  /// Bytes/s from pinned host memory to each rank's device, all ranks at once; 0 on CPU backends.
  double host_bandwidth = 0.0;
  /// The same each way, both ways at once.
  double host_bandwidth_both_ways = 0.0;

  /// Highest of the measured rates: the paper's BW_math.
  [[nodiscard]] double peak_flops() const;
  /// Rate at a tile size after so long at work, interpolated. Throws Error(argument) where `gemm` is empty.
  [[nodiscard]] double flops_at(Index tile, double seconds = 0.0) const;
  [[nodiscard]] double warmth_after(double seconds) const;
  friend bool operator==(const MachineRates&, const MachineRates&) = default;
};

/// Rates that a plan takes where none are given: those of a typical machine of this backend, scaled by the threads of a
/// rank on CPUs, whatever this one is. Nothing is read and nothing measured, so that every rank and every run has the
/// same. <heddle/tuning/rates.hpp> measures a machine's own.
template <Scalar T> [[nodiscard]] MachineRates typical_rates(const Communicator& comm);

/// The product that a tile is wanted for. All placements count, since what is local does not travel.
struct ProductShape {
  Index rows = 0;     ///< of C
  Index columns = 0;  ///< of C
  Index inner = 0;
  int ranks = 1;
  int element_bytes = 8;
  double flops_per_multiply_add = 2.0;
};

/// Lower bounds on the tile, from Y. R. Choi and V. Stegailov (2022), equations (5)-(9).
struct TileBounds {
  /// (6): N_i > 4kN/(N - 2k), from arithmetic intensity N_i N / (4N + 2 N_i) > k, with k = peak_flops over elements
  /// moved per second by memory. Absent for N <= 2k, where no tile is limited by arithmetic.
  std::optional<Index> memory;
  /// (8): N_i > (s/2)(P - 1) BW_math / BW_transfer, with s bytes an element: a band of N_i N elements reaches P - 1
  /// ranks while a tile costs 2 N_i^2 N operations. (For complex elements, 8 N_i^2 N operations.)
  Index transfer = 1;
};
/// Throws Error(argument) for rates that no measurement gives: none of gemm or memory, falling tiles, NaN.
[[nodiscard]] TileBounds tile_bounds(const MachineRates& rates, const ProductShape& shape);

}  // namespace heddle

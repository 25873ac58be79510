// Operands with all their digits in use.
#pragma once

#include "support/measure.hpp"
#include <heddle/dist/matrix.hpp>

namespace heddle::perf {

/// A number in (-1, 1) from two indices and a seed.
struct RandomEntries {
  int seed;
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    std::uint64_t z = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ULL +
                      static_cast<std::uint64_t>(j) * 0xC2B2AE3D27D4EB4FULL + static_cast<std::uint64_t>(seed);
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93ULL;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93ULL;
    z ^= z >> 32;
    return static_cast<double>(z >> 11) / 4503599627370496.0 - 1.0;
  }
};

inline DistributedMatrix<double> random_distributed(const Placement& placement, int seed) {
  DistributedMatrix<double> matrix(world(), placement, "operand");
  fill(matrix, RandomEntries{seed});
  return matrix;
}

inline LocalMatrix<double> random_local(const ExecutionSpace& space, Index rows, Index columns, int seed) {
  LocalMatrix<double> matrix(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::operand"),
                             static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const RandomEntries entries{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index k) { matrix(k % rows, k / rows) = entries(k % rows, k / rows); });
  return matrix;
}

}  // namespace heddle::perf

// Operands with full precision, and a check of their product.
#pragma once

#include "support/measure.hpp"
#include <heddle/dist/matrix.hpp>

#include <cmath>
#include <limits>

namespace heddle::perf {

/// Returns a number in (-1, 1) from two indices and a seed.
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

/// The same for any scalar: rounded to float, or a complex number of two of them.
template <Scalar T> struct RandomElements {
  int seed;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    if constexpr (is_complex<T>) {
      return T(static_cast<Real<T>>(RandomEntries{seed}(i, j)), static_cast<Real<T>>(RandomEntries{seed + 1000}(i, j)));
    } else {
      return static_cast<T>(RandomEntries{seed}(i, j));
    }
  }
};

template <Scalar T = double> DistributedMatrix<T> random_distributed(const Placement& placement, int seed) {
  DistributedMatrix<T> matrix(world(), placement, "operand");
  fill(matrix, RandomElements<T>{seed});
  return matrix;
}

template <Scalar T = double>
LocalMatrix<T> random_local(const ExecutionSpace& space, Index rows, Index columns, int seed) {
  LocalMatrix<T> matrix(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::operand"),
                        static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const RandomElements<T> elements{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index k) { matrix(k % rows, k / rows) = elements(k % rows, k / rows); });
  return matrix;
}

template <Scalar T> double operations(Index n) {
  return flops_per_multiply_add<T> * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

/// Returns true if C is the product of the random n x n matrices of seeds 1 and 2, by some of its elements, each summed
/// again in double precision. Collective. Rounding errors are far below the bound, 8 n u; a wrong band, tile or summand
/// exceeds it.
template <Scalar T> bool is_product(const DistributedMatrix<T>& C) {
  using Sum = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  constexpr Index probes = 64;
  const Index n = C.rows();
  const Placement& placement = C.placement();
  double error = 0.0;
  for (Index probe = 0; probe < probes; ++probe) {
    // From corner to corner, and in every band.
    const Index i = probe * (n - 1) / (probes - 1);
    const Index j = probe * 37 % probes * (n - 1) / (probes - 1);
    if (placement.owner(i, j) != world().rank()) {
      continue;
    }
    Sum expected = 0;
    for (Index k = 0; k < n; ++k) {
      expected += Sum(RandomElements<T>{1}(i, k)) * Sum(RandomElements<T>{2}(k, j));
    }
    T found{};
    Kokkos::deep_copy(found,
                      Kokkos::subview(C.local(), placement.row_axis().local(i), placement.column_axis().local(j)));
    const double distance = Kokkos::abs(Sum(found) - expected);
    if (!(distance <= error)) {
      error = std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
    }
  }
  error = world().all_reduce(error, Reduction::maximum);
  return error <= 8.0 * static_cast<double>(n) * static_cast<double>(unit_roundoff<T>);
}

}  // namespace heddle::perf

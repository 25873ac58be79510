// Products of dense matrices on the host, for the sizes of a basis.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace heddle::impl {

/// sum of a_i b_i over n elements, as eight sums that a compiler can keep in a vector.
[[nodiscard]] inline double inner_product(const double* a, const double* b, std::size_t n) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (std::size_t k = 0; k < lanes; ++k) sum += sums[k];
  return sum;
}

/// body(k) for each k < count, by the host's threads.
template <class Body> void for_each_on_host(const char* label, std::size_t count, const Body& body) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(Space(), 0, count), body);
  Space().fence(label);
}

/// A^T B for A n x m and B n x k, column-major: m x k.
[[nodiscard]] std::vector<double> inner_products(std::span<const double> A, std::span<const double> B, std::size_t n);

/// C C^T for the n x k matrix C, symmetric to the last bit.
[[nodiscard]] std::vector<double> density_matrix(std::span<const double> C, std::size_t n);

/// sum over i, j of A_ij B_ij.
[[nodiscard]] double trace_of(std::span<const double> A, std::span<const double> B);

}  // namespace heddle::impl

// Blocks and operators for the tests of actions.
#pragma once

#include "support/matrices.hpp"
#include <heddle/expm/action.hpp>

namespace heddle::test {

inline double uniform(std::size_t i, std::size_t j, int seed) {
  return test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed);
}

// Columns of different sizes.
template <Scalar T> LocalMatrix<T> block(Index n, Index columns) {
  const LocalMatrix<T> B("heddle::test::B", n, columns);
  const auto host = Kokkos::create_mirror_view(B);
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < columns; ++c) {
      host(i, c) = RandomEntries<T>{5}(i, c) * static_cast<Real<T>>(c == 1 ? 1e-6 : 1.0);
    }
  }
  Kokkos::deep_copy(B, host);
  return B;
}

// The second difference with Dirichlet boundaries, times a factor; its eigenvectors are sines.
template <Scalar T> struct SecondDifference {
  MatrixView<const T> x;
  MatrixView<T> y;
  Real<T> factor;
  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    const auto n = static_cast<Index>(x.extent(0));
    const Index i = at % n;
    const Index c = at / n;
    T sum = Real<T>(2) * x(i, c);
    if (i > 0) sum -= x(i - 1, c);
    if (i + 1 < n) sum -= x(i + 1, c);
    y(i, c) = factor * sum;
  }
};
template <Scalar T> ExpmActionOperator<T> second_difference(Index n, double factor) {
  ExpmActionOperator<T> A;
  A.n = n;
  A.apply = [factor](const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<T>& Y) {
    Kokkos::parallel_for(
        "heddle::test::second_difference",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(X.size())),
        SecondDifference<T>{X, Y, static_cast<Real<T>>(factor)});
  };
  return A;
}
}  // namespace heddle::test

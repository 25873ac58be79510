// Operands for measuring errors: normal entries, and the exact product of the first few rows.
#pragma once

#include "support/operands.hpp"
#include <heddle/exact/matrix.hpp>

#include <algorithm>
#include <limits>

namespace heddle::perf {

/// Standard normal numbers, a sum of uniform ones.
template <Scalar T> struct NormalElements {
  int seed;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    T sum{0};
    for (int k = 0; k < 12; ++k) sum += RandomElements<T>{seed + 100 * k}(i, j);
    return sum;
  }
};

template <Scalar T> LocalMatrix<T> normal_matrix(const ExecutionSpace& space, Index rows, Index columns, int seed) {
  const LocalMatrix<T> A(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::operand"), rows,
                         columns);
  const NormalElements<T> elements{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k) { A(k % rows, k / rows) = elements(k % rows, k / rows); });
  return A;
}

/// The first eight rows of A B, each element rounded once.
template <Scalar T> class FewRows {
 public:
  FewRows(const ExecutionSpace& space, const LocalMatrix<T>& A, const LocalMatrix<T>& B)
      : rows_(0, std::min<std::size_t>(A.extent(0), 8)), exact_("heddle::perf::exact", rows_.second, B.extent(1)) {
    exact::gemm(space, Operation::none, Operation::none, T(1),
                MatrixView<const T>(Kokkos::subview(A, rows_, Kokkos::ALL)), MatrixView<const T>(B), T(0),
                MatrixView<T>(exact_));
  }

  /// Returns the error of C after product(); C is set to NaN before.
  template <class Product>
  [[nodiscard]] double error_after(const ExecutionSpace& space, const LocalMatrix<T>& C, const Product& product) const {
    Kokkos::deep_copy(C, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    product();
    return error_of(space, C);
  }
  /// Returns the largest |C - A B| over the largest |A B|, in these rows; infinite if C is not finite.
  [[nodiscard]] double error_of(const ExecutionSpace& space, const LocalMatrix<T>& C) const {
    double error = 0.0;
    double size = 0.0;
    const auto exact = exact_;
    const auto rows = static_cast<Index>(exact.extent(0));
    Kokkos::parallel_reduce(
        "heddle::perf::error",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(exact.size())),
        KOKKOS_LAMBDA(Index k, double& worst, double& largest) {
          const T expected = exact(k % rows, k / rows);
          const auto here = static_cast<double>(Kokkos::abs(C(k % rows, k / rows) - expected));
          // This also catches NaNs.
          worst = here < Kokkos::Experimental::infinity_v<double> ? Kokkos::max(worst, here)
                                                                  : Kokkos::Experimental::infinity_v<double>;
          largest = Kokkos::max(largest, static_cast<double>(Kokkos::abs(expected)));
        },
        Kokkos::Max<double>(error), Kokkos::Max<double>(size));
    return error / size;
  }

 private:
  Kokkos::pair<std::size_t, std::size_t> rows_;
  LocalMatrix<T> exact_;
};

}  // namespace heddle::perf

// Right sides of systems and least squares, scaled column by column.
#pragma once

#include "interpose/blas/product.hpp"
#include "interpose/eigen/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heddle::impl::interpose {

/// That of a matrix's largest part, 0 where there is none.
template <Scalar T> int exponent_of(Index m, Index n, const T* A, Index leading) {
  Real<T> largest{0};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) largest = std::max(largest, largest_part(A[i + j * leading]));
  }
  return largest > Real<T>{0} && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

/// Right sides in `height` rows, zeros where B has fewer; each column scaled so that its largest part is near 1.
template <Scalar T> struct RightSides {
  Index height;
  Index columns;
  std::vector<T> all;
  std::vector<int> exponents;

  RightSides(Index rows, Index total, Index number, const T* B, Index leading)
      : height(total),
        columns(number),
        all(static_cast<std::size_t>(total * number), T{0}),
        exponents(static_cast<std::size_t>(number)) {
    for (Index j = 0; j < number; ++j) {
      exponents[static_cast<std::size_t>(j)] = exponent_of(rows, 1, B + j * leading, leading);
      for (Index i = 0; i < rows; ++i)
        all[static_cast<std::size_t>(i + j * total)] =
            scaled(B[i + j * leading], -exponents[static_cast<std::size_t>(j)]);
    }
  }
  T* data() { return all.data(); }
  /// Rows begin ... end - 1 home, times 2^more.
  void put(Index begin, Index end, int more, T* B, Index leading) const {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = begin; i < end; ++i) {
        B[i + j * leading] =
            scaled(all[static_cast<std::size_t>(i + j * height)], exponents[static_cast<std::size_t>(j)] + more);
      }
    }
  }
  /// The first n rows become op(M) times the first k.
  void multiply_by(Operation op, Index n, Index k, const std::vector<T>& M, Index leading) {
    std::vector<T> product(static_cast<std::size_t>(n * columns));
    multiply<T>({op, Operation::none, n, columns, k, T{1}, M.data(), leading, all.data(), height, T{0}, product.data(),
                 std::max<Index>(1, n), false});
    for (Index j = 0; j < columns; ++j) std::copy_n(product.data() + j * n, n, all.data() + j * height);
  }
};

}  // namespace heddle::impl::interpose

// Elements of op(A), and its rows as operands of inner products.
#pragma once

#include "exact/products/inner.hpp"
#include "exact/sums/exponent_sums.hpp"
#include "exact/sums/ranges.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/exact/matrix.hpp>

#include <algorithm>

namespace heddle::exact::impl {

/// op(A) with any strides.
template <Scalar T> struct Operand {
  const T* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index row_stride = 1;
  Index column_stride = 1;
  bool conjugated = false;

  Operand() = default;
  Operand(Operation op, const StridedMatrix<const T>& A)
      : data(A.data()),
        rows(static_cast<Index>(A.extent(0))),
        columns(static_cast<Index>(A.extent(1))),
        row_stride(static_cast<Index>(A.stride(0))),
        column_stride(static_cast<Index>(A.stride(1))),
        conjugated(is_complex<T> && op == Operation::conjugate_transpose) {
    if (op != Operation::none) {
      std::swap(rows, columns);
      std::swap(row_stride, column_stride);
    }
  }
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T value = data[i * row_stride + j * column_stride];
    return conjugated ? conjugate(value) : value;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Operand block(Index i, Index j, Index height, Index width) const {
    Operand part = *this;
    part.data += i * row_stride + j * column_stride;
    part.rows = height;
    part.columns = width;
    return part;
  }
};

/// Rows of op(A) times x, over columns [begin, end), with contiguous x: a row at a time, on the host.
template <Scalar T> class RowSums {
 public:
  RowSums(const Operand<T>& A, const T* x) : A_(A), x_(x) {}

  /// Sums products [begin, end) of row i.
  [[nodiscard]] InnerSum<T> compensated(Index i, Index begin, Index end) const {
    InnerSum<T> sum;
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      sum.part[p] = with_terms(i, begin, p, [&](const auto& terms) {
        return compensated_range(terms, 0, (end - begin) * terms_per_product<T>);
      });
    }
    return sum;
  }
  [[nodiscard]] ExactSum<T> exact(Index i, Index begin, Index end) const {
    ExactSum<T> sum;
    add_to(sum, i, begin, end);
    return sum;
  }
  void add_to(ExactSum<T>& sum, Index i, Index begin, Index end) const {
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      with_terms(i, begin, p,
                 [&](const auto& terms) { add_exactly(terms, 0, (end - begin) * terms_per_product<T>, sum.part[p]); });
    }
  }

 private:
  template <class F> auto with_terms(Index i, Index begin, int part, const F& f) const {
    return with_products(A_.data + i * A_.row_stride + begin * A_.column_stride, A_.column_stride, x_ + begin, Index{1},
                         part, A_.conjugated, f);
  }

  Operand<T> A_;
  const T* x_;
};

}  // namespace heddle::exact::impl

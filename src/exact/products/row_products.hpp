// On the host: one element of a product or of a triangular system, by any algorithm.
#pragma once

#include "exact/products/operand.hpp"
#include <heddle/exact/algorithm.hpp>

namespace heddle::exact::impl {

/// The inner product of n elements of a, or of their conjugates, with those of x, both contiguous, plus two more terms.
template <Scalar T> struct Row {
  const T* a;
  const T* x;
  Index n;
  bool conjugated;
  T term = T(0);
  T other = T(0);
};
/// alpha s + beta y of an Update, where s is that sum; rounded once by an exact algorithm.
template <Scalar T> using RowProduct = T (*)(const Row<T>& row, const Update<T>& update, const T& y);

/// Returns the function of an algorithm other than Algorithm::automatic. The caller's arithmetic must be the default
/// one.
template <Scalar T> RowProduct<T> row_product(Algorithm algorithm);

/// op(A) with contiguous rows: A itself, or a copy.
template <Scalar T> struct DenseRows {
  Kokkos::View<T*, MemorySpace> copy;  ///< Empty if A is used directly.
  Operand<T> A;
};
template <Scalar T> DenseRows<T> dense_rows(const ExecutionSpace& space, const Operand<T>& A);

}  // namespace heddle::exact::impl

// On the host: one element of a product or of a triangular system, by any algorithm.
#pragma once

#include "exact/operand.hpp"
#include <heddle/exact/algorithm.hpp>

namespace heddle::exact::impl {

/// The inner product of n elements of a, or of their conjugates, with those of x, which lie side by side; and two
/// more terms.
template <Scalar T> struct Row {
  const T* a;
  const T* x;
  Index n;
  bool conjugated;
  T term = T(0);
  T other = T(0);
};
/// alpha s + beta y of an Update, where s is that sum. For an exact algorithm rounded once.
template <Scalar T> using RowProduct = T (*)(const Row<T>& row, const Update<T>& update, const T& y);

/// By an algorithm other than Algorithm::automatic. The caller's arithmetic must be the default one.
template <Scalar T> RowProduct<T> row_product(Algorithm algorithm);

/// op(A) with the elements of each row side by side: as it is, or a copy.
template <Scalar T> struct DenseRows {
  Kokkos::View<T*, MemorySpace> copy;  ///< Empty where A is taken as it is.
  Operand<T> A;
};
template <Scalar T> DenseRows<T> dense_rows(const ExecutionSpace& space, const Operand<T>& A);

}  // namespace heddle::exact::impl

// What the iterations need of whole matrices beside rotations.
#pragma once

#include "eigen/dense/two_sided.hpp"
#include <heddle/blas/blas.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace heddle::eigen::impl {

template <Scalar T> Dense<T> dense(const ExecutionSpace& space, const std::string& label, Index rows, Index columns) {
  return Dense<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), static_cast<std::size_t>(rows),
                  static_cast<std::size_t>(columns));
}

/// The whole of a Hermitian matrix of which one triangle is given, times 2^-exponent, which makes its largest part less
/// than 1. Throws Error(argument) for NaN and infinity in what is read.
template <Scalar T> struct Scaled {
  Dense<T> matrix;
  int exponent = 0;
  bool diagonal = true;  ///< Nothing but zeros off the diagonal.
  int spread = 0;  ///< Powers of two from its least diagonal element to its largest part; 0 unless that is positive.
};
template <Scalar T> Scaled<T> scaled(const ExecutionSpace& space, const StridedMatrix<const T>& A, bool upper);

/// The real parts of the diagonal, on the host.
template <Scalar T> std::vector<Real<T>> diagonal_of(const ExecutionSpace& space, const StridedMatrix<const T>& A);

/// B(i, j) = A(order[i], order[j]).
template <Scalar T>
void permuted(const ExecutionSpace& space, const Dense<T>& A, const std::vector<Index>& order, const Dense<T>& B);

/// The lower triangle of A gives way to L of A = L L^H, the upper one to zeros; false where A is not positive definite.
/// Bits: reproducible for any number of threads. Cost: n^3 / 3 flops.
template <Scalar T> bool cholesky(const ExecutionSpace& space, const Dense<T>& A);

/// An estimate of |A|_2 from below, most often within a tenth: some steps of the power method.
template <Scalar T> Real<T> norm_estimate(const ExecutionSpace& space, const Dense<T>& A);

/// Q becomes the nearest matrix with orthonormal columns, by Newton and Schulz: Q (3 I - Q^H Q) / 2, as often as it
/// takes; false where Q is too far from one.
template <Scalar T> bool orthonormalise(const blas::Context& context, const Dense<T>& Q);

/// The largest |x_i^H x_j| / (|x_i| |x_j|) of two columns, by a product: faster than a sweep that finds nothing, on
/// GPUs.
template <Scalar T> Real<T> largest_cosine(const blas::Context& context, const MatrixView<T>& X);

/// M = Q^H A Q, each element as if computed in twice the precision and rounded once.
template <Scalar T>
void transformed(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& Q, const Dense<T>& M);

/// 2-norms of the columns, on the host.
template <Scalar T> std::vector<double> column_norms(const ExecutionSpace& space, const MatrixView<T>& A);

/// V(row[i], j) = A(i, order[j]) * factor[j]; rows in place where `row` is empty.
template <Scalar T>
void gathered(const ExecutionSpace& space, const MatrixView<T>& A, const std::vector<Index>& row,
              const std::vector<Index>& order, const std::vector<double>& factor, const StridedMatrix<T>& V);

/// The indices of values in order, equal ones as they stand.
template <class Value> std::vector<Index> ascending(const std::vector<Value>& values) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) {
    return values[static_cast<std::size_t>(i)] < values[static_cast<std::size_t>(j)];
  });
  return order;
}

/// Host numbers where kernels can read them.
template <class Value>
Kokkos::View<Value*, MemorySpace> on_device(const ExecutionSpace& space, const std::string& label,
                                            const std::vector<Value>& values) {
  Kokkos::View<Value*, MemorySpace> view(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), values.size());
  Kokkos::deep_copy(space, view, Kokkos::View<const Value*, Kokkos::HostSpace>(values.data(), values.size()));
  space.fence(label);
  return view;
}

}  // namespace heddle::eigen::impl

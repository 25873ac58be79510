// The end of every eigensolver of whole matrices: lengths of columns, eigenvalues in order, and vectors of length 1.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/core/strided.hpp>

namespace heddle::eigen::impl {

/// 2-norms of the columns, on the host.
template <Scalar T> std::vector<double> column_norms(const Scratch& scratch, const MatrixView<T>& A);

/// Eigenvalues of a scaled matrix in any order, and where the vectors of these are.
template <Scalar T> struct Solved {
  std::vector<double> values;
  MatrixView<T> vectors;        ///< Columns of any length.
  std::vector<double> factors;  ///< Factors that make the length of each column 1.
  std::vector<Index> rows;      ///< Destination of each row of the vectors; all are in place if empty.
};

/// w[j] = values[order[j]] 2^exponent. Blocks.
template <RealScalar R>
void store_values(const Scratch& scratch, const std::vector<double>& values, const std::vector<Index>& order,
                  int exponent, const StridedVector<R>& w);

/// w: the eigenvalues times 2^exponent, ascending. V, unless it is null: their vectors. Blocks.
template <Scalar T>
void store_sorted(const Scratch& scratch, const Solved<T>& solved, int exponent, const StridedVector<Real<T>>& w,
                  const StridedMatrix<T>* V);

/// V(row[i], j) = A(i, order[j]) * factor[j]; rows in place where `row` is empty.
template <Scalar T>
void gather_vectors(const Scratch& scratch, const MatrixView<T>& A, const std::vector<Index>& row,
                    const std::vector<Index>& order, const std::vector<double>& factor, const StridedMatrix<T>& V);

}  // namespace heddle::eigen::impl

// A matrix in long double.
#pragma once

#include "hunt/operation.hpp"

#include <cmath>
#include <complex>
#include <vector>

namespace heddle::hunt {

/// Numbers whose range and precision are beyond those of all scalars: sums of a few hundred terms are off by less than
/// 2^-54 of their sizes.
using Long = std::complex<long double>;
template <Scalar T> Long lengthened(const T& x) {
  const Value value = test::widen(x);
  return {value.real(), value.imag()};
}

/// A matrix of such.
struct LongMatrix {
  Index rows = 0;
  Index columns = 0;
  std::vector<Long> values;

  LongMatrix(Index m, Index n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  explicit LongMatrix(const Array& A) : LongMatrix(A.rows, A.columns) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = Long(A.values[k]);
  }
  template <Scalar T>
  explicit LongMatrix(const HostMatrix<T>& A)
      : LongMatrix(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1))) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        at(i, j) = lengthened(A(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
      }
    }
  }
  [[nodiscard]] Long& at(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  [[nodiscard]] const Long& at(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
  /// |row i|_2 of every row.
  [[nodiscard]] std::vector<long double> row_norms() const {
    std::vector<long double> norms(static_cast<std::size_t>(rows), 0);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) norms[static_cast<std::size_t>(i)] += std::norm(at(i, j));
    }
    for (long double& norm : norms) norm = std::sqrt(norm);
    return norms;
  }
  /// |column j|_2 of every column.
  [[nodiscard]] std::vector<long double> column_norms() const {
    std::vector<long double> norms(static_cast<std::size_t>(columns), 0);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) norms[static_cast<std::size_t>(j)] += std::norm(at(i, j));
      norms[static_cast<std::size_t>(j)] = std::sqrt(norms[static_cast<std::size_t>(j)]);
    }
    return norms;
  }
};

}  // namespace heddle::hunt

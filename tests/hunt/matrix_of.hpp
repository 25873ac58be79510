// Matrices of numbers beyond the range and the precision of all scalars.
#pragma once

#include "hunt/case.hpp"

#include <vector>

namespace heddle::hunt {

/// rows x columns, by columns.
template <class Element> struct MatrixOf {
  Index rows = 0;
  Index columns = 0;
  std::vector<Element> values;

  MatrixOf(Index m, Index n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  explicit MatrixOf(const Array& A) : MatrixOf(A.rows, A.columns) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = Element(A.values[k]);
  }
  template <Scalar T>
  explicit MatrixOf(const HostMatrix<T>& A)
      : MatrixOf(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1))) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) at(i, j) = Element(test::widen(A(i, j)));
    }
  }
  [[nodiscard]] Element& at(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  [[nodiscard]] const Element& at(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

}  // namespace heddle::hunt

// A matrix of one rank as a DistributedMatrix, for operations that take no Views.
#pragma once

#include "arrays.hpp"
#include <heddle/dist/matrix.hpp>

namespace heddle::python {

/// `A` as the whole of a matrix on the one rank of one_rank(); the elements of a const view are only read.
template <class T> [[nodiscard]] DistributedMatrix<std::remove_const_t<T>> whole(const MatrixView<T>& A) {
  using Value = std::remove_const_t<T>;
  const auto rows = static_cast<Index>(A.extent(0));
  const auto columns = static_cast<Index>(A.extent(1));
  const MatrixView<Value> local(const_cast<Value*>(A.data()), A.layout());
  return {one_rank(), Placement::row_bands(rows, columns, 1), local};
}

}  // namespace heddle::python

// Files that `heddle eig` writes.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/dist/matrix.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// Write a column of numbers, the same on every rank: plain text has one a line, other formats a matrix of one column.
/// Do nothing if `path` is empty. Collective.
void write_values(const Communicator& comm, const std::string& path, const std::vector<double>& values);

/// Write the rows x columns matrix on rank 0; do nothing if `path` is empty. Collective.
template <Scalar T>
void write_dense(const Communicator& comm, const std::string& path, Index rows, Index columns, const HostMatrix<T>& A);

}  // namespace heddle::driver

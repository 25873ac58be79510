// Files that `heddle eig` writes.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/dist/matrix.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// A column of numbers, the same on every rank: one a line in plain text, a matrix of one column otherwise. Nothing
/// where `path` is empty. Collective.
void write_values(const Communicator& comm, const std::string& path, const std::vector<double>& values);

/// A rows x columns matrix that is on rank 0; nothing where `path` is empty. Collective.
template <Scalar T>
void write_dense(const Communicator& comm, const std::string& path, Index rows, Index columns, const HostMatrix<T>& A);

}  // namespace heddle::driver

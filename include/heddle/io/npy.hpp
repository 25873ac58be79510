// Matrices and vectors in NumPy's files (.npy), as numpy.save() writes them and numpy.load() reads them:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
#pragma once

#include <heddle/io/matrix_file.hpp>

namespace heddle {

/// Reads an array of one or two dimensions, or a single number, in format version 1, 2 or 3. A vector of n elements
/// becomes a matrix of one column, a single number one of 1 x 1.
///
/// Elements are floating-point numbers of 2, 4 or 8 bytes, complex ones of 8 or 16, truth values or integers, in either
/// byte order, by rows or by columns (C's order or Fortran's). An integer that no T equals is refused. Other elements
/// are converted to T, so that doubles beyond the range of float become infinite in a float matrix.
///
/// Collective; throws as read_matrix() does. Refused are a header that is malformed, elements of other kinds, more than
/// two dimensions, and a file that is shorter or longer than its header says, before room is made for the elements.
/// Rank 0 reads, and holds two panels of columns besides its own part.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_npy(const Communicator& comm, const std::filesystem::path& path,
                                            const PlacementChoice& place = {});

/// The shape of the array as a matrix, and whether it is complex. Collective; throws as read_matrix() does.
[[nodiscard]] MatrixFileInfo npy_info(const Communicator& comm, const std::filesystem::path& path);

/// Writes A in format version 1.0, in T's own precision, this machine's byte order and Fortran's order. A matrix of one
/// column has two dimensions in the file, or one where options.vector says so. Collective; throws as write_matrix()
/// does.
template <Scalar T>
void write_npy(const std::filesystem::path& path, const DistributedMatrix<T>& A, const MatrixFileOptions& options = {});

}  // namespace heddle

// Matrices in HDF5 files (.h5).
#pragma once

#include <heddle/io/matrix_file.hpp>

#include <string>

namespace heddle {

/// Reads the two-dimensional dataset `dataset` of an HDF5 file: element [i][j] is A(i, j).
///
/// Real: any integer or floating-point type. Complex: a compound of two floating-point members r and i, as h5py writes
/// NumPy's complex arrays. HDF5 converts to T, so doubles beyond the range of float become infinite in a float matrix.
///
/// Collective; errors as read_matrix, each naming the file and, once it is open, the dataset. Rank 0 reads; it holds
/// two panels of columns besides its own part. Nothing is printed by the HDF5 library. Shapes of which no machine can
/// hold the elements are refused. What a file says of its own structure is the library's to check, and its version 1.10
/// may crash of a file that was damaged or made with intent: take .h5 files from where you would take programs.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_hdf5(const Communicator& comm, const std::filesystem::path& path,
                                             const PlacementChoice& place = {}, const std::string& dataset = "matrix");

/// Shape and field of the dataset. Collective.
[[nodiscard]] MatrixFileInfo hdf5_info(const Communicator& comm, const std::filesystem::path& path,
                                       const std::string& dataset = "matrix");

/// Writes a new file with A as its one dataset, in T's own precision; `dataset` may name groups, which are made.
/// Collective; errors as write_matrix.
template <Scalar T>
void write_hdf5(const std::filesystem::path& path, const DistributedMatrix<T>& A,
                const std::string& dataset = "matrix");

}  // namespace heddle

// Matrices in HDF5 files (.h5).
#pragma once

#include <heddle/io/matrix_file.hpp>

#include <string>

namespace heddle {

/// Reads the two-dimensional dataset `dataset` of an HDF5 file; element [i][j] is A(i, j). One of one dimension is a
/// matrix of one column.
///
/// A real dataset may have any floating-point type, any integer type of up to 64 bits, or truth values as h5py writes
/// them (an enumeration of FALSE and TRUE). An integer that no T equals is refused. A complex one is a compound of two
/// floating-point members: r and i, as h5py writes NumPy's complex arrays, real and imag, as MATLAB does (which writes
/// rows as columns, so that A(i, j) there is element [j][i]), or re and im. HDF5 converts floating-point elements to T,
/// so that doubles beyond the range of float become infinite in a float matrix.
///
/// Collective; throws as read_matrix() does, and each error names the file and, once it is open, the dataset; where
/// that is not there, also those that could be meant. Shapes of which no machine can hold the elements are refused.
/// Rank 0 reads, and holds two panels of columns besides its own part. The HDF5 library prints nothing. It alone checks
/// what a file says of its own structure, and its version 1.10 may crash on a file that was damaged or made with
/// intent: take .h5 files from where you would take programs.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_hdf5(const Communicator& comm, const std::filesystem::path& path,
                                             const PlacementChoice& place = {}, const std::string& dataset = "matrix");

/// The shape of the dataset, and whether it is complex. Collective; throws as read_hdf5() does.
[[nodiscard]] MatrixFileInfo hdf5_info(const Communicator& comm, const std::filesystem::path& path,
                                       const std::string& dataset = "matrix");

/// Writes A as a dataset in T's own precision: in a new file or, with options.keep_others, beside what an HDF5 file at
/// `path` holds, in place of a dataset of that name. The file is then copied first, so that it too is replaced as a
/// whole. options.dataset may name groups, which are made. Collective; throws as write_matrix() does.
template <Scalar T>
void write_hdf5(const std::filesystem::path& path, const DistributedMatrix<T>& A,
                const MatrixFileOptions& options = {});

}  // namespace heddle

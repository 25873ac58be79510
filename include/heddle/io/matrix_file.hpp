// Matrices in files. The file's ending chooses the format: .mtx is Matrix Market, .h5 is HDF5, .npy is NumPy's, .txt is
// plain text. A path FILE.h5:NAME stands for the dataset NAME in FILE.h5.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/placement.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// Properties of a matrix file that are known before its elements are read.
struct MatrixFileInfo {
  Index rows = 0;        ///< Number of rows.
  Index columns = 0;     ///< Number of columns.
  bool complex = false;  ///< Whether elements are complex.
};

/// The placement of a matrix that is read: a function that is called on every rank with the shape found. An empty one
/// stands for row bands over all ranks.
using PlacementChoice = std::function<Placement(Index rows, Index columns)>;

/// Options of a matrix file's format.
struct MatrixFileOptions {
  /// Name (path) of the dataset in an HDF5 file, unless the path of the file gives it. Other formats ignore it.
  std::string dataset = "matrix";
  /// When writing: whether an existing HDF5 file keeps its other contents. It does if the path names the dataset.
  bool keep_others = false;
  /// When writing a matrix of one column: an array of one dimension, where the format (.npy) has such.
  bool vector = false;
  /// When writing: text attributes (name and value) of an HDF5 file, and of the dataset.
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

/// The shape of the matrix in `path`, and whether it is complex. Collective: rank 0 reads. Throws as read_matrix()
/// does.
[[nodiscard]] MatrixFileInfo matrix_file_info(const Communicator& comm, const std::filesystem::path& path,
                                              const MatrixFileOptions& options = {});

/// Reads the matrix in `path`; read_matrix_market(), read_hdf5(), read_npy() and read_text_matrix() say what each
/// format takes.
///
/// Collective and blocking. Rank 0 alone opens the file, and elements travel in panels of columns of about 64 MiB, so
/// that rank 0 holds little more than its own part and one panel (for plain text, the whole matrix). A real file may be
/// read into a complex T; a complex file is refused for a real T. Integers are never rounded: one that no T equals is
/// refused in every format that has integers (read_matrix_terms() takes it). Throws, on every rank alike, Error(input),
/// which names the file, the place and what was expected there, and Error(argument) for another ending and for a
/// placement of another shape; what `place` throws on a rank is every rank's Error.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_matrix(const Communicator& comm, const std::filesystem::path& path,
                                               const PlacementChoice& place = {},
                                               const MatrixFileOptions& options = {});

/// Reads the matrix in `path` as read_matrix() does, but integers with all their digits: the sum of the matrices that
/// it gives, placed alike, is exactly the one in the file. An integer is the sum of one element of each, the T nearest
/// to it toward zero, the T nearest to the rest toward zero, and so on; of elements with fewer terms the others are 0.
/// There is one matrix where T equals every integer, and of files of other numbers. These are integers: elements of an
/// .mtx file of the field integer, of any number of digits that a double has, and those of integer types in .npy and
/// .h5 files. Cost: that of read_matrix() for each of the matrices. Memory: that of all of them.
template <Scalar T>
[[nodiscard]] std::vector<DistributedMatrix<T>> read_matrix_terms(const Communicator& comm,
                                                                  const std::filesystem::path& path,
                                                                  const PlacementChoice& place = {},
                                                                  const MatrixFileOptions& options = {});

/// Writes A to `path`, in panels of columns. The file is written under another name beside its place and renamed when
/// it is complete. Collective and blocking. Throws, on every rank alike, Error(output), which names the file and the
/// reason, Error(storage) where room for it is lacking, and Error(argument) for another ending. Bits: reading the file
/// back gives A itself.
template <Scalar T>
void write_matrix(const std::filesystem::path& path, const DistributedMatrix<T>& A,
                  const MatrixFileOptions& options = {});

/// Throws Error(argument) unless `path` ends in .mtx, .h5, .npy or .txt, or names a dataset in a .h5 file; for programs
/// that compute long before they write. Gives the file itself: of FILE.h5:NAME it is FILE.h5.
[[nodiscard]] std::filesystem::path require_matrix_ending(const std::filesystem::path& path);

}  // namespace heddle

// Matrices in files, the format chosen by the file's ending: .mtx is Matrix Market, .h5 is HDF5, .txt is plain text.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/placement.hpp>

#include <filesystem>
#include <functional>
#include <string>

namespace heddle {

/// What a matrix file says about itself before its elements are read.
struct MatrixFileInfo {
  Index rows = 0;
  Index columns = 0;
  bool complex = false;
};

/// Where a matrix goes that is read; called on every rank with the shape found. Empty: row bands over all ranks.
using PlacementChoice = std::function<Placement(Index rows, Index columns)>;

struct MatrixFileOptions {
  /// Name (path) of the dataset in an HDF5 file; the others have no use for it.
  std::string dataset = "matrix";
};

/// Shape and field of the matrix in `path`. Collective: rank 0 reads. Throws as read_matrix does.
[[nodiscard]] MatrixFileInfo matrix_file_info(const Communicator& comm, const std::filesystem::path& path,
                                              const MatrixFileOptions& options = {});

/// Reads the matrix in `path`; see read_matrix_market, read_hdf5 and read_text_matrix for what each format takes.
///
/// Collective and blocking: rank 0 alone opens the file, and elements travel in panels of columns of about 64 MiB, so
/// that rank 0 holds little more than its own part and one panel (of plain text, the whole). A real file is read into a
/// complex T; a complex file is refused for a real T. Throws, on every rank alike, Error(input) naming the file, the
/// place and what was expected there, and Error(argument) for another ending.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_matrix(const Communicator& comm, const std::filesystem::path& path,
                                               const PlacementChoice& place = {},
                                               const MatrixFileOptions& options = {});

/// Writes A to `path`, in panels as read_matrix reads; written beside, then renamed. Collective and blocking. Bits:
/// reading the file back gives A itself. Throws, on every rank alike, Error(output) naming the file and the reason, and
/// Error(argument) for another ending.
template <Scalar T>
void write_matrix(const std::filesystem::path& path, const DistributedMatrix<T>& A,
                  const MatrixFileOptions& options = {});

/// Throws Error(argument) unless `path` ends in .mtx, .h5 or .txt: for programs that compute long before they write.
void require_matrix_ending(const std::filesystem::path& path);

}  // namespace heddle

#include "core/instantiate.hpp"
#include <heddle/io/hdf5.hpp>
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/matrix_market.hpp>
#include <heddle/io/text_matrix.hpp>

namespace heddle {

namespace {

enum class FileFormat { matrix_market, hdf5, text };

FileFormat format_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".mtx") return FileFormat::matrix_market;
  if (ending == ".h5") return FileFormat::hdf5;
  if (ending == ".txt") return FileFormat::text;
  throw Error(
      ErrorKind::argument,
      message_of(path.string(), ": a matrix file must end in .mtx (Matrix Market), .h5 (HDF5) or .txt (plain text)"));
}

}  // namespace

void require_matrix_ending(const std::filesystem::path& path) {
  static_cast<void>(format_of(path));
}

MatrixFileInfo matrix_file_info(const Communicator& comm, const std::filesystem::path& path,
                                const MatrixFileOptions& options) {
  switch (format_of(path)) {
    case FileFormat::hdf5:
      return hdf5_info(comm, path, options.dataset);
    case FileFormat::text:
      return text_matrix_info(comm, path);
    default:
      return matrix_market_info(comm, path);
  }
}

template <Scalar T>
DistributedMatrix<T> read_matrix(const Communicator& comm, const std::filesystem::path& path,
                                 const PlacementChoice& place, const MatrixFileOptions& options) {
  switch (format_of(path)) {
    case FileFormat::hdf5:
      return read_hdf5<T>(comm, path, place, options.dataset);
    case FileFormat::text:
      return read_text_matrix<T>(comm, path, place);
    default:
      return read_matrix_market<T>(comm, path, place);
  }
}

template <Scalar T>
void write_matrix(const std::filesystem::path& path, const DistributedMatrix<T>& A, const MatrixFileOptions& options) {
  switch (format_of(path)) {
    case FileFormat::hdf5:
      return write_hdf5(path, A, options.dataset);
    case FileFormat::text:
      return write_text_matrix(path, A);
    default:
      return write_matrix_market(path, A);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template DistributedMatrix<T> read_matrix(const Communicator&, const std::filesystem::path&, const PlacementChoice&, \
                                            const MatrixFileOptions&);                                                 \
  template void write_matrix(const std::filesystem::path&, const DistributedMatrix<T>&, const MatrixFileOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle

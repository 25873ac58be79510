// Matrix files of any format, chosen by the file's name.
#include "core/instantiate.hpp"
#include "io/matrix/whole_numbers.hpp"
#include <heddle/io/hdf5.hpp>
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/matrix_market.hpp>
#include <heddle/io/npy.hpp>
#include <heddle/io/text_matrix.hpp>

#include <string_view>
#include <utility>

namespace heddle {

namespace {

enum class FileFormat { matrix_market, hdf5, npy, text };

FileFormat format_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".mtx") return FileFormat::matrix_market;
  if (ending == ".h5") return FileFormat::hdf5;
  if (ending == ".npy") return FileFormat::npy;
  if (ending == ".txt") return FileFormat::text;
  throw Error(ErrorKind::argument,
              message_of(path.string(), ": a matrix file must end in .mtx (Matrix Market), .h5 (HDF5; FILE.h5:NAME is ",
                         "a dataset in it), .npy (NumPy) or .txt (plain text)"));
}

// A path as it was given: the file, its format, and what its format needs to know.
struct Target {
  std::filesystem::path file;
  FileFormat format;
  MatrixFileOptions options;
};

Target target_of(const std::filesystem::path& path, MatrixFileOptions options = {}) {
  const std::string text = path.string();
  constexpr std::string_view mark = ".h5:";
  const std::size_t found = text.find(mark);
  if (found == std::string::npos) return {path, format_of(path), std::move(options)};
  options.dataset = text.substr(found + mark.size());
  options.keep_others = true;
  require(options.dataset.find_first_not_of('/') != std::string::npos, text, ": expected the name of a dataset after ",
          mark);
  return {text.substr(0, found + mark.size() - 1), FileFormat::hdf5, std::move(options)};
}

template <Scalar T>
DistributedMatrix<T> read_target(const Communicator& comm, const Target& target, const PlacementChoice& place,
                                 impl::WholeNumbers& whole) {
  switch (target.format) {
    case FileFormat::hdf5:
      return impl::read_hdf5<T>(comm, target.file, place, target.options.dataset, whole);
    case FileFormat::npy:
      return impl::read_npy<T>(comm, target.file, place, whole);
    case FileFormat::text:
      return read_text_matrix<T>(comm, target.file, place);
    default:
      return impl::read_market<T>(comm, target.file, place, whole);
  }
}

}  // namespace

std::filesystem::path require_matrix_ending(const std::filesystem::path& path) {
  return target_of(path).file;
}

MatrixFileInfo matrix_file_info(const Communicator& comm, const std::filesystem::path& path,
                                const MatrixFileOptions& options) {
  const Target target = target_of(path, options);
  switch (target.format) {
    case FileFormat::hdf5:
      return hdf5_info(comm, target.file, target.options.dataset);
    case FileFormat::npy:
      return npy_info(comm, target.file);
    case FileFormat::text:
      return text_matrix_info(comm, target.file);
    default:
      return matrix_market_info(comm, target.file);
  }
}

template <Scalar T>
DistributedMatrix<T> read_matrix(const Communicator& comm, const std::filesystem::path& path,
                                 const PlacementChoice& place, const MatrixFileOptions& options) {
  impl::WholeNumbers whole;
  return read_target<T>(comm, target_of(path, options), place, whole);
}

template <Scalar T>
std::vector<DistributedMatrix<T>> read_matrix_terms(const Communicator& comm, const std::filesystem::path& path,
                                                    const PlacementChoice& place, const MatrixFileOptions& options) {
  const Target target = target_of(path, options);
  return impl::read_terms(comm, [&](impl::WholeNumbers& whole) { return read_target<T>(comm, target, place, whole); });
}

template <Scalar T>
void write_matrix(const std::filesystem::path& path, const DistributedMatrix<T>& A, const MatrixFileOptions& options) {
  const Target target = target_of(path, options);
  switch (target.format) {
    case FileFormat::hdf5:
      return write_hdf5(target.file, A, target.options);
    case FileFormat::npy:
      return write_npy(target.file, A, target.options);
    case FileFormat::text:
      return write_text_matrix(target.file, A);
    default:
      return write_matrix_market(target.file, A);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template DistributedMatrix<T> read_matrix(const Communicator&, const std::filesystem::path&, const PlacementChoice&, \
                                            const MatrixFileOptions&);                                                 \
  template std::vector<DistributedMatrix<T>> read_matrix_terms(const Communicator&, const std::filesystem::path&,      \
                                                               const PlacementChoice&, const MatrixFileOptions&);      \
  template void write_matrix(const std::filesystem::path&, const DistributedMatrix<T>&, const MatrixFileOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle

#include "drivers/support/matrices.hpp"

#include "drivers/support/provenance.hpp"
#include "drivers/support/scalars.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/matrix_file.hpp>

namespace heddle::driver {

template <Scalar T>
DistributedMatrix<T> read_placed(const Communicator& comm, const std::string& path, const std::string& place) {
  return read_matrix<T>(comm, path,
                        [&](Index rows, Index columns) { return placement_from(place, rows, columns, comm.size()); });
}

template <Scalar T> void write_result(const std::string& path, const DistributedMatrix<T>& A, bool vector) {
  write_matrix(path, A, {.vector = vector, .attributes = provenance_attributes()});
}

#define HEDDLE_INSTANTIATE(T)                                                                             \
  template DistributedMatrix<T> read_placed(const Communicator&, const std::string&, const std::string&); \
  template void write_result(const std::string&, const DistributedMatrix<T>&, bool)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

void require_one_input(const std::string& input, Index size) {
  require(input.empty() != (size < 0), "give the matrix with --input, or make one with --size, not both");
}

std::string scalar_of_input(const Context& context, const std::string& input) {
  return !input.empty() && matrix_file_info(context.comm(), input).complex ? "complex-double" : "double";
}

void require_inputs_kept(const Context& context, const std::vector<Output>& inputs, const Output& output) {
  if (output.path.empty()) return;
  // What stands after FILE.h5: and its slashes; empty: no dataset is named.
  const auto dataset_of = [](const std::string& path, const std::filesystem::path& file) {
    const std::size_t begin = path.find_first_not_of('/', file.string().size() + 1);
    return path.size() <= file.string().size() || begin == std::string::npos ? std::string() : path.substr(begin);
  };
  const std::filesystem::path target = require_matrix_ending(output.path);
  const std::string kept_apart = dataset_of(output.path.string(), target);
  std::vector<Output> files;
  for (const Output& input : inputs) {
    if (input.path.empty()) continue;
    const std::filesystem::path file = require_matrix_ending(input.path);
    const std::string dataset = dataset_of(input.path.string(), file);
    if (kept_apart.empty() || kept_apart == (dataset.empty() ? "matrix" : dataset)) files.push_back({input.name, file});
  }
  context.comm().on_rank(0, [&] { require_inputs_kept(files, {{output.name, target}}); });
}

void require_writable_matrix(const Context& context, const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path file = require_matrix_ending(path);
  context.comm().on_rank(0, [&] { const PendingFile probe(file); });
}

}  // namespace heddle::driver

// Generated matrices, and the reading and writing of matrix files by commands.
#include "drivers/support/matrices/matrices.hpp"

#include "drivers/support/options/scalars.hpp"
#include "drivers/support/provenance.hpp"
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

namespace {

// A path as options give it: the file, and the dataset behind FILE.h5: and its slashes; empty: no dataset is named.
struct Target {
  explicit Target(const std::filesystem::path& path) : file(require_matrix_ending(path)) {
    const std::string text = path.string();
    const std::size_t begin = text.find_first_not_of('/', file.string().size() + 1);
    if (text.size() > file.string().size() && begin != std::string::npos) dataset = text.substr(begin);
  }
  std::filesystem::path file;
  std::string dataset;
};

}  // namespace

void require_inputs_kept(const Context& context, const std::vector<Output>& inputs, const Output& output) {
  if (output.path.empty()) return;
  const Target target(output.path);
  std::vector<Output> files;
  for (const Output& input : inputs) {
    if (input.path.empty()) continue;
    const Target read(input.path);
    if (target.dataset.empty() || target.dataset == (read.dataset.empty() ? "matrix" : read.dataset)) {
      files.push_back({input.name, read.file});
    }
  }
  context.comm().on_rank(0, [&] { require_inputs_kept(files, {{output.name, target.file}}); });
}

void require_writable_matrix(const Context& context, const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path file = require_matrix_ending(path);
  context.comm().on_rank(0, [&] { const PendingFile probe(file); });
}

void require_outputs(const Context& context, const std::vector<Output>& inputs, const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    require_writable_matrix(context, output.path.string());
    require_inputs_kept(context, inputs, output);
  }
  context.comm().on_rank(0, [&] {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].path.empty()) continue;
      const Target own(outputs[k].path);
      require_distinct_outputs({{"--json", context.options().json_file()}, {outputs[k].name, own.file}});
      for (std::size_t j = 0; j < k; ++j) {
        if (outputs[j].path.empty()) continue;
        const Target other(outputs[j].path);
        const bool apart = !own.dataset.empty() && !other.dataset.empty() && own.dataset != other.dataset;
        if (!apart) require_distinct_outputs({{outputs[j].name, other.file}, {outputs[k].name, own.file}});
      }
    }
  });
}

void require_outputs(const Context& context, const std::vector<Output>& inputs, const std::vector<Output>& outputs,
                     const Output& other) {
  require_outputs(context, inputs, outputs);
  if (other.path.empty()) return;
  const auto file_of = [](const Output& matrix) {
    return Output{matrix.name, matrix.path.empty() ? matrix.path : Target(matrix.path).file};
  };
  context.comm().on_rank(0, [&] {
    for (const Output& input : inputs) require_inputs_kept({file_of(input)}, {other});
    for (const Output& output : outputs) require_distinct_outputs({file_of(output), other});
    require_distinct_outputs({{"--json", context.options().json_file()}, other});
    const PendingFile probe(other.path);
  });
}

}  // namespace heddle::driver

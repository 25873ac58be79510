#include "drivers/support/matrices.hpp"

#include <heddle/core/pending_file.hpp>
#include <heddle/io/matrix_file.hpp>

namespace heddle::driver {

template <Scalar T>
DistributedMatrix<T> read_placed(const Communicator& comm, const std::string& path, const std::string& place) {
  return read_matrix<T>(comm, path,
                        [&](Index rows, Index columns) { return placement_from(place, rows, columns, comm.size()); });
}

template DistributedMatrix<float> read_placed(const Communicator&, const std::string&, const std::string&);
template DistributedMatrix<double> read_placed(const Communicator&, const std::string&, const std::string&);
template DistributedMatrix<Kokkos::complex<float>> read_placed(const Communicator&, const std::string&,
                                                               const std::string&);
template DistributedMatrix<Kokkos::complex<double>> read_placed(const Communicator&, const std::string&,
                                                                const std::string&);

void require_one_input(const std::string& input, Index size) {
  require(input.empty() != (size < 0), "give the matrix with --input, or make one with --size, not both");
}

std::string scalar_of_input(const Context& context, const std::string& input) {
  return !input.empty() && matrix_file_info(context.comm(), input).complex ? "complex-double" : "double";
}

void require_writable_matrix(const Context& context, const std::string& path) {
  if (path.empty()) return;
  require_matrix_ending(path);
  context.comm().on_rank(0, [&] { const PendingFile probe(path); });
}

}  // namespace heddle::driver

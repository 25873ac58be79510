// Files that `heddle eig` writes.
#include "drivers/eig/outputs.hpp"

#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>

namespace heddle::driver {

void write_values(const Communicator& comm, const std::string& path, const std::vector<double>& values) {
  if (path.empty()) return;
  if (require_matrix_ending(path).extension() == ".txt") {
    comm.on_rank(0, [&] {
      PendingStream out(path);
      out.precision(17);
      for (const double value : values) out << value << '\n';
      out.commit();
    });
    return;
  }
  const DistributedMatrix<double> column(comm, Placement::on_rank(static_cast<Index>(values.size()), 1, 0));
  HostMatrix<double> host("heddle::driver::host", values.size(), 1);
  std::copy(values.begin(), values.end(), host.data());
  scatter(host, 0, column);
  write_result(path, column, true);
}

template <Scalar T>
void write_dense(const Communicator& comm, const std::string& path, Index rows, Index columns, const HostMatrix<T>& A) {
  if (path.empty()) return;
  const DistributedMatrix<T> out(comm, Placement::on_rank(rows, columns, 0));
  scatter(A, 0, out);
  write_result(path, out);
}

#define HEDDLE_INSTANTIATE(T) \
  template void write_dense<T>(const Communicator&, const std::string&, Index, Index, const HostMatrix<T>&)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver

// The eigenproblem of `heddle eig`: on one rank, or over all of them.
#include "drivers/eig/solution.hpp"

#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/core/strided.hpp>
#include <heddle/eigen/distributed.hpp>

#include <cmath>

namespace heddle::driver {
namespace {

template <class R> std::vector<R> values_of(const Kokkos::View<R*, MemorySpace>& w) {
  const auto host = Kokkos::create_mirror_view(w);
  Kokkos::deep_copy(host, w);
  return {host.data(), host.data() + host.extent(0)};
}

template <Scalar T>
EigenSolution<T> on_one_rank(const Communicator& comm, Index n, const HostMatrix<T>& host,
                             const eigen::JacobiOptions& options, bool values_only) {
  const ExecutionSpace& space = comm.space();
  const LocalMatrix<T> A = on_device<T>(host);
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::driver::w", static_cast<std::size_t>(n));
  const std::size_t kept = values_only ? 0 : w.extent(0);
  const LocalMatrix<T> V("heddle::driver::V", kept, kept);
  EigenSolution<T> solution;
  const auto solve = [&] {
    solution.report = values_only ? eigen::jacobi_values(space, A, w, options) : eigen::jacobi(space, A, w, V, options);
  };
  solution.seconds = seconds_of_runs(comm, 1, solve).front();
  solution.values = values_of<Real<T>>(w);
  if (!values_only && solution.report.converged) {
    solution.vectors = HostMatrix<T>("heddle::driver::host", kept, kept);
    Kokkos::deep_copy(flat(solution.vectors), flat(V));
    solution.errors = errors_of<T>(space, A, w, V);
  }
  return solution;
}

template <Scalar T>
EigenSolution<T> over_ranks(const Communicator& comm, Index n, const HostMatrix<T>& host,
                            const eigen::JacobiOptions& options, bool values_only) {
  const Placement bands = Placement::column_bands(n, n, comm.size());
  const DistributedMatrix<T> A(comm, bands, "heddle::driver::A");
  scatter(host, 0, A);
  const DistributedMatrix<T> V(comm, bands, "heddle::driver::V");
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::driver::w", static_cast<std::size_t>(n));
  EigenSolution<T> solution;
  const auto solve = [&] { solution.report = eigen::jacobi<T>(comm, A, w, V, options); };
  solution.seconds = seconds_of_runs(comm, 1, solve).front();
  solution.values = values_of<Real<T>>(w);
  if (!values_only && solution.report.converged) {
    solution.vectors = gather(V, 0);
    solution.errors = errors_of<T>(A, w, V);
  }
  return solution;
}

}  // namespace

void require_over_ranks(int ranks, const eigen::JacobiOptions& options) {
  const std::string where = format("over %d ranks: ", ranks);
  require(options.method == eigen::JacobiMethod::automatic || options.method == eigen::JacobiMethod::blocked,
          "--method ", to_string(options.method), " ", where, "that is for one rank; blocked is for any number");
  require(options.accuracy != eigen::JacobiAccuracy::relative, "--accuracy relative ", where,
          "that is for one rank; norm is for any number");
  require(!options.lower_precision, "--lower-precision ", where, "its tridiagonalisation is for one rank");
  require(options.rotations == 0, "--rotations ", where,
          "limits methods of one rank; --sweeps does those of any number");
}

template <Scalar T>
EigenSolution<T> eigen_solution(const Communicator& comm, Index n, const HostMatrix<T>& A,
                                const eigen::JacobiOptions& options, bool values_only) {
  return comm.size() == 1 ? on_one_rank<T>(comm, n, A, options, values_only)
                          : over_ranks<T>(comm, n, A, options, values_only);
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template EigenSolution<T> eigen_solution<T>(const Communicator&, Index, const HostMatrix<T>&, \
                                              const eigen::JacobiOptions&, bool)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver

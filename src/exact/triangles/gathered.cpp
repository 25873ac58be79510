// Solution of a distributed system on one rank, to which it is gathered.
#include "exact/triangles/gathered.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "exact/products/quotient.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <limits>
#include <span>

namespace heddle::exact::impl {
namespace {

// The rank that solves.
constexpr int solver = 0;

template <Scalar T> KOKKOS_INLINE_FUNCTION bool has_finite_parts(const T& x) {
  if constexpr (is_complex<T>) {
    return is_finite(static_cast<double>(x.real())) && is_finite(static_cast<double>(x.imag()));
  } else {
    return is_finite(static_cast<double>(x));
  }
}

// Throws on every rank alike, for the first element down the columns that is not finite.
template <Scalar T> void require_finite(const char* name, const DistributedMatrix<T>& A) {
  constexpr Index none = std::numeric_limits<Index>::max();
  const heddle::impl::Elements<T> elements(A.local());
  const CyclicAxis rows = A.placement().row_axis();
  const CyclicAxis columns = A.placement().column_axis();
  const int p = A.grid_row();
  const int q = A.grid_column();
  const auto height = static_cast<Index>(A.local().extent(0));
  Index mine = none;
  Kokkos::parallel_reduce(
      "heddle::exact::not_finite",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(A.communicator().space(), 0,
                                                                    static_cast<Index>(A.local().size())),
      KOKKOS_LAMBDA(Index k, Index & first) {
        const Index i = k % height;
        const Index j = k / height;
        if (!has_finite_parts(elements(i, j))) {
          const Index at = columns.global(q, j) * rows.extent + rows.global(p, i);
          first = at < first ? at : first;
        }
      },
      Kokkos::Min<Index>(mine));
  const Index first = A.communicator().all_reduce(mine, Reduction::minimum);
  if (first != none) {
    throw Error(ErrorKind::computation,
                message_of("solve: ", name, " holds NaN or Inf, first in row ", first % rows.extent + 1, " of column ",
                           first / rows.extent + 1, ", counted from 1"));
  }
}

}  // namespace

template <Scalar T>
SolveReport solve_on_one_rank(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                              const DistributedMatrix<T>& X, const SolveOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::solve");
  return comm.together([&] {
    using heddle::impl::argument;
    heddle::impl::require_alike(
        comm, "solve", {argument("A", A.placement()), argument("B", B.placement()), argument("X", X.placement())}, [&] {
          heddle::impl::require_same_ranks("solve", "A", A, comm);
          heddle::impl::require_same_ranks("solve", "B", B, comm);
          heddle::impl::require_same_ranks("solve", "X", X, comm);
          require(A.rows() == A.columns() && B.rows() == A.rows() && X.rows() == A.rows() && X.columns() == B.columns(),
                  "solve: A is ", A.rows(), " x ", A.columns(), ", B is ", B.rows(), " x ", B.columns(), ", X is ",
                  X.rows(), " x ", X.columns());
        });
    DistributedMatrix<T> whole_a;
    DistributedMatrix<T> whole_x;
    comm.on_each([&] {
      whole_a = DistributedMatrix<T>(comm, Placement::on_rank(A.rows(), A.columns(), solver), "A");
      whole_x = DistributedMatrix<T>(comm, Placement::on_rank(B.rows(), B.columns(), solver), "X");
    });
    require_finite("A", A);
    require_finite("B", B);
    redistribute(A, whole_a);
    redistribute(B, whole_x);
    SolveReport report;
    comm.on_rank(solver, [&] {
      const auto x = strided(whole_x.local());
      report = compiled::solve_columns<T>(comm.space(), strided(whole_a.local()), x, x, options);
      if (!is_finite(report.backward_error)) {
        throw Error(ErrorKind::computation, "solve: the solution or a factor of A overflows");
      }
    });
    comm.broadcast(std::span(&report, 1), solver);
    if (report.info == 0) {
      redistribute(whole_x, X);
    }
    return report;
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                         \
  template SolveReport solve_on_one_rank<T>(const Communicator&, const DistributedMatrix<T>&,         \
                                            const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                                            const SolveOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::impl

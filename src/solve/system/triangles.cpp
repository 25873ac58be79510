// Solutions of systems with triangles and with given factors.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "solve/grid/over_ranks.hpp"
#include "solve/lu/pivots.hpp"
#include "solve/system/system.hpp"
#include <heddle/solve/solve.hpp>

namespace heddle {
namespace impl {
namespace {

// Require room on every rank for a solution, and for a copy with rows in another order.
template <Scalar T>
void require_room(const char* of, const PlacedMatrix<T>& M, const PlacedMatrix<T>& X, Operation op, bool permutes,
                  const FactorOptions& options) {
  const int ranks = X.ranks().size();
  const FactorOptions taken = with_arithmetic(options);
  const LuSchedule schedule = schedule_for(M.rows(), M.columns(), taken);
  const CyclicAxis columns = columns_of(schedule, ranks);
  const CyclicAxis right = right_hand_sides(X.columns(), ranks);
  const Residence residence = M.residence();
  double needed = Substitution<T>::bytes(schedule, columns, right, op, taken.arithmetic, residence);
  if (!M.lies_as(placement_of_columns(M.rows(), columns).in(residence))) {
    needed += bytes_of_copy<T>(M.rows(), columns, residence);
  }
  if (!X.lies_as(placement_of_columns(X.rows(), right))) {
    needed += ranks == 1 ? bytes_of_local<T>(X.rows(), right) : bytes_of_copy<T>(X.rows(), right);
  }
  if (permutes) needed += bytes_of_local<T>(X.rows(), right);
  require_memory(of, X.ranks().comm(), needed, static_cast<double>(options.memory_limit));
}

template <Scalar T> void check_trsm(const PlacedMatrix<T>& M, const PlacedMatrix<T>& X, const FactorOptions& options) {
  require_square("trsm", "M", M);
  require_rows("trsm", "X", X, M.rows());
  require_lu_options("trsm", M.rows(), M.columns(), options);
  require_apart("trsm", "M", M.local(), "X", X.local());
}
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void solve_triangle(Triangle triangle, Operation op, Diagonal diagonal, const PlacedMatrix<T>& M,
                    const PlacedMatrix<T>& X, const FactorOptions& options) {
  require_room("trsm", M, X, op, false, options);
  FactoredSystem<T> system(M, X.columns(), options);
  system.with_right(X, [&](const PlacedMatrix<T>& x) { system.triangle(triangle, op, diagonal, x); });
}

template <Scalar T>
void check_lu_solve(const PlacedMatrix<T>& LU, const LuReport& factors, const PlacedMatrix<T>& X,
                    const FactorOptions& options) {
  require_factors("lu_solve", LU, factors);
  require(factors.info == 0, "lu_solve: the matrix is singular: U(", factors.info - 1, ", ", factors.info - 1,
          ") is zero");
  require_rows("lu_solve", "X", X, LU.rows());
  require_lu_options("lu_solve", LU.rows(), LU.columns(), options);
  require_apart("lu_solve", "LU", LU.local(), "X", X.local());
}
template <Scalar T>
void solve_with_lu(Operation op, const PlacedMatrix<T>& LU, const LuReport& factors, const PlacedMatrix<T>& X,
                   const FactorOptions& options) {
  require_room("lu_solve", LU, X, op, true, options);
  FactoredSystem<T> system(LU, X.columns(), options);
  system.with_right(X, [&](const PlacedMatrix<T>& x) { system.solve_by_lu(op, factors.pivots, x); });
}

template <Scalar T>
void check_cholesky_solve(const PlacedMatrix<T>& L, const PlacedMatrix<T>& X, const FactorOptions& options) {
  require_square("cholesky_solve", "L", L);
  require_rows("cholesky_solve", "X", X, L.rows());
  require_lu_options("cholesky_solve", L.rows(), L.columns(), options);
  require_apart("cholesky_solve", "L", L.local(), "X", X.local());
}
template <Scalar T>
void solve_with_cholesky(const PlacedMatrix<T>& L, const PlacedMatrix<T>& X, const FactorOptions& options) {
  require_room("cholesky_solve", L, X, Operation::conjugate_transpose, false, options);
  FactoredSystem<T> system(L, X.columns(), options);
  system.with_right(X, [&](const PlacedMatrix<T>& x) { system.solve_by_cholesky(x); });
}

}  // namespace
}  // namespace impl

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void trsm(const Communicator& comm, Triangle triangle, Operation op, Diagonal diagonal, const DistributedMatrix<T>& M,
          const DistributedMatrix<T>& X, const FactorOptions& options) {
  const impl::PlacedMatrix<T> m(M);
  const impl::PlacedMatrix<T> x(X);
  impl::over_ranks(
      comm, "trsm", impl::and_placements(impl::arguments_of(options), M.placement(), X.placement()),
      [&] {
        impl::require_same_ranks("trsm", "M", M, comm);
        impl::require_same_ranks("trsm", "X", X, comm);
        impl::check_trsm(m, x, options);
      },
      [&] { impl::solve_triangle(triangle, op, diagonal, m, x, options); });
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void trsm(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal,
          const MatrixView<const std::type_identity_t<T>>& M, const MatrixView<T>& X, const FactorOptions& options) {
  const impl::PlacedMatrix<T> m(space, "trsm", "M", M);
  const impl::PlacedMatrix<T> x(space, "trsm", "X", X);
  impl::check_trsm(m, x, options);
  impl::solve_triangle(triangle, op, diagonal, m, x, options);
}

template <Scalar T>
void lu_solve(const Communicator& comm, Operation op, const DistributedMatrix<T>& LU, const LuReport& factors,
              const DistributedMatrix<T>& X, const FactorOptions& options) {
  const impl::PlacedMatrix<T> of(LU);
  const impl::PlacedMatrix<T> x(X);
  impl::over_ranks(
      comm, "lu_solve", impl::and_placements(impl::arguments_of(options), LU.placement(), X.placement()),
      [&] {
        impl::require_same_ranks("lu_solve", "LU", LU, comm);
        impl::require_same_ranks("lu_solve", "X", X, comm);
        impl::check_lu_solve(of, factors, x, options);
      },
      [&] { impl::solve_with_lu(op, of, factors, x, options); });
}

template <Scalar T>
void lu_solve(const ExecutionSpace& space, Operation op, const MatrixView<const std::type_identity_t<T>>& LU,
              const LuReport& factors, const MatrixView<T>& X, const FactorOptions& options) {
  const impl::PlacedMatrix<T> of(space, "lu_solve", "LU", LU);
  const impl::PlacedMatrix<T> x(space, "lu_solve", "X", X);
  impl::check_lu_solve(of, factors, x, options);
  impl::solve_with_lu(op, of, factors, x, options);
}

template <Scalar T>
void cholesky_solve(const Communicator& comm, const DistributedMatrix<T>& L, const DistributedMatrix<T>& X,
                    const FactorOptions& options) {
  const impl::PlacedMatrix<T> of(L);
  const impl::PlacedMatrix<T> x(X);
  impl::over_ranks(
      comm, "cholesky_solve", impl::and_placements(impl::arguments_of(options), L.placement(), X.placement()),
      [&] {
        impl::require_same_ranks("cholesky_solve", "L", L, comm);
        impl::require_same_ranks("cholesky_solve", "X", X, comm);
        impl::check_cholesky_solve(of, x, options);
      },
      [&] { impl::solve_with_cholesky(of, x, options); });
}

template <Scalar T>
void cholesky_solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& L,
                    const MatrixView<T>& X, const FactorOptions& options) {
  const impl::PlacedMatrix<T> of(space, "cholesky_solve", "L", L);
  const impl::PlacedMatrix<T> x(space, "cholesky_solve", "X", X);
  impl::check_cholesky_solve(of, x, options);
  impl::solve_with_cholesky(of, x, options);
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template void trsm<T>(const Communicator&, Triangle, Operation, Diagonal, const DistributedMatrix<T>&,         \
                        const DistributedMatrix<T>&, const FactorOptions&);                                      \
  template void trsm<T>(const ExecutionSpace&, Triangle, Operation, Diagonal, const MatrixView<const T>&,        \
                        const MatrixView<T>&, const FactorOptions&);                                             \
  template void lu_solve<T>(const Communicator&, Operation, const DistributedMatrix<T>&, const LuReport&,        \
                            const DistributedMatrix<T>&, const FactorOptions&);                                  \
  template void lu_solve<T>(const ExecutionSpace&, Operation, const MatrixView<const T>&, const LuReport&,       \
                            const MatrixView<T>&, const FactorOptions&);                                         \
  template void cholesky_solve<T>(const Communicator&, const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                                  const FactorOptions&);                                                         \
  template void cholesky_solve<T>(const ExecutionSpace&, const MatrixView<const T>&, const MatrixView<T>&,       \
                                  const FactorOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle

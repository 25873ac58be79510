// Rank-k updates of one triangle: arguments, placements and reports.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "solve/cholesky/rank_update.hpp"
#include "solve/grid/over_ranks.hpp"
#include <heddle/solve/syrk.hpp>

#include <chrono>
#include <vector>

namespace heddle {
namespace impl {
namespace {

// Return none, or the transposing operation that this update takes for `op`; `of` names the function in messages.
template <Scalar T> Operation turned_operation(const char* of, bool hermitian, Operation op) {
  const Operation other = hermitian ? Operation::conjugate_transpose : Operation::transpose;
  if (op == Operation::none || op == other) return op;
  require(!is_complex<T>, of, ": operation ", to_string(op), " of complex matrices; expected N or ", to_string(other));
  return other;
}

template <Scalar T>
void check_rank_update(const char* of, const RankUpdateTerms<T>& terms, const PlacedMatrix<T>& A,
                       const PlacedMatrix<T>& C, const SyrkOptions& options) {
  require_square(of, "C", C);
  const bool by_rows = terms.op == Operation::none;
  const Index vectors = by_rows ? A.rows() : A.columns();
  require(vectors == C.rows(), of, ": A has ", vectors, by_rows ? " rows" : " columns", "; expected ", C.rows());
  require(options.block >= 0, of, ": block ", options.block, "; expected a number of columns, or 0");
  require(options.moduli == 0 || (options.moduli >= 7 && options.moduli <= 31), of, ": ", options.moduli,
          " moduli; expected 7 to 31, or 0 for as many as round-off needs");
  require_apart(of, "A", A.local(), "C", C.local());
}

template <Scalar T>
SyrkReport rank_update(const RankUpdateTerms<T>& terms, const PlacedMatrix<T>& A, const PlacedMatrix<T>& C,
                       SyrkOptions options) {
  const OptionalRanks& ranks = C.ranks();
  const Index n = C.rows();
  const Index inner = terms.op == Operation::none ? A.columns() : A.rows();
  if (options.arithmetic == Arithmetic::automatic) options.arithmetic = Arithmetic::native;
  SyrkReport report;
  report.arithmetic = options.arithmetic;
  report.block = rank_update_block(n, options);
  const auto start = std::chrono::steady_clock::now();
  if (n > 0 && inner > 0 && terms.alpha != T(0)) {
    RankUpdate<T> update(ranks, terms, n, inner, options);
    const PlacedMatrix<T> a = placed(A, update.placement_of_a());
    const PlacedMatrix<T> c = placed(C, update.placement_of_c());
    const double mine = update.run(a.local(), c.local());
    report.multiply_adds = ranks.all_reduce(mine, Reduction::sum);
    if (!C.lies_as(update.placement_of_c())) redistribute(c, C);
  } else {
    scale_triangle(terms, C);
  }
  ranks.space().fence("heddle::solve::done");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.seconds = ranks.all_reduce(seconds, Reduction::maximum);
  const double needed = static_cast<double>(n) * static_cast<double>(n + 1) / 2.0 * static_cast<double>(inner);
  const double flops = report.multiply_adds > 0 ? flops_per_multiply_add<T> * needed : 0.0;
  report.gflops = report.seconds > 0 ? flops / report.seconds / 1e9 : 0.0;
  return report;
}

template <Scalar T>
SyrkReport update_over_ranks(const char* of, const Communicator& comm, RankUpdateTerms<T> terms,
                             const DistributedMatrix<T>& A, const DistributedMatrix<T>& C, const SyrkOptions& options) {
  const std::vector<Argument> arguments = {argument("A", A.placement()),
                                           argument("C", C.placement()),
                                           argument("triangle", static_cast<int>(terms.triangle)),
                                           argument("operation", to_string(terms.op)),
                                           argument("alpha", terms.alpha),
                                           argument("beta", terms.beta),
                                           argument("arithmetic", to_string(options.arithmetic)),
                                           argument("block", options.block),
                                           argument("moduli", options.moduli)};
  return over_ranks(
      comm, of, arguments,
      [&] {
        require_same_ranks(of, "A", A, comm);
        require_same_ranks(of, "C", C, comm);
        terms.op = turned_operation<T>(of, terms.hermitian, terms.op);
        check_rank_update<T>(of, terms, A, C, options);
      },
      [&] { return rank_update<T>(terms, A, C, options); });
}

template <Scalar T>
SyrkReport update_alone(const char* of, const ExecutionSpace& space, RankUpdateTerms<T> terms,
                        const MatrixView<const T>& A, const MatrixView<T>& C, const SyrkOptions& options) {
  const PlacedMatrix<T> a(space, of, "A", A);
  const PlacedMatrix<T> c(space, of, "C", C);
  terms.op = turned_operation<T>(of, terms.hermitian, terms.op);
  check_rank_update(of, terms, a, c, options);
  return rank_update(terms, a, c, options);
}

}  // namespace
}  // namespace impl

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const Communicator& comm, Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const DistributedMatrix<T>& A, std::type_identity_t<T> beta, const DistributedMatrix<T>& C,
                const SyrkOptions& options) {
  return impl::update_over_ranks<T>("syrk", comm, {triangle, op, false, alpha, beta}, A, C, options);
}
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
SyrkReport syrk(const ExecutionSpace& space, Triangle triangle, Operation op, std::type_identity_t<T> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, std::type_identity_t<T> beta,
                const MatrixView<T>& C, const SyrkOptions& options) {
  return impl::update_alone<T>("syrk", space, {triangle, op, false, alpha, beta}, A, C, options);
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const Communicator& comm, Triangle triangle, Operation op, Real<std::type_identity_t<T>> alpha,
                const DistributedMatrix<T>& A, Real<std::type_identity_t<T>> beta, const DistributedMatrix<T>& C,
                const HerkOptions& options) {
  return impl::update_over_ranks<T>("herk", comm, {triangle, op, is_complex<T>, T(alpha), T(beta)}, A, C, options);
}
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HerkReport herk(const ExecutionSpace& space, Triangle triangle, Operation op, Real<std::type_identity_t<T>> alpha,
                const MatrixView<const std::type_identity_t<T>>& A, Real<std::type_identity_t<T>> beta,
                const MatrixView<T>& C, const HerkOptions& options) {
  return impl::update_alone<T>("herk", space, {triangle, op, is_complex<T>, T(alpha), T(beta)}, A, C, options);
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template SyrkReport syrk<T>(const Communicator&, Triangle, Operation, T, const DistributedMatrix<T>&, T,             \
                              const DistributedMatrix<T>&, const SyrkOptions&);                                        \
  template SyrkReport syrk<T>(const ExecutionSpace&, Triangle, Operation, T, const MatrixView<const T>&, T,            \
                              const MatrixView<T>&, const SyrkOptions&);                                               \
  template HerkReport herk<T>(const Communicator&, Triangle, Operation, Real<T>, const DistributedMatrix<T>&, Real<T>, \
                              const DistributedMatrix<T>&, const HerkOptions&);                                        \
  template HerkReport herk<T>(const ExecutionSpace&, Triangle, Operation, Real<T>, const MatrixView<const T>&,         \
                              Real<T>, const MatrixView<T>&, const HerkOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle

// Eigensystems of one matrix after another, with handles, workspace and vectors that are kept.
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "eigen/dense/matrices.hpp"
#include "eigen/dense/solve.hpp"

namespace heddle::eigen {

using namespace impl;

template <Scalar T> struct JacobiPlan<T>::State {
  ExecutionSpace space;
  Index n;
  JacobiOptions options;
  blas::Context context;
  heddle::impl::Workspace workspace;
  Dense<T> vectors;  // Of the last matrix, for a warm start.
  bool has_vectors = false;
};

template <Scalar T>
JacobiPlan<T>::JacobiPlan(const ExecutionSpace& space, Index n, const JacobiOptions& options)
    : state_(new State{space, n, options, space, {space, true}, {}, false}) {
  require(n >= 0, "eigen::JacobiPlan: n = ", n);
  if (options.warm_start) state_->vectors = dense<T>(space, "heddle::eigen::kept_vectors", n, n);
}
template <Scalar T> JacobiPlan<T>::~JacobiPlan() = default;
template <Scalar T> JacobiPlan<T>::JacobiPlan(JacobiPlan&&) noexcept = default;
template <Scalar T> JacobiPlan<T>& JacobiPlan<T>::operator=(JacobiPlan&&) noexcept = default;

template <Scalar T> void JacobiPlan<T>::restart() noexcept {
  state_->has_vectors = false;
}

template <Scalar T>
JacobiReport JacobiPlan<T>::solve(const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                                  const StridedMatrix<T>& V) {
  State& of = *state_;
  const auto n = static_cast<std::size_t>(of.n);
  require(A.extent(0) == n && A.extent(1) == n && V.extent(0) == n && V.extent(1) == n,
          "eigen::JacobiPlan: a plan for n = ", of.n, ", given A ", A.extent(0), " x ", A.extent(1), " and V ",
          V.extent(0), " x ", V.extent(1));
  JacobiOptions options = of.options;
  options.warm_start = of.has_vectors;
  if (options.warm_start) {
    options.method = JacobiMethod::blocked;
    heddle::impl::copy_matrix<T>(of.space, strided(of.vectors), V);
  }
  // A solution that fails leaves no vectors to begin at.
  of.has_vectors = false;
  const JacobiReport report = solve_with<T>({of.space, &of.workspace}, &of.context, A, w, &V, options);
  if (of.options.warm_start && report.converged) {
    heddle::impl::copy_matrix<T>(of.space, V, strided(of.vectors));
    of.space.fence("heddle::eigen::plan");
    of.has_vectors = true;
  }
  return report;
}

template class JacobiPlan<float>;
template class JacobiPlan<double>;
template class JacobiPlan<Kokkos::complex<float>>;
template class JacobiPlan<Kokkos::complex<double>>;

}  // namespace heddle::eigen

// Eigenvalues and eigenvectors of many small matrices at once.
#pragma once

#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen {

/// The largest n of jacobi_batched().
inline constexpr Index largest_batched = 64;

struct JacobiBatchOptions {
  JacobiAccuracy accuracy = JacobiAccuracy::automatic;  ///< Of each matrix.
  bool upper = false;                                   ///< Which triangles are read.
  double tolerance = 0;                                 ///< As JacobiOptions::tolerance; 0: 2 sqrt(n) u.
  int sweeps = 40;                                      ///< At most, for each matrix.
};

struct JacobiBatchReport {
  /// Matrices whose sweeps were not enough, that hold a NaN or an infinity, or, with accuracy `relative`, that are not
  /// positive definite.
  Index not_converged = 0;
  Index first_failed = -1;  ///< The first of them.
  int sweeps = 0;           ///< The most that one took.
  Index rotations = 0;      ///< Of all.
  [[nodiscard]] bool converged() const { return not_converged == 0; }
};

namespace compiled {

/// `history`: what became of the one matrix, its off_norms included. `method`: automatic, or round_robin where nothing
/// else than its rotations was asked for.
template <Scalar T>
JacobiBatchReport jacobi_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                 const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                                 const JacobiBatchOptions& options, JacobiReport* history = nullptr,
                                 JacobiMethod method = JacobiMethod::automatic);

}  // namespace compiled

/// A_b V_b = V_b diag(w_b) for each matrix A_b = A(:, :, b) of a batch, n <= 64, as jacobi() does it: w_b = w(:, b)
/// ascending, V_b = V(:, :, b) orthonormal. One launch of one-sided rotations, of the columns of the Cholesky factor
/// where A_b is positive definite and of A_b + 3/2 |A_b|_F I otherwise: on GPUs two columns a thread, in registers; on
/// CPUs as many real matrices at a time as a vector holds, complex ones (two-sided) a thread each.
///
/// Any strides; A must not overlap V. Throws Error(argument) for shapes that don't fit and n > 64. Matrices that did
/// not converge are counted in the report; w and V of these hold what there was. Errors as jacobi() has them. Positive
/// definite matrices whose diagonal spans more than 2^400 (2^24 of float) are solved as jacobi() says, one after
/// another when the rest is done: right, but not fast. Blocks. Bits: reproducible for any number of threads; a matrix's
/// do not depend on its neighbours. Cost: 6 n^3 flops a sweep, about 3 log2(n) / 2 sweeps.
template <class ViewA, class ViewW, class ViewV>
  requires Scalar<typename ViewV::non_const_value_type>
[[nodiscard]] JacobiBatchReport jacobi_batched(const ExecutionSpace& space, const ViewA& A, const ViewW& w,
                                               const ViewV& V, const JacobiBatchOptions& options = {}) {
  using T = typename ViewV::non_const_value_type;
  const StridedBatch<T> vectors = strided(V);
  return compiled::jacobi_batched<T>(space, strided(typename ViewA::const_type(A)), strided(w), &vectors, options);
}
/// The eigenvalues alone.
template <class ViewA, class ViewW>
  requires Scalar<typename ViewA::non_const_value_type>
[[nodiscard]] JacobiBatchReport jacobi_batched_values(const ExecutionSpace& space, const ViewA& A, const ViewW& w,
                                                      const JacobiBatchOptions& options = {}) {
  using T = typename ViewA::non_const_value_type;
  return compiled::jacobi_batched<T>(space, strided(typename ViewA::const_type(A)), strided(w), nullptr, options);
}

}  // namespace heddle::eigen

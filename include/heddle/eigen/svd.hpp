// Singular values and singular vectors of many matrices at once.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <iosfwd>

namespace heddle::eigen {

struct SvdBatchedOptions {
  double tolerance = 0;  ///< The cosine that two columns may have to each other; 0 stands for 2 sqrt(min(m, n)) u.
  int sweeps = 40;       ///< No matrix takes more sweeps, converged or not.
};

struct SvdBatchedReport {
  Index not_converged = 0;  ///< How many matrices failed: their sweeps were not enough, or they hold a NaN or infinity.
  Index first_failed = -1;  ///< The number of the first matrix that failed; -1 where none did.
  int sweeps = 0;           ///< The most sweeps that a matrix took.
  Index rotations = 0;      ///< Rotations of all matrices.
  /// Whether no matrix failed.
  [[nodiscard]] bool converged() const { return not_converged == 0; }
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SvdBatchedReport& report);

namespace compiled {

/// U and V: both, or null for singular values alone.
template <Scalar T>
SvdBatchedReport svd_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                             const StridedMatrix<Real<T>>& s, const StridedBatch<T>* U, const StridedBatch<T>* V,
                             const SvdBatchedOptions& options);

}  // namespace compiled

/// A_b = U_b diag(s_b) V_b^H for each m x n matrix A_b = A(:, :, b) of a batch: thin factors, k = min(m, n), s_b >= 0
/// in descending order.
/// - Shapes: A m x n x count, s k x count, U m x k x count, V (not V^H) n x k x count. Any strides, m < n too. U and V
///   must not overlap A.
/// - Errors: throws Error(argument) for shapes. A matrix that fails is counted; s, U, V hold its last state, or NaN.
/// - Accuracy: |s - sigma| <= 10 k u |A|_2, and <= 10 k u kappa(B) sigma for A = B D, D diagonal, m >= n. |A - U
///   diag(s) V^H|_2 <= 10 max(m, n) u |A|_2, and as much for U^H U - I and V^H V - I.
/// - Bits: reproducible for any number of threads, and independent of the other matrices. Blocks.
/// - Cost, m >= n: 2 m n^2 flops, 7 to 10 sweeps of 8 n^3 (6 n^3 without vectors), 4 m n^2 for U; complex: 4 times.
/// - Source: Z. Drmac, K. Veselic (2008). docs/notes/eigen.md, section "Singular values of batches".
template <class ViewA, class ViewS, class ViewU, class ViewV>
  requires Scalar<typename ViewU::non_const_value_type>
[[nodiscard]] SvdBatchedReport svd_batched(const ExecutionSpace& space, const ViewA& A, const ViewS& s, const ViewU& U,
                                           const ViewV& V, const SvdBatchedOptions& options = {}) {
  using T = typename ViewU::non_const_value_type;
  const StridedBatch<T> left = strided(U);
  const StridedBatch<T> right = strided(V);
  return compiled::svd_batched<T>(space, strided(typename ViewA::const_type(A)), strided(s), &left, &right, options);
}
/// The singular values s of svd_batched(), without vectors.
template <class ViewA, class ViewS>
  requires Scalar<typename ViewA::non_const_value_type>
[[nodiscard]] SvdBatchedReport svd_batched_values(const ExecutionSpace& space, const ViewA& A, const ViewS& s,
                                                  const SvdBatchedOptions& options = {}) {
  using T = typename ViewA::non_const_value_type;
  return compiled::svd_batched<T>(space, strided(typename ViewA::const_type(A)), strided(s), nullptr, nullptr, options);
}

}  // namespace heddle::eigen

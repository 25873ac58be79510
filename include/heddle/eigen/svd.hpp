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

/// A_b = U_b diag(s_b) V_b^H for each m x n matrix A_b = A(:, :, b) of a batch, with k = min(m, n) singular values
/// s_b = s(:, b) >= 0, descending, and as many singular vectors: the thin factors.
///
/// A: m x n x count. s: k x count. U: m x k x count, with orthonormal columns; V: n x k x count, with orthonormal
/// columns (V, not its adjoint). Any strides and shapes, m < n too; U and V must not overlap A. By a QR factorization
/// with column pivoting, A P = Q R, and one-sided Jacobi rotations of the columns of R^H (M. R. Hestenes, 1958; J.
/// Demmel, K. Veselic, 1992; Z. Drmac, K. Veselic, 2008); all matrices advance together. If singular values are zero, U
/// and V are completed to orthonormal columns.
///
/// Errors: |s_i - sigma_i| <= 10 k u |A|_2, |A - U diag(s) V^H|_2 <= 10 max(m, n) u |A|_2, and as much for U^H U - I
/// and V^H V - I. A = B D with D diagonal: |s_i - sigma_i| <= 10 k u kappa(B) sigma_i, however different the elements
/// of D are, for m >= n (of m < n rows for columns), as long as sigma_i > 2^-400 |A|_2; smaller values (in the factor
/// R) count as zero. Matrices of float have the whole range of the type: those that span more than 2^36 are solved in
/// double.
///
/// Throws Error(argument) for shapes that don't fit. Matrices that did not converge are counted in the report; s, U and
/// V of these hold their last state, and NaNs if the matrix had a NaN or an infinity. Blocks. Bits: reproducible for
/// any number of threads; a matrix's do not depend on its neighbours. Cost, of m >= n: 2 m n^2 flops for the
/// factorization, 8 n^3 a sweep (6 n^3 without vectors), 7 to 10 sweeps, and 4 m n^2 for U; four times that for complex
/// T.
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

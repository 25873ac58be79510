// Eigenvalues and eigenvectors of real symmetric and complex Hermitian matrices by Jacobi rotations.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::eigen {

/// How the rotations are ordered, and what they are applied to.
enum class JacobiMethod {
  /// Up to n = 64 as jacobi_batched() does it, which is reported as `preconditioned` where it begins at the
  /// eigenvectors of
  /// a tridiagonalisation, else as `round_robin`; above `preconditioned`, or `blocked` where bits must be reproducible.
  automatic,
  /// Two-sided, on the largest element left each time (C. G. J. Jacobi, 1846). One team of threads; for studies.
  classical,
  cyclic,  ///< Two-sided, row by row (G. E. Forsythe, P. Henrici, 1960). One team of threads; for studies.
  /// Two-sided, n/2 disjoint rotations at a time (R. P. Brent, F. T. Luk, 1985); up to n = 64 by one team, on GPUs
  /// one-sided.
  round_robin,
  /// One-sided on block columns, each pair of blocks by the small eigenproblem of its inner products (M. R. Hestenes,
  /// 1958; V. Hari, 2005). All work is in products of matrices; half that of two-sided blocks, and no vectors to keep.
  blocked,
  /// `blocked`, begun at the eigenvectors of a tridiagonalisation (LAPACK, cuSOLVER), orthogonalised in working
  /// precision (N. J. Higham, F. Tisseur, M. Webb, Z. Zhou, arXiv 2501.03742, 2025).
  preconditioned,
};
/// "automatic", "classical", "cyclic", "round-robin", "blocked", "preconditioned".
[[nodiscard]] std::string_view to_string(JacobiMethod method);
[[nodiscard]] JacobiMethod jacobi_method_from(std::string_view text);

/// What is small enough to be left.
enum class JacobiAccuracy {
  automatic,  ///< `relative` where A is positive definite, `norm` otherwise; `norm` of method `classical`.
  /// |a_ij| <= tolerance sqrt(a_ii a_jj): each eigenvalue to its own size, as far as the matrix with unit diagonal
  /// D^-1 A D^-1 tells it (J. Demmel, K. Veselic, 1992). A must be positive definite. Of every method but `classical`.
  relative,
  norm,  ///< |a_ij| small beside the norm of A: errors of all eigenvalues are alike.
};
[[nodiscard]] std::string_view to_string(JacobiAccuracy accuracy);
[[nodiscard]] JacobiAccuracy jacobi_accuracy_from(std::string_view text);

/// Why an iteration ended.
enum class JacobiEnd {
  diagonal,       ///< There was nothing to rotate.
  tolerance,      ///< A whole sweep found nothing above the tolerance.
  quadratic,      ///< The last sweep's elements and angles leave less than the tolerance.
  sweep_limit,    ///< JacobiOptions::sweeps were not enough: not converged.
  rotation_limit  ///< JacobiOptions::rotations were not enough: not converged.
};
[[nodiscard]] std::string_view to_string(JacobiEnd end);

struct JacobiOptions {
  JacobiMethod method = JacobiMethod::automatic;
  JacobiAccuracy accuracy = JacobiAccuracy::automatic;
  /// Which triangle of A is read; the diagonal always is, of complex A its real parts.
  bool upper = false;
  /// Rotations are left out below this: a cosine, or a share of the largest element. 0: 2 sqrt(n) u.
  double tolerance = 0;
  int sweeps = 40;          ///< At most.
  Index rotations = 0;      ///< At most, for `classical` and `cyclic`; 0: no limit.
  int block = 0;            ///< Columns of a block, for `blocked` and `preconditioned`; 0: chosen.
  bool warm_start = false;  ///< V holds, on entry, orthonormal vectors to begin at: those of the step before.
  /// `preconditioned`: the tridiagonalisation in the lower precision (float for double).
  bool lower_precision = false;
  /// The same bits for any number of threads: no vendor's BLAS or LAPACK.
  bool reproducible = false;
};

struct JacobiReport {
  bool converged = true;
  JacobiEnd end = JacobiEnd::diagonal;
  JacobiMethod method = JacobiMethod::automatic;        ///< The one used.
  JacobiAccuracy accuracy = JacobiAccuracy::automatic;  ///< The one kept.
  int sweeps = 0;                                       ///< Begun, that which only looked included.
  Index rotations = 0;
  /// Of each sweep (of `classical`: every n (n - 1) / 2 rotations). Two-sided: the norm of the elements off the
  /// diagonal over that of A, after the sweep, with that of A itself in front. One-sided: the largest cosine met in the
  /// sweep.
  std::vector<double> off_norms;
  /// The last of these: what was left.
  [[nodiscard]] double off_norm() const { return off_norms.empty() ? 0.0 : off_norms.back(); }
};

namespace compiled {

template <Scalar T>
JacobiReport jacobi(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                    const StridedMatrix<T>* V, const JacobiOptions& options);

}  // namespace compiled

/// A V = V diag(w), V^H V = I, w ascending: all eigenvalues and eigenvectors of a Hermitian n x n matrix.
///
/// A: n x n, any strides; one triangle is read, nothing written. w: n reals. V: n x n, any strides; it must not overlap
/// A. Throws Error(argument) for shapes that don't fit, NaN or infinity in A, and accuracy `relative` where A is not
/// positive definite. An iteration that does not converge says so in the report, whose `converged` is to be looked at;
/// w and V then hold what it had. Blocks; all work is ordered on `space`.
///
/// Errors: |w_i - lambda_i| <= 10 n u |A|_2 and |A V - V diag(w)|_2 <= 10 n u |A|_2, |V^H V - I|_2 <= 10 n u. Where the
/// report's accuracy is `relative` also |w_i - lambda_i| <= 10 n u kappa(D^-1 A D^-1) lambda_i with D^2 = diag(A), for
/// each lambda_i that is a normal number: by methods automatic, cyclic, round_robin, blocked and preconditioned, with a
/// warm start too, of all four scalar types, and for elements anywhere in the type's range. `classical` has the first
/// three alone, and so has every method where A is not positive definite. A tolerance of the caller's adds n times that
/// much.
///
/// A diagonal that spans more than 2^800 (2^80 of float; up to n = 64, by automatic and round_robin, 2^400 and 2^24) is
/// out of reach of the kernels. Such float matrices are solved in double. Such double ones are solved on the host, each
/// row or column with an exponent of its own: by two-sided rotations where the method is cyclic or round_robin, else by
/// one-sided ones of single columns of the Cholesky factor, from the beginning whatever warm start is given. n = 100
/// takes some milliseconds, n = 1000 some ten seconds of one thread.
///
/// Bits: none, or reproducible for any number of threads with that option. Cost: 6 n^3 flops a sweep of `blocked` (4
/// times that for complex T), with 6 to 9 sweeps; a tridiagonalisation, 8 n^3 and one or two sweeps of
/// `preconditioned`. Memory: two to four matrices.
template <class ViewA, class ViewW, class ViewV>
  requires Scalar<typename ViewV::non_const_value_type>
[[nodiscard]] JacobiReport jacobi(const ExecutionSpace& space, const ViewA& A, const ViewW& w, const ViewV& V,
                                  const JacobiOptions& options = {}) {
  using T = typename ViewV::non_const_value_type;
  const StridedMatrix<T> vectors = strided(V);
  return compiled::jacobi<T>(space, strided(typename ViewA::const_type(A)), strided(w), &vectors, options);
}

/// The eigenvalues alone.
template <class ViewA, class ViewW>
  requires Scalar<typename ViewA::non_const_value_type>
[[nodiscard]] JacobiReport jacobi_values(const ExecutionSpace& space, const ViewA& A, const ViewW& w,
                                         const JacobiOptions& options = {}) {
  using T = typename ViewA::non_const_value_type;
  return compiled::jacobi<T>(space, strided(typename ViewA::const_type(A)), strided(w), nullptr, options);
}

}  // namespace heddle::eigen

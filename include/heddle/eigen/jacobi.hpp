// Eigenvalues and eigenvectors of real symmetric and complex Hermitian matrices by Jacobi rotations.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <concepts>
#include <iosfwd>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::eigen {

/// How the rotations are ordered, and what they are applied to.
enum class JacobiMethod {
  /// The library chooses. Matrices of up to 64 rows are solved as jacobi_batched() solves them; the report then says
  /// `preconditioned` where that began at the eigenvectors of a tridiagonalisation, and `round_robin` otherwise. Larger
  /// matrices are solved by `preconditioned`, or by `blocked` where bits must be reproducible.
  automatic,
  /// Two-sided rotations, each of the largest element that is left (C. G. J. Jacobi, 1846). One team of threads does
  /// all the work; the method is there for studies.
  classical,
  /// Two-sided rotations, row by row (G. E. Forsythe, P. Henrici, 1960). One team of threads does all the work; the
  /// method is there for studies.
  cyclic,
  /// Two-sided rotations, n/2 disjoint ones at a time (R. P. Brent, F. T. Luk, 1985). Matrices of up to 64 rows are the
  /// work of one team of threads, whose rotations are one-sided on GPUs.
  round_robin,
  /// One-sided rotations of block columns: each pair of blocks is rotated by the eigenvectors of its inner products (M.
  /// R. Hestenes, 1958; V. Hari, 2005). All the work is in products of matrices. It is half of what two-sided blocks
  /// take, and eigenvectors need no memory of their own.
  blocked,
  /// The method `blocked`, begun at the eigenvectors that a tridiagonalisation (LAPACK, cuSOLVER) finds and that are
  /// orthogonalised in working precision (N. J. Higham, F. Tisseur, M. Webb, Z. Zhou, arXiv 2501.03742, 2025).
  preconditioned,
};
/// The name of a method: "automatic", "classical", "cyclic", "round-robin", "blocked" or "preconditioned".
[[nodiscard]] std::string_view to_string(JacobiMethod method);
/// The method of a name. Throws Error(argument) for names that to_string() does not give.
[[nodiscard]] JacobiMethod jacobi_method_from(std::string_view text);

/// Which elements off the diagonal are small enough to be left, and so how accurate eigenvalues are.
enum class JacobiAccuracy {
  /// `relative` is kept where A is positive definite and the method is not `classical`, and `norm` otherwise.
  automatic,
  /// Elements with |a_ij| <= tolerance sqrt(a_ii a_jj) are left: each eigenvalue is accurate relative to its own size,
  /// as far as the matrix with unit diagonal D^-1 A D^-1 determines it (J. Demmel, K. Veselic, 1992). A must be
  /// positive definite. Every method but `classical` can keep it.
  relative,
  /// Elements that are small beside the norm of A are left: the errors of all eigenvalues are alike.
  norm,
};
/// The name of an accuracy: "automatic", "relative" or "norm".
[[nodiscard]] std::string_view to_string(JacobiAccuracy accuracy);
/// The accuracy of a name. Throws Error(argument) for names that to_string() does not give.
[[nodiscard]] JacobiAccuracy jacobi_accuracy_from(std::string_view text);

/// Why an iteration ended.
enum class JacobiEnd {
  diagonal,       ///< There was nothing to rotate.
  tolerance,      ///< A whole sweep found nothing above the tolerance.
  quadratic,      ///< The elements and angles of the last sweep bound the remaining ones by the tolerance.
  sweep_limit,    ///< It has not converged: JacobiOptions::sweeps were not enough.
  rotation_limit  ///< It has not converged: JacobiOptions::rotations were not enough.
};
/// The name of an end: "diagonal", "tolerance", "quadratic", "sweep-limit" or "rotation-limit".
[[nodiscard]] std::string_view to_string(JacobiEnd end);

struct JacobiOptions {
  JacobiMethod method = JacobiMethod::automatic;        ///< How rotations are ordered.
  JacobiAccuracy accuracy = JacobiAccuracy::automatic;  ///< Which elements off the diagonal may be left.
  /// Whether the upper triangle of A is read, and not the lower one. The diagonal is read in either case; of a complex
  /// matrix, its real parts.
  bool upper = false;
  /// The largest element off the diagonal that is left, as the accuracy measures it, or the largest cosine between two
  /// columns. The default 0 stands for 2 sqrt(n) u.
  double tolerance = 0;
  int sweeps = 40;      ///< The iteration ends after this many sweeps, converged or not.
  Index rotations = 0;  ///< Methods `classical` and `cyclic` end after this many rotations; 0 sets no limit.
  /// Columns of a block, for `blocked` and `preconditioned`; 0 lets the library choose. On GPUs 8 or 16; on CPUs blocks
  /// wider than the matrix act as one that holds it.
  int block = 0;
  bool warm_start = false;  ///< V holds, on entry, orthonormal vectors to begin at, such as those of a nearby matrix.
  /// Method `preconditioned` tridiagonalises in the lower precision, which is float for double.
  bool lower_precision = false;
  /// Results have the same bits for any number of threads, and over ranks for any number of ranks; no vendor's BLAS or
  /// LAPACK is used.
  bool reproducible = false;
};

struct JacobiReport {
  bool converged = true;                                ///< Whether the remaining elements are below the tolerance.
  JacobiEnd end = JacobiEnd::diagonal;                  ///< Why the iteration ended.
  JacobiMethod method = JacobiMethod::automatic;        ///< The method that was used.
  JacobiAccuracy accuracy = JacobiAccuracy::automatic;  ///< The accuracy that was kept.
  int sweeps = 0;                                       ///< Sweeps that were begun, one that found nothing included.
  Index rotations = 0;                                  ///< Rotations of all sweeps.
  /// How far from diagonal the matrix was, a number for each sweep; n (n - 1) / 2 rotations of `classical` count as a
  /// sweep. Two-sided methods give the norm of the elements off the diagonal over that of A, first of A itself and then
  /// after each sweep. One-sided methods give the largest cosine between two columns that the sweep met.
  std::vector<double> off_norms;
  /// How far from diagonal the matrix was in the end; the last element of off_norms, or 0.
  [[nodiscard]] double off_norm() const { return off_norms.empty() ? 0.0 : off_norms.back(); }
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const JacobiReport& report);

namespace compiled {

template <Scalar T>
JacobiReport jacobi(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                    const StridedMatrix<T>* V, const JacobiOptions& options);

}  // namespace compiled

/// A V = V diag(w), V^H V = I, w ascending: all eigenvalues and eigenvectors of a Hermitian n x n matrix.
///
/// A: n x n, any strides; one triangle is read, nothing written. w: n reals. V: n x n, any strides; it must not overlap
/// A. Throws Error(argument) for shapes that don't fit, NaN or infinity in A, and accuracy `relative` where A is not
/// positive definite. The report's `converged` is false if the iteration did not converge; w and V then hold its last
/// state. Blocks; all work is ordered on `space`.
///
/// Errors: |w_i - lambda_i| <= 10 n u |A|_2 and |A V - V diag(w)|_2 <= 10 n u |A|_2, |V^H V - I|_2 <= 10 n u. If the
/// report's accuracy is `relative`, also |w_i - lambda_i| <= 10 n u kappa(D^-1 A D^-1) lambda_i with D^2 = diag(A), for
/// each lambda_i that is a normal number: by methods automatic, cyclic, round_robin, blocked and preconditioned, with a
/// warm start too, of all four scalar types, and for elements anywhere in the type's range. Only the first three bounds
/// hold for `classical`, and for every method if A is not positive definite. A tolerance of the caller's adds n times
/// that much.
///
/// A diagonal that spans more than 2^800 (2^80 of float; up to n = 64, by automatic and round_robin, 2^400 and 2^24) is
/// out of range for the kernels. Such float matrices are solved in double. Such double ones are solved on the host,
/// each row or column with an exponent of its own: by two-sided rotations where the method is cyclic or round_robin,
/// else by one-sided ones of single columns of the Cholesky factor, from the beginning whatever warm start is given. n
/// = 100 takes some milliseconds, n = 1000 some ten seconds of one thread.
///
/// Bits: none, or reproducible for any number of threads with that option; those of `blocked` are then the same on any
/// CPU. A CPU without fused multiply-adds takes 15 times as long for them. Cost: 6 n^3 flops a sweep of `blocked` (4
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

/// The eigenvalues w of jacobi(), without the eigenvectors.
template <class ViewA, class ViewW>
  requires Scalar<typename ViewA::non_const_value_type>
[[nodiscard]] JacobiReport jacobi_values(const ExecutionSpace& space, const ViewA& A, const ViewW& w,
                                         const JacobiOptions& options = {}) {
  using T = typename ViewA::non_const_value_type;
  return compiled::jacobi<T>(space, strided(typename ViewA::const_type(A)), strided(w), nullptr, options);
}

/// The eigensystems of one Hermitian n x n matrix after another, on one instance.
///
/// The handles of the vendor's libraries are made once, which takes some milliseconds on GPUs, and the memory of a
/// solution, some ten matrices at most, is kept for the next one. Bits are those of jacobi(). With options.warm_start
/// each iteration but the first begins at the vectors of the matrix before, as is good for matrices that change little,
/// such as those of a self-consistent field. The plan keeps these vectors itself, n^2 elements. options.method is that
/// of matrices that are solved from the beginning; the others are solved by `blocked`. A plan serves one thread at a
/// time.
template <Scalar T> class JacobiPlan {
 public:
  /// Throws Error(argument) for n < 0. Options that jacobi() refuses are refused by execute().
  JacobiPlan(const ExecutionSpace& space, Index n, const JacobiOptions& options = {});
  ~JacobiPlan();
  JacobiPlan(JacobiPlan&&) noexcept;
  JacobiPlan& operator=(JacobiPlan&&) noexcept;
  JacobiPlan(const JacobiPlan&) = delete;
  JacobiPlan& operator=(const JacobiPlan&) = delete;

  /// As jacobi(); what V holds on entry does not matter. The next iteration does not begin at vectors of one that did
  /// not converge.
  template <class ViewA, class ViewW, class ViewV>
  [[nodiscard]] JacobiReport execute(const ViewA& A, const ViewW& w, const ViewV& V) {
    return solve(strided(typename ViewA::const_type(A)), strided(w), strided(V));
  }
  /// Begin the next matrix without the vectors of the last one.
  void restart() noexcept;

 private:
  struct State;

  JacobiReport solve(const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w, const StridedMatrix<T>& V);

  std::unique_ptr<State> state_;
};

}  // namespace heddle::eigen

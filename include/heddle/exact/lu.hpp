// LU factorization with partial pivoting and reproducible bits, and the solution of systems with it.
#pragma once

#include <heddle/exact/matrix.hpp>

#include <iosfwd>
#include <vector>

namespace heddle::exact {

/// How an LU factorization is computed.
struct LuOptions {
  /// Number of columns factored together: 1 factors one after the other (the unblocked algorithm); 0 lets the library
  /// choose. No bit depends on it.
  int block = 0;
  /// How sums are formed. Only CPUs have algorithms other than Algorithm::automatic, and these factor one column after
  /// the other, whatever `block` is.
  Algorithm algorithm = Algorithm::automatic;
};

/// Results of an LU factorization other than the factors.
struct LuResult {
  /// Pivots: step k interchanged rows k and pivots[k] (counted from 0).
  std::vector<Index> pivots;
  /// 0, or k + 1 if U(k, k) is the first diagonal element of U that is exactly zero, as LAPACK's info: U is then
  /// singular, and column k of L has not been divided by it.
  Index info = 0;
};

/// How a system is solved.
struct SolveOptions {
  /// Options of the factorization.
  LuOptions lu;
  /// Maximum number of corrections. They stop earlier once the backward error is below one unit roundoff or no longer
  /// halves.
  int refinements = 5;
};

/// How a system was solved, and how accurate the solution is.
struct SolveReport {
  Index info = 0;       ///< LuResult::info of the factorization; x is not written if it is not 0.
  int refinements = 0;  ///< Number of corrections made.
  /// The backward error of x: max_i |b - A x|_i / (|A| |x| + |b|)_i, from exact residuals that are rounded once.
  /// Neither residuals nor denominators are limited by the range of T, but an error below u^3, where u is the unit
  /// roundoff of T, may be given as 0. Infinite if x is not finite.
  double backward_error = 0;
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SolveReport& report);

namespace compiled {

template <Scalar T> LuResult lu(const ExecutionSpace& space, const StridedMatrix<T>& A, const LuOptions& options);
template <Scalar T> std::vector<LuResult> lu_batched(const ExecutionSpace& space, const StridedBatch<T>& A);
template <Scalar T>
SolveReport solve(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<const T>& b,
                  const StridedVector<T>& x, const SolveOptions& options);
template <Scalar T>
void lu_solve(const ExecutionSpace& space, Operation op, const StridedMatrix<const T>& LU, const LuResult& result,
              const StridedVector<T>& x);
template <Scalar T>
double condition(const ExecutionSpace& space, const StridedMatrix<const T>& LU, const LuResult& result, double norm,
                 int norm_power);

}  // namespace compiled

/// Computes P A = L U in place for an m x n matrix A of any strides: L, unit lower triangular, is stored below the
/// diagonal, U on and above it.
///
/// Every element is a single exact inner product that is rounded once: u_ij = fl(a_ij - sum l_ik u_kj) for i <= j, and
/// l_ij = fl(fl(a_ij - sum l_ik u_kj) / u_jj) below the diagonal (complex quotients as in invscal()). So neither the
/// number of threads, nor the size of blocks, nor the backend changes a bit. With options.block = 1 it is the unblocked
/// left-looking algorithm of R. Iakymchuk, S. Graillat, D. Defour, E. Quintana-Orti, "Hierarchical approach for
/// deriving a reproducible unblocked LU factorization", 2019. The pivot of a step is the first of the largest elements,
/// by |x|, or by |real| + |imaginary| rounded once, also if that overflows. A number is always preferred to a NaN.
///
/// The factorization always completes; info > 0 says that a matrix is singular. Blocks. Cost: 11 flops for each of
/// about n^3 / 3 products (44 if complex), on GPUs 4 instructions (16), and more for elements that cancel. On GPUs it
/// needs 24 more bytes of memory per element (48 if complex), factors at most 128 columns together, and throws
/// Error(argument) for another algorithm than Algorithm::automatic.
template <class ViewA> LuResult lu(const ExecutionSpace& space, const ViewA& A, const LuOptions& options = {}) {
  return compiled::lu<typename ViewA::non_const_value_type>(space, strided(A), options);
}

/// Computes lu() of each matrix A(b, :, :) of a batch, in parallel; the factors and results are those of lu().
template <class ViewA> std::vector<LuResult> lu_batched(const ExecutionSpace& space, const ViewA& A) {
  static_assert(ViewA::rank() == 3, "exact: batch x rows x columns, please");
  return compiled::lu_batched<typename ViewA::non_const_value_type>(space, strided(A));
}

/// Computes x = op(A)^-1 x from the factors of A from lu(). Reproducible, as trsv() is. Throws Error(argument) for
/// shapes that don't fit, pivots that are not those of LU's order, and info > 0.
template <class ViewLU, class ViewX>
void lu_solve(const ExecutionSpace& space, Operation op, const ViewLU& LU, const LuResult& result, const ViewX& x) {
  using T = typename ViewX::non_const_value_type;
  compiled::lu_solve<T>(space, op, strided(LU), result, strided(x));
}

/// Solves A x = b by lu() and iterative refinement with exact residuals. Reproducible. A and b are not changed, and x
/// must not overlap b. Systems of denormal or huge numbers are refined like others, since residuals and corrections are
/// scaled by powers of two. Throws Error(argument) for shapes that don't fit.
template <class ViewA, class ViewB, class ViewX>
SolveReport solve(const ExecutionSpace& space, const ViewA& A, const ViewB& b, const ViewX& x,
                  const SolveOptions& options = {}) {
  using T = typename ViewX::non_const_value_type;
  return compiled::solve<T>(space, strided(A), strided(b), strided(x), options);
}

/// Returns an estimate of the condition number |A|_1 |A^-1|_1 from lu() of A and the norm |A|_1 = norm 2^norm_power;
/// norm_power allows norms beyond the range of a double. The estimate is from below, and seldom off by a factor of
/// three (N. Higham, "FORTRAN codes for estimating the one-norm", ACM TOMS 14, 1988).
///
/// It is never below 1, infinite if info > 0 or if it overflows, and a NaN if the factors have any. Its systems are
/// scaled by powers of two, so that matrices of denormal or huge numbers are treated like others. Only the factors of A
/// are used: if lu() rounded them to few bits, as it does denormal numbers, it is the condition of L U, which may
/// differ from A by n times the smallest number. Reproducible. Throws Error(argument) for norm <= 0 if info = 0, and as
/// lu_solve() does for an LU that is not square and for its pivots.
template <class ViewLU>
[[nodiscard]] double condition(const ExecutionSpace& space, const ViewLU& LU, const LuResult& result, double norm,
                               int norm_power = 0) {
  return compiled::condition<typename ViewLU::non_const_value_type>(space, strided(LU), result, norm, norm_power);
}

}  // namespace heddle::exact

// LU factorization with partial pivoting and the same bits everywhere, and systems solved with it.
#pragma once

#include <heddle/exact/matrix.hpp>

#include <vector>

namespace heddle::exact {

struct LuOptions {
  /// Columns factored together; 1: one after the other (the unblocked algorithm); 0: chosen. No bit depends on it.
  int block = 0;
};

/// What became of a factorization.
struct LuResult {
  /// pivots[k] = the row (from 0) that changed places with row k in step k.
  std::vector<Index> pivots;
  /// 0, or k + 1 where U(k, k) is the first that is exactly zero: then U is singular, and L's column k is as it was (as
  /// LAPACK's info).
  Index info = 0;
};

struct SolveOptions {
  LuOptions lu;
  /// Corrections at most; they end where the backward error is below a unit roundoff or stops halving.
  int refinements = 5;
};

struct SolveReport {
  Index info = 0;       ///< As LuResult's; x is not written where it is not 0.
  int refinements = 0;  ///< Corrections made.
  /// max |b - A x|_i / (|A| |x| + |b|)_i, of exact residuals that are rounded once. The range of T does not limit
  /// either of them, but an error below u^3, u the unit roundoff of T, may be given as 0. Infinite where x is not
  /// finite.
  double backward_error = 0;
};

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

/// P A = L U in place, m x n, any strides: L unit lower triangular below the diagonal, U on and above it.
///
/// Every element is a single exact inner product rounded once: u_ij = fl(a_ij - sum l_ik u_kj) for i <= j, and l_ij =
/// fl(fl(a_ij - sum l_ik u_kj) / u_jj) below (complex quotients as in invscal()). So neither the number of threads, nor
/// the size of blocks, nor the backend changes a bit (R. Iakymchuk, S. Graillat, D. Defour, E. Quintana-Orti,
/// "Hierarchical approach for deriving a reproducible unblocked LU factorization", 2019, whose unblocked left-looking
/// algorithm this is with options.block = 1). The pivot of a step is the first of the largest, by |x|, or |real| +
/// |imaginary| rounded once, also where that overflows. A NaN is never chosen before a number.
///
/// Never stops: singular matrices are told by info > 0. Blocks. Cost: 11 flops for each of about n^3 / 3 products (44
/// if complex), and more for elements that cancel; on GPUs 24 bytes of memory (48) an element besides.
template <class ViewA> LuResult lu(const ExecutionSpace& space, const ViewA& A, const LuOptions& options = {}) {
  return compiled::lu<typename ViewA::non_const_value_type>(space, strided(A), options);
}

/// The same for each A(b, :, :) of a batch, side by side; equal to lu() of each.
template <class ViewA> std::vector<LuResult> lu_batched(const ExecutionSpace& space, const ViewA& A) {
  static_assert(ViewA::rank() == 3, "exact: batch x rows x columns, please");
  return compiled::lu_batched<typename ViewA::non_const_value_type>(space, strided(A));
}

/// x = A^-1 x, or that of A^T or A^H, of what lu() left. Throws Error(argument) for shapes that don't fit and for
/// info > 0. Reproducible, as trsv().
template <class ViewLU, class ViewX>
void lu_solve(const ExecutionSpace& space, Operation op, const ViewLU& LU, const LuResult& result, const ViewX& x) {
  using T = typename ViewX::non_const_value_type;
  compiled::lu_solve<T>(space, op, strided(LU), result, strided(x));
}

/// Solves A x = b by lu() and iterative refinement with exact residuals. Reproducible; x must not overlap b. A and b
/// stay as they are. Systems of denormal or huge numbers are refined as others are: residuals and corrections have
/// powers of two taken out. Throws Error(argument) for shapes that don't fit.
template <class ViewA, class ViewB, class ViewX>
SolveReport solve(const ExecutionSpace& space, const ViewA& A, const ViewB& b, const ViewX& x,
                  const SolveOptions& options = {}) {
  using T = typename ViewX::non_const_value_type;
  return compiled::solve<T>(space, strided(A), strided(b), strided(x), options);
}

/// An estimate from below, seldom off by a factor of three, of |A|_1 |A^-1|_1, from lu() of A and |A|_1 = norm
/// 2^norm_power, whose power is for norms beyond a double (N. Higham, "FORTRAN codes for estimating the one-norm", ACM
/// TOMS 14, 1988); never below 1, infinite where info > 0 or where it overflows, a NaN where there are any. Its systems
/// are scaled by powers of two, so that matrices of denormal and of huge numbers have the conditions of others. What it
/// knows of A are the factors: where lu() rounded them to few bits, as denormal numbers have, it is the condition of
/// L U, which the smallest number times n may set apart from A. Reproducible. Throws Error(argument) for norm <= 0
/// where info = 0.
template <class ViewLU>
[[nodiscard]] double condition(const ExecutionSpace& space, const ViewLU& LU, const LuResult& result, double norm,
                               int norm_power = 0) {
  return compiled::condition<typename ViewLU::non_const_value_type>(space, strided(LU), result, norm, norm_power);
}

}  // namespace heddle::exact

// Linear systems over all ranks: solution, refinement with exact residuals, and condition numbers, determinants and
// inverses from the factors.
//
// Each function also takes Views of one rank's matrices, without a communicator and without a call of MPI. These
// overloads have the bits of the functions over ranks, block, and throw Error(argument) for the same arguments and for
// strides that are not those of a column-major matrix; a leading dimension may be any.
#pragma once

#include <heddle/core/triangle.hpp>
#include <heddle/solve/cholesky.hpp>
#include <heddle/solve/lu.hpp>

#include <iosfwd>
#include <limits>
#include <string_view>
#include <type_traits>

namespace heddle {

/// Factorization of a matrix: `lu` takes any, `cholesky` Hermitian positive definite ones, in half the time.
enum class SolveMethod { lu, cholesky };
[[nodiscard]] std::string_view to_string(SolveMethod method);

/// How the elements of a solution are rounded: `computed` takes what the arithmetic gives; with `correct` each element
/// is the number of T nearest to the exact solution, ties to even (of complex numbers each part).
enum class Rounding { computed, correct };
[[nodiscard]] std::string_view to_string(Rounding rounding);

/// Options of the solution of a linear system.
struct SolveOptions {
  SolveMethod method = SolveMethod::lu;
  /// Options of the factorization. The substitutions take the same arithmetic, block and group; the memory limit
  /// applies to the whole solution.
  FactorOptions factorization = {};
  /// Whether rows and columns of very different sizes, and matrices near the ends of T's range, are brought to sizes
  /// near one by powers of two before A is factored, as LAPACK's drivers do. Scaling changes no digit, only the choice
  /// of pivots, and keeps emulated products, whose errors are bounded by rows and columns, as accurate as native ones.
  /// Zeros can hide from the largest elements that a row or column was scaled. If the system seems ill-conditioned
  /// after this, powers from the mean exponents of rows and columns are tried; if these help, A is factored once more.
  bool equilibrate = true;
  /// Number of corrections by exact residuals: x is corrected by the solution for b - A x, whose elements are each
  /// rounded once (exact::gemv). One correction makes the backward error of each element small if the condition allows
  /// (R. Skeel 1980).
  int refinements = 1;
  /// Whether backward errors are computed, which takes an exact residual and a pass over A for each right-hand side.
  bool measure = true;
  /// Whether an error bound of X is proven: by an approximate inverse and its product with A, which take 4 n^3 flops
  /// more (16 n^3 complex) and three times A's memory.
  bool certificate = false;
  /// With `correct`, X is refined as an unevaluated sum of several T until a proven bound of its error decides how each
  /// element rounds (A. Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit",
  /// ACM TOMS 17, 1991). It takes what a certificate takes, and for each right-hand side a few exact products with A
  /// and its approximate inverse. If every element is proven (SolveReport::correctly_rounded), X has the same bits on
  /// any machine, for any number of ranks, and in any arithmetic or block of the factorization.
  Rounding rounding = Rounding::computed;
  /// Whether condition numbers are estimated, by some five systems with one right-hand side (at most eleven) and two
  /// passes over A; up to order 32 by the inverse. If A is scaled, by twice as many systems.
  bool condition = true;
};

/// Report of Rounding::correct for a matrix X of results.
struct RoundingReport {
  /// Whether every element of X is proven to be the nearest number.
  bool correctly_rounded = false;
  /// Number of elements of which that could not be proven: -1 if no bound of the errors could be proven, as for
  /// matrices whose scaled_condition is beyond some 1 / (n u), so that X is that of `computed`. Elements that are
  /// exactly zero, or half way between two numbers, are always decided if all elements of their column have few digits;
  /// otherwise by solutions modulo primes, which takes too long beyond an order of some 150 (small integers: 300).
  Index undecided = 0;
  Index undecided_row = -1;     ///< Row of the first of these, in the order of columns; -1 if there is none.
  Index undecided_column = -1;  ///< Its column.
  /// Proven bound of the distance between that element's exact value and the nearest point half way between two numbers
  /// of T, over the distance of these two numbers. NaN if there is none.
  double distance_to_tie = std::numeric_limits<double>::quiet_NaN();
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const RoundingReport& report);

/// Report of the solution of a linear system, with its errors.
struct SolveReport : RoundingReport {
  /// Report of the factorization; a Cholesky factorization reports no pivots and a growth of 1. X is not written if
  /// factorization.info is not 0.
  LuReport factorization;
  bool equilibrated = false;  ///< Whether rows and columns were scaled; growth and pivots are then those of the scaled
                              //< matrix.
  double seconds = 0.0;       ///< Time of the slowest rank for all of it, without backward errors and certificates.
  double memory_bytes = 0.0;  ///< solve_memory(), for the rank that needs most.
  /// max over right-hand sides of |b - A x| / (|A| |x| + |b|), in norms |.|_infinity. Residuals are exact but for one
  /// rounding each, and sizes may be beyond the range of T. NaN if it was not measured or a number is not finite.
  double normwise_error = std::numeric_limits<double>::quiet_NaN();
  /// The largest |b - A x|_i / (|A| |x| + |b|)_i, likewise.
  double componentwise_error = std::numeric_limits<double>::quiet_NaN();
  /// max |b - A x| / (|A| max(|x|, m) + |b|) / (n u), likewise, m being the smallest normal number: the measure of
  /// High-Performance Linpack, applied to normwise_error if x is not denormal. Numbers below m have no relative
  /// rounding error, so that the nearest solution may have a normwise_error of any size.
  double scaled_residual = std::numeric_limits<double>::quiet_NaN();
  /// Condition number |A|_1 |A^-1|_1 of A as given, estimated from below and seldom off by a factor of three; up to
  /// order 32 exact but for roundings of the factors. Infinite if it is beyond the range of double or A has no factors;
  /// NaN if SolveOptions::condition is false or A holds a NaN.
  double condition = std::numeric_limits<double>::quiet_NaN();
  /// Condition number, likewise, of A with rows and columns brought to one size as SolveOptions::equilibrate does,
  /// whether or not they were: the part that no choice of units improves. Relative errors of X, without refinement, are
  /// up to some n u times it in the norm in which columns have one size.
  double scaled_condition = std::numeric_limits<double>::quiet_NaN();
  /// Whether scaled_condition is above 1 / (n u), so that by the error bound no digit of X need be right, and no other
  /// evidence contradicts it: error_bound is not finite, and either scaled_condition is above 1 / u, A was scaled, or
  /// less than half of the digits stand, after as many refinements as were asked for, in the column of A^-1 with the
  /// largest norm, as its corrections by exact residuals show. (Random matrices of float beyond an order of some
  /// hundred exceed the bound, but keep their digits.)
  bool ill_conditioned = false;
  /// 0, or the first right-hand side, counted from 1, whose solution has elements beyond the range of T; these are
  /// infinite or NaN in X though A and b are finite.
  Index overflow = 0;
  /// If SolveOptions::certificate is set: proven bound of the largest |x - A^-1 b| / |x| over right-hand sides, in
  /// norms |.|_infinity; infinite if none could be proven, as for matrices whose scaled_condition is beyond some 1 / (n
  /// u). Otherwise NaN.
  double error_bound = std::numeric_limits<double>::quiet_NaN();
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SolveReport& report);

/// Solves op(M) X = B for a triangle of an n x n matrix M and n x k right-hand sides, k columns of X: on entry X holds
/// B, on return the solution. The other triangle, and a unit diagonal, are not read. A zero on the diagonal gives
/// infinities and NaNs, as in BLAS.
///
/// M and X may have any placement; an M in host memory stays there, and its groups of panels come to the devices in
/// turn. Bits: as LuPlan's, with the same options: emulated ones *reproducible*, native ones *rank-invariant*. Error:
/// that of substitution, componentwise |E| <= c n u |M|; the share of each emulated product is bounded by rows and
/// columns. Cost: n^2 k flops (4 n^2 k complex); n^2 / 2 elements travel to each rank that has right-hand sides; these
/// are dealt out in blocks of at least 64 columns. Blocks. Collective. Throws Error(argument), on every rank alike, for
/// shapes that don't fit.
template <Scalar T>
void trsm(const Communicator& comm, Triangle triangle, Operation op, Diagonal diagonal, const DistributedMatrix<T>& M,
          const DistributedMatrix<T>& X, const FactorOptions& options = {});
/// trsm() of one rank's matrices.
template <Scalar T>
void trsm(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal,
          const MatrixView<const std::type_identity_t<T>>& M, const MatrixView<T>& X,
          const FactorOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
void trsm(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal,
          const MatrixView<const std::type_identity_t<T>>& M, const Kokkos::View<T**, Properties...>& X,
          const FactorOptions& options = {}) {
  trsm<T>(space, triangle, op, diagonal, M, MatrixView<T>(X), options);
}

/// Computes X = op(A)^-1 X from the factors of A that lu() left in LU. Bits and cost: those of two trsm(). Throws
/// Error(argument), on every rank alike, for shapes that don't fit and if factors.info is not 0.
template <Scalar T>
void lu_solve(const Communicator& comm, Operation op, const DistributedMatrix<T>& LU, const LuReport& factors,
              const DistributedMatrix<T>& X, const FactorOptions& options = {});
/// lu_solve() of one rank's matrices.
template <Scalar T>
void lu_solve(const ExecutionSpace& space, Operation op, const MatrixView<const std::type_identity_t<T>>& LU,
              const LuReport& factors, const MatrixView<T>& X, const FactorOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
void lu_solve(const ExecutionSpace& space, Operation op, const MatrixView<const std::type_identity_t<T>>& LU,
              const LuReport& factors, const Kokkos::View<T**, Properties...>& X, const FactorOptions& options = {}) {
  lu_solve<T>(space, op, LU, factors, MatrixView<T>(X), options);
}

/// Solves A X = B by lu() or cholesky(), substitution and refinement with exact residuals. With SolveMethod::cholesky
/// both triangles of A must be set: the lower one is factored, residuals take all of A. A and B are not changed, and X
/// must not share elements with them. All may have any placement.
///
/// Bits: with SolveOptions::factorization.arithmetic emulated *reproducible*: X has the same bits on any machine, for
/// any number of ranks and threads. Natively *rank-invariant*. The reported errors have neither promise.
///
/// A right-hand side whose numbers would over- or underflow on their way is scaled by a power of two, and solved once
/// more, from smaller numbers, if a solution came out not finite. Solutions in the range of T are found, as far as
/// refinement finds numbers that are far smaller than others of their column.
///
/// Cost: 2/3 n^3 (by Cholesky 1/3 n^3) + 2 n^2 k flops, for each refinement 2 n^2 k more and k exact products with A,
/// and some 10 n^2 for condition numbers. Memory: two copies of A over the ranks, in A's memory, and the workspaces of
/// LuPlan and trsm(); for A in host memory solve_memory() returns the least that is enough on the devices. Blocks.
/// Collective. Throws Error(argument), on every rank alike, for shapes that don't fit, for negative numbers of
/// refinements, and if X shares an element with A or B. If A is exactly singular, or not positive definite,
/// SolveReport::factorization.info reports it and X is not written.
template <Scalar T>
SolveReport solve(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                  const DistributedMatrix<T>& X, const SolveOptions& options = {});
/// solve() of one rank's matrices.
template <Scalar T>
SolveReport solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& A,
                  const MatrixView<const std::type_identity_t<T>>& B, const MatrixView<T>& X,
                  const SolveOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
SolveReport solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& A,
                  const MatrixView<const std::type_identity_t<T>>& B, const Kokkos::View<T**, Properties...>& X,
                  const SolveOptions& options = {}) {
  return solve<T>(space, A, B, MatrixView<T>(X), options);
}

/// Report of an inversion. Growth, pivots and info are those of A with rows and columns brought to one size.
struct InverseReport : LuReport, RoundingReport {
  bool equilibrated = false;  ///< Whether rows and columns were scaled.
  /// As SolveReport::condition, but from the computed inverse.
  double condition = 0.0;
  double scaled_condition = 0.0;
  bool ill_conditioned = false;  ///< As SolveReport's, without refinement.
};
/// As above.
std::ostream& operator<<(std::ostream& out, const InverseReport& report);

/// Replaces A by its inverse, by lu() and substitution, without refinement. Rows and columns are brought to one size by
/// powers of two as solve() does; the devices must have room for this matrix, wherever A lies. If it is exactly
/// singular, the report's info says so and A is not changed. Bits: as solve(). Cost: 8/3 n^3 flops.
///
/// With Rounding::correct each element is rounded once from the exact inverse, ties to even, as solve() rounds
/// solutions, if that can be proven: for the computed inverse Z of A and E = I - A Z, elements of
///
///     A^-1 = Z (I + E + E^2 + ...)
///
/// are computed for all columns together in a multiple of the precision, with bounds of all errors. Zeros of triangular
/// and block triangular matrices are proven by their patterns, other zeros and ties modulo primes, unless that takes
/// too long (SolveReport::undecided). Bits: those of the exact inverse, on any machine, for any number of ranks and in
/// any arithmetic. Cost: some 60 n^3 flops for each step (240 n^3 complex): one for well-conditioned matrices of
/// double, two or three of float. Memory: 18 matrices of double more.
template <Scalar T>
InverseReport inverse(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options = {},
                      Rounding rounding = Rounding::computed);
/// inverse() of one rank's matrix.
template <Scalar T>
InverseReport inverse(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options = {},
                      Rounding rounding = Rounding::computed);
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
InverseReport inverse(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& A,
                      const FactorOptions& options = {}, Rounding rounding = Rounding::computed) {
  return inverse<T>(space, MatrixView<T>(A), options, rounding);
}

/// Return an estimate of the condition number |A|_1 |A^-1|_1 from |A|_1 and the factors of A that lu() left in LU. It
/// is from below, and seldom off by a factor of three (N. Higham, "FORTRAN codes for estimating the one-norm", ACM TOMS
/// 14, 1988), by some five systems with A or its conjugate transpose; up to order 32, by the inverse. |A^-1|_1 may be
/// beyond the range of T, up to some square of its largest number. Infinite if factors.info is not 0 or the result is
/// beyond the range of double, NaN if the factors have any; 0 for an empty matrix. Digits lost by a factorization
/// without scaling, of a matrix whose rows are of very different sizes, do not show: SolveReport::condition counts
/// them. Collective. Throws Error(argument), on every rank alike, if LU is not square, the pivots are not those of its
/// order, or the norm is negative.
template <Scalar T>
[[nodiscard]] double condition(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors,
                               double norm, const FactorOptions& options = {});
/// condition() of one rank's factors.
template <Scalar T>
[[nodiscard]] double condition(const ExecutionSpace& space, const MatrixView<T>& LU, const LuReport& factors,
                               double norm, const FactorOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
[[nodiscard]] double condition(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& LU,
                               const LuReport& factors, double norm, const FactorOptions& options = {}) {
  return condition<T>(space, MatrixView<T>(LU), factors, norm, options);
}

/// Determinant, mantissa 2^exponent, which may be beyond the range of T.
template <Scalar T> struct Determinant {
  T mantissa{};        ///< Mantissa, whose larger part is in [1/2, 1), or zero, infinite or NaN.
  Index exponent = 0;  ///< Exponent; 0 if the mantissa is zero, infinite or NaN.
  /// With Rounding::correct: whether it is proven that each part of the mantissa is the number of T nearest to the
  /// exact determinant times 2^-exponent, ties to even.
  bool correctly_rounded = false;
};

/// Return the determinant of A, which is not changed, from the factors of a copy whose rows and columns are brought to
/// one size by powers of two, as solve() does, so that no step over- or underflows; zero if one of their pivots is. Its
/// relative error is of order n u times the condition of that matrix. Memory: lu_memory() and A's. Bits: as solve().
/// Cost: 2/3 n^3 flops. Blocks. Collective. Throws Error(argument), on every rank alike, if A is not square.
///
/// With Rounding::correct each part of the mantissa is rounded once from the exact value, ties to even, if that can be
/// proven (Determinant::correctly_rounded); otherwise the determinant is the one above. For V = U^-1 L^-1, with
/// inverses so short that V and det V are exact, P A = L U,
///
///     det A = det P exp(tr E - tr E^2 / 2 + tr E^3 / 3 - ...) / det V,   E = V P A - I,
///
/// where E is computed in a multiple of the precision, and all errors, the remainder of the series among them, are
/// bounded (Rounding::correct of solve() has the source of the rounding test; long products are K. Ozaki's and others',
/// Numerical Algorithms 59, 2012). Zeros, ties and nearly singular matrices, with conditions from some 1 / (n u) of
/// double on, are computed modulo primes (Hadamard's bound tells how many), unless that takes too long: beyond orders
/// of some 280 of random numbers of double (complex: 230; small integers: 500). A row of zeros is always seen. The
/// small part of a complex determinant counts, too: if it is zero, primes prove that, or the elements are all real.
/// Bits: those of the exact determinant, on any machine, for any number of ranks and in any arithmetic. Cost: some 60
/// n^3 flops (240 n^3 complex), three times that if the first digits do not decide. Memory: 18 matrices of double more.
template <Scalar T>
[[nodiscard]] Determinant<T> determinant(const Communicator& comm, const DistributedMatrix<T>& A,
                                         const FactorOptions& options = {}, Rounding rounding = Rounding::computed);
/// determinant() of one rank's matrix.
template <Scalar T>
[[nodiscard]] Determinant<T> determinant(const ExecutionSpace& space, const MatrixView<T>& A,
                                         const FactorOptions& options = {}, Rounding rounding = Rounding::computed);
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
[[nodiscard]] Determinant<T> determinant(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& A,
                                         const FactorOptions& options = {}, Rounding rounding = Rounding::computed) {
  return determinant<T>(space, MatrixView<T>(A), options, rounding);
}

/// Return the determinant from the factors of A that lu() left in LU: the product of the diagonal in its order, each
/// product rounded once, with the sign of the interchanges; NaN if a diagonal element is. 1 for an empty matrix. Bits:
/// they follow from the factors alone. Collective. Throws Error(argument), on every rank alike, if LU is not square or
/// the pivots are not those of its order.
template <Scalar T>
[[nodiscard]] Determinant<T> determinant(const Communicator& comm, const DistributedMatrix<T>& LU,
                                         const LuReport& factors);
/// determinant() from one rank's factors.
template <Scalar T>
[[nodiscard]] Determinant<T> determinant(const ExecutionSpace& space, const MatrixView<T>& LU, const LuReport& factors);
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
[[nodiscard]] Determinant<T> determinant(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& LU,
                                         const LuReport& factors) {
  return determinant<T>(space, MatrixView<T>(LU), factors);
}

}  // namespace heddle

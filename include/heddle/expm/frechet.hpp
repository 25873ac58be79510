// The derivative of the exponential of a matrix in a direction, on one rank or many.
#pragma once

#include <heddle/expm/expm.hpp>

#include <functional>
#include <iosfwd>
#include <memory>

namespace heddle {

/// How a derivative of the exponential is computed.
struct ExpmFrechetOptions {
  /// Whether to compute the adjoint of the derivative: L(A^H, D) in place of L(A, D).
  bool adjoint = false;
  /// `paterson_stockmeyer` or `few_products`; `automatic` takes the cheaper of the two. Others are refused.
  ExpmMethod method = ExpmMethod::automatic;
  /// Bound of the relative backward errors, in exact arithmetic; see ExpmFrechetReport::backward_error. 0 stands for
  /// the unit round-off of T.
  double tolerance = 0.0;
  /// Number of real products that make one complex product, 3 or 4; see ExpmOptions.
  int complex_products = 3;
  /// Options of the matrix products; gemm.layers is always 1, and larger values are refused.
  GemmOptions gemm{};
  /// See ExpmOptions::progress.
  std::function<void(int done, int total)> progress{};
};

/// How a derivative was computed, how accurate it is, and how long it took.
struct ExpmFrechetReport {
  ExpmMethod method = ExpmMethod::automatic;  ///< `paterson_stockmeyer` or `few_products`.
  int degree = 0;                             ///< Degree of the polynomial up to which its terms are those of exp.
  int squarings = 0;                          ///< Number s of squarings: the polynomial is taken of A / 2^s.
  int products = 0;                           ///< Number of real matrix products in all.
  int probes = 0;                             ///< Number of emulated products whose factors were probed first.
  double norm1 = 0.0;                         ///< ||A||_1, or its bound ||Re A||_1 + ||Im A||_1.
  /// The number used in place of ||A||, after the shift, to choose degree and squarings. For all k > degree the
  /// derivative of A^k in any direction is at most k beta^(k-1) times as large as the direction, by the norms of powers
  /// and estimates of them.
  double beta = 0.0;
  /// The shift mu, by exp(A) = exp(mu) exp(A - mu I); 0 where a shift did not help.
  double shift_real = 0.0, shift_imaginary = 0.0;
  /// In exact arithmetic the result is L(A + X, D + Y), with ||X||_1 <= backward_error ||A||_1 and ||Y||_1 <=
  /// backward_error ||D||_1, provided that beta is a bound.
  double backward_error = 0.0;
  Index tile = 0;             ///< Tile of the matrix products.
  double seconds = 0.0;       ///< Time of the slowest rank, in seconds.
  double gemm_seconds = 0.0;  ///< The part of `seconds` spent in matrix products.
  double flops = 0.0;         ///< Flops of the products: 2 n^3 for each real one.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const ExpmFrechetReport& report);

/// The exponential E = exp(A) and its Fréchet derivative L(A, D) in the direction D, with workspace for repeated use
/// with matrices of one size.
///
/// L(A, D) is the limit of (exp(A + h D) - exp(A)) / h for h -> 0, or the integral over s from 0 to 1 of exp(s A) D
/// exp((1 - s) A). It is linear in D. Its adjoint is L(A^H, D): where a function of exp(A) has the gradient G at
/// exp(A), it has the gradient L(A^H, G) at A, in the inner product trace(X^H Y).
///
/// Matrices have any placements; the work is done in row bands over all ranks, as in ExpmPlan. D, E and L have A's
/// shape; E and L share storage with no other. Complex matrices are given in parts. A and D may lack one part, and D
/// both; it is then zero.
///
/// Errors: throws Error(argument), on every rank alike, for matrices that aren't square or don't fit and options that
/// are out of range; Error(computation) for infinity or NaN in A or D, and where exp(A), L(A, D) or an intermediate
/// result overflows. Blocks. Bits: rank-invariant for a fixed gemm.tile; reproducible with emulated products.
///
/// Method: scaling and squaring with the polynomials of ExpmPlan, where each product X Y takes two more, X' Y + X Y',
/// for its derivative. This is the exponential of [A D; 0 A], whose blocks are E and L, with 3 products of n x n
/// matrices in place of 8. The mean of the eigenvalues is subtracted from A where that makes it smaller; A is not
/// balanced. An A beyond 2^85 (float: 2^10) is halved before powers are computed, and halvings that the norms of powers
/// show to be unnecessary are undone. If A^2 = 0 or A^3 = 0, E and L are computed as finite series, without squarings.
/// Zeros of E stay zeros as in ExpmPlan. Rounding errors are about u cond ||L||, where cond is the condition number of
/// the derivative, which may be far larger than that of exp for non-normal A. For a triangular A the diagonals of E are
/// as ExpmPlan's.
///
/// Cost: 3 times the products of a general ExpmPlan, 2 n^3 flops each (complex: 3 or 4 of these). Memory of all ranks
/// together: A, D, E, L and about 18 matrices at most (twice that for complex ones).
///
/// Source: A. Al-Mohy, N. Higham, Computing the Fréchet derivative of the matrix exponential, with an application to
/// condition number estimation, SIAM J. Matrix Anal. Appl. 30 (2009); here with polynomials in place of Pade
/// approximants, and the norms of powers in place of ||A||, as in their algorithm of the same year for exp.
template <RealScalar T> class ExpmFrechetPlan {
 public:
  /// Makes a plan for matrices that are given to execute(). Collective.
  explicit ExpmFrechetPlan(const Communicator& comm, const ExpmFrechetOptions& options = {});
  ~ExpmFrechetPlan();
  ExpmFrechetPlan(ExpmFrechetPlan&&) noexcept;
  ExpmFrechetPlan& operator=(ExpmFrechetPlan&&) noexcept;

  /// Computes E = exp(A) and L = L(A, D), or L(A^H, D) with ExpmFrechetOptions::adjoint. Collective, blocks.
  ExpmFrechetReport execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& D, const DistributedMatrix<T>& E,
                            const DistributedMatrix<T>& L);
  /// The same without exp(A).
  ExpmFrechetReport execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                            const DistributedMatrix<T>& L);
  /// The same for complex matrices in parts. L has both parts; E has both or, if exp(A) is not wanted, none.
  ExpmFrechetReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& D, const SplitMatrix<T>& E,
                            const SplitMatrix<T>& L);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Computes L = L(A, D), or L(A^H, D), once, with a temporary plan, for T real or complex. Collective, blocks.
template <Scalar T>
ExpmFrechetReport expm_frechet(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                               const DistributedMatrix<T>& L, const ExpmFrechetOptions& options = {});
/// The same, with E = exp(A).
template <Scalar T>
ExpmFrechetReport expm_frechet(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                               const DistributedMatrix<T>& E, const DistributedMatrix<T>& L,
                               const ExpmFrechetOptions& options = {});

}  // namespace heddle

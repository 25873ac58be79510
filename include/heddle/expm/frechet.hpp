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
/// with matrices of one size. L(A, D) is the limit of (exp(A + h D) - exp(A)) / h for h -> 0, and linear in D. Its
/// adjoint is L(A^H, D): a function with the gradient G at exp(A) has the gradient L(A^H, G) at A (inner product
/// trace(X^H Y)).
///
/// - Shapes: all matrices are n x n, in any placements; E and L share storage with no other. Complex matrices come in
///   two parts: A may lack one, D both, which are then zero.
/// - Errors: throws Error(argument), on every rank alike, for shapes that do not fit and options out of range;
///   Error(computation) for NaN or infinity in A or D, and for any overflow.
/// - Bits: rank-invariant for a fixed gemm.tile; reproducible with emulated products. Blocking: collective, blocks.
/// - Accuracy: rounding errors are about u cond ||L||, where cond, of the derivative, may be far above exp's for
///   non-normal A. Zeros of E, and the diagonals of E for a triangular A, are as in ExpmPlan.
/// - Cost: 3 times the products of a general ExpmPlan, 2 n^3 flops each (complex: 3 or 4 of these). Memory of all ranks
///   together: A, D, E, L and about 18 matrices at most (complex: twice that).
/// - Source: A. Al-Mohy, N. Higham, SIAM J. Matrix Anal. Appl. 30 (2009); docs/notes/expm.md, section "Derivatives".
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

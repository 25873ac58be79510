// The phi functions of exponential integrators: of a matrix, and their products with vectors.
#pragma once

#include <heddle/expm/action.hpp>
#include <heddle/expm/expm.hpp>

#include <functional>
#include <iosfwd>
#include <span>

namespace heddle {

/// The largest k of phi_k that phi() and phi_action() take.
inline constexpr int largest_phi = 8;

/// How phi functions of a matrix are computed.
struct PhiOptions {
  /// Bound of the error of truncation of each phi_k of A / 2^s, relative to its smallest possible size; see
  /// PhiReport::error. 0 stands for the unit round-off of T.
  double tolerance = 0.0;
  /// The structure of A; ExpmStructure::skew_hermitian is treated as general.
  ExpmStructure structure = ExpmStructure::automatic;
  /// Number of real products that make one complex product, 3 or 4; see ExpmOptions.
  int complex_products = 3;
  /// Options of the matrix products; gemm.layers is always 1, and larger values are refused.
  GemmOptions gemm{};
  /// See ExpmOptions::progress.
  std::function<void(int done, int total)> progress{};
};

/// How phi functions were computed, how accurately, and how long it took.
struct PhiReport {
  ExpmStructure structure = ExpmStructure::general;  ///< The structure of A that was found or given.
  int degree = 0;                                    ///< Degree of the polynomial for the highest phi_k.
  int squarings = 0;                                 ///< Number s of doublings: the polynomial is taken of A / 2^s.
  int products = 0;                                  ///< Number of real matrix products in all.
  int probes = 0;                                    ///< Number of emulated products whose factors were probed first.
  double norm1 = 0.0;                                ///< ||A||_1, or its bound ||Re A||_1 + ||Im A||_1.
  /// The number used in place of ||A|| to choose degree and doublings, from the norms of powers.
  double alpha = 0.0;
  /// With theta = alpha / 2^s: k! exp(theta) times a bound of the norm of the truncation error of phi_k(A / 2^s), for
  /// each k.
  double error = 0.0;
  Index tile = 0;             ///< Tile of the matrix products.
  double seconds = 0.0;       ///< Time of the slowest rank, in seconds.
  double gemm_seconds = 0.0;  ///< The part of `seconds` spent in matrix products.
  double flops = 0.0;         ///< Flops of the products: 2 n^3 for each real one, half of that for a Hermitian one.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const PhiReport& report);

/// Computes phis[k] = phi_k(A) for k = 0 ... p, with p + 1 = phis.size() and 0 <= p <= 8: phi_0(z) = exp(z), phi_k(z) =
/// (phi_(k-1)(z) - 1 / (k-1)!) / z, so phi_k(z) = sum_j z^j / (j + k)!, also for singular A. T is real or complex.
///
/// - Shapes: A and all phis are n x n, in any placements; each of the phis has storage of its own.
/// - Errors: throws Error(argument), on every rank alike, for shapes that do not fit, 0 or more than 9 phis, phis that
///   share elements, and options out of range; Error(computation) for NaN or infinity in A, or any overflow.
/// - Bits: rank-invariant for a fixed gemm.tile; reproducible with emulated products. Blocking: collective, blocks.
/// - Cost: p products after a polynomial, and p + 1 for each doubling: 2 n^3 flops each (complex: 3 or 4 of these),
///   half for Hermitian A. Memory of all ranks together: A, the phis, and about p + 11 matrices (complex: twice that).
/// - Source: B. Skaflestad, W. Wright, Appl. Numer. Math. 59 (2009); docs/notes/expm.md, section "Phi functions".
template <Scalar T>
PhiReport phi(const Communicator& comm, const DistributedMatrix<T>& A, std::span<const DistributedMatrix<T>> phis,
              const PhiOptions& options = {});

/// Computes R = sum over k = 0 ... p of time^k phi_k(time A) b_k, with the vector b_k in column k of B, n x (p + 1), 0
/// <= p <= 8, and R n x 1, without any function of a matrix: one step of an exponential integrator. u(time) = R solves
/// u' = A u + b_1 + time b_2 + time^2 / 2 b_3 + ..., u(0) = b_0.
///
/// A is a DistributedMatrix in any placement, of elements of type T or, where T is complex, Real<T>; or an operator. B
/// and R are whole on every rank, column-major, and don't overlap. `options` are those of ExpmActionPlan with a general
/// structure, and without a spectrum and `chebyshev`: R is a part of the action of the exponential of the matrix [A W;
/// 0 J] of n + p rows, where W holds the vectors b_p ... b_1 times a power of two that brings ||W||_1 near 1, and J has
/// ones above the diagonal. Errors, blocking, bits and cost are ExpmActionPlan's for that matrix; so is the report,
/// except for `error`, which is relative to R.
///
/// Source: A. Al-Mohy, N. Higham, Computing the action of the matrix exponential, SIAM J. Sci. Comput. 33 (2011),
/// theorem 2.1 and section 5.
template <Scalar T, Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  phi_action(const Communicator& comm, std::complex<double> time, const DistributedMatrix<Element>& A,
             const MatrixView<const T>& B, const MatrixView<T>& R, const ExpmActionOptions& options = {});
/// The same for an A that is given by its products; `taylor`, and so `automatic`, needs apply_adjoint.
template <Scalar T>
ExpmActionReport phi_action(const Communicator& comm, std::complex<double> time, const ExpmActionOperator<T>& A,
                            const MatrixView<const T>& B, const MatrixView<T>& R,
                            const ExpmActionOptions& options = {});

}  // namespace heddle

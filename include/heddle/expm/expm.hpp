// The exponential of a square matrix.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>
#include <heddle/gemm/gemm.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace heddle {

enum class ExpmMethod {
  automatic,            ///< `chebyshev` for skew-Hermitian A, else the cheapest polynomial, by structure and tolerance.
  taylor,               ///< The truncated Taylor series of the given degree, term by term: a_k = (1/k) A a_{k-1}.
  paterson_stockmeyer,  ///< Scaling and squaring of a Taylor polynomial evaluated as Paterson and Stockmeyer do.
  few_products,         ///< The same of polynomials of degree 8, 15 and 21 by 3, 4 and 5 products.
  pade,                 ///< The same of Pade approximants 3, 5, 7, 9 or 13, which end in a linear system.
  chebyshev,            ///< cos and sin of i A by Chebyshev polynomials in A^2; skew-Hermitian A alone.
};
/// "automatic", "taylor", "paterson-stockmeyer", "few-products", "pade", "chebyshev".
[[nodiscard]] std::string_view to_string(ExpmMethod method);
/// Throws Error(argument) for an unknown name.
[[nodiscard]] ExpmMethod expm_method_from(std::string_view text);

/// What A is known to be. One that is taken at the caller's word must be so to the last bit.
enum class ExpmStructure {
  automatic,       ///< Found out by one pass over A.
  general,         ///< Nothing is known, and nothing looked for.
  hermitian,       ///< A^H = A; symmetric where A is real.
  skew_hermitian,  ///< A^H = -A, as -i H is with Hermitian H.
};
/// "automatic", "general", "hermitian", "skew-hermitian".
[[nodiscard]] std::string_view to_string(ExpmStructure structure);
/// Throws Error(argument) for an unknown name.
[[nodiscard]] ExpmStructure expm_structure_from(std::string_view text);

struct ExpmOptions {
  ExpmMethod method = ExpmMethod::automatic;
  /// Degree of `taylor`; the others ignore it.
  int degree = 10;
  /// Bound on the relative backward error (in the 1-norm, exact arithmetic) of all but `taylor`. 0: unit round-off of
  /// T.
  double tolerance = 0.0;
  ExpmStructure structure = ExpmStructure::automatic;
  /// Balance A first: exp(A) = D exp(D^-1 A D) D^-1, D a diagonal of powers of two. For badly scaled A; it may hurt
  /// where the scaling is meant. Hermitian and skew-Hermitian A are balanced already. Without it A is balanced all the
  /// same where ||A||_1 is beyond 2^128 (float: 2^16) and falls to its root or less, which saves squarings and their
  /// errors. Never to a norm below 1, where what is neglected might be large when D is taken off again.
  bool balance = false;
  /// Also compute ||exp(A) - exp(A/2)^2||_1 / ||exp(A)||_1, at the cost of a second exponential.
  bool residual = false;
  /// Also prove how far the result is from exp(A): ExpmReport::certificate. See "Certificate" at ExpmPlan for what it
  /// takes, which is more than the exponential itself.
  bool certificate = false;
  /// Real products for one complex product: 3 (default) or 4. Three cost a quarter less; the error of the imaginary
  /// part is then bounded by the size of the whole product, not of the part itself.
  int complex_products = 3;
  /// gemm.tile also cuts the products that are known to be Hermitian: those off the diagonal are computed by half. 0
  /// takes a quarter of the matrix for these. Of gemm.emulation, `look` says whether the factors of emulated products
  /// may be probed: those of Hermitian, skew-Hermitian and evenly scaled matrices never are, as errors count by norms
  /// there; see ExpmPlan.
  GemmOptions gemm{};
  /// Called on every rank after each product: done, and the total so far expected, which falls where powers of A turn
  /// out smaller than ||A||_1 says; the last call may then be short of it.
  std::function<void(int done, int total)> progress{};
};

struct ExpmReport {
  ExpmMethod method = ExpmMethod::automatic;         ///< The one taken; `automatic` where exp(A) took no product.
  ExpmStructure structure = ExpmStructure::general;  ///< The one found or given.
  int degree = 0;        ///< Of the polynomial: its terms that are exp's own. `pade`: m of [m/m]. `chebyshev`: of exp.
  int squarings = 0;     ///< s: the polynomial is taken of A / 2^s.
  int quintuplings = 0;  ///< f: of A / (2^s 5^f) rather; `chebyshev` alone takes such steps.
  /// Matrix products in all, each of a complex product's 3 or 4 (or fewer, parts being zero) counted.
  int products = 0;
  int probes = 0;      ///< Emulated products whose factors were probed first, because they were badly scaled.
  double norm1 = 0.0;  ///< ||A||_1; for split matrices the bound ||Re A||_1 + ||Im A||_1.
  /// What stood for ||A|| (less its shift) in the choice of degree and squarings: ||A^k||_1 <= alpha^k for all k >
  /// degree, from powers' norms and estimates of them; `chebyshev`: a bound of ||A||_2, from powers' norms and Lanczos
  /// steps.
  double alpha = 0.0;
  double shift_real = 0.0, shift_imaginary = 0.0;  ///< mu: exp(A) = exp(mu) exp(A - mu I); 0 where it did not help.
  double backward_error = 0.0;                     ///< Bound, in exact arithmetic and as far as alpha is one.
  bool balanced = false;                           ///< Whether balancing changed A.
  std::optional<double> residual;
  /// Upper bound of ||E - exp(A)||_1 / ||exp(A)||_1 for the E that was returned; infinity where none was found.
  std::optional<double> certificate;
  double certificate_seconds = 0.0;  ///< What it took, on the slowest rank; not part of `seconds`.
  Index tile = 0;
  double seconds = 0.0;       ///< Slowest rank's.
  double gemm_seconds = 0.0;  ///< Of these, in products.
  double flops = 0.0;         ///< 2 n^3 a real product, half of it where the result is known to be Hermitian.
};

/// The bound that a certificate has to keep where none is asked for: 1e3 n u max(1, ||A||_1), u the unit round-off of
/// T, but never above 1e-6 in double and 1e-2 in float.
template <RealScalar T> [[nodiscard]] double expm_certificate_tolerance(Index n, double norm1);

/// E = exp(A) with its workspace, for repeated use with matrices of one size.
///
/// Real A in DistributedMatrix<T>; complex A as separate real and imaginary parts, which may live on different ranks. A
/// part that is left out, or found to be exactly zero, costs no product: for A = -i H, H real, the terms of the series
/// alternate between real and imaginary and each costs one real product.
///
/// Any placements: the work is done in row bands over all ranks, A and E are redistributed where they are not.
/// The first execute() allocates the workspace, later ones nothing but vectors, a few numbers a row, and what
/// redistributions need. Emulated products on one rank also keep the residues of two to four matrices (14 bytes an
/// element each, of double). A stays on the device: the host sees norms (n numbers), no matrix.
///
/// Throws Error(argument), on every rank alike, for matrices that aren't square or don't fit, a degree < 1, a negative
/// tolerance, `chebyshev` for an A that isn't skew-Hermitian; Error(computation) for Inf or NaN in A, or an exponential
/// that overflows. Blocks. Bits: rank-invariant at a fixed gemm.tile (degree and scaling follow from norms summed
/// exactly).
///
/// Exact: exp of zero and diagonal A to the library's exp; zeros of block diagonal and triangular A stay zeros, and a
/// triangular one's diagonals are exp(a_ii) and its divided differences (found, not with `structure` given as general);
/// nilpotent A ends its own series. exp of a Hermitian A is Hermitian to the bit by all methods but `taylor` and
/// `pade`, and so are both parts of exp(-i H) symmetric for real symmetric H.
///
/// Emulated products have errors relative to |row|_2 |column|_2 (see EmulatedGemm), those of a BLAS to sum_k |x_ik
/// y_kj|, which no D^-1 X D changes. For Hermitian and skew-Hermitian A norms are as good, and for A whose rows and
/// columns have largest elements within 2^10 of one another, and that no scaling would make much smaller, which is
/// found out by passes over A and its powers, of exponents alone. Factors of other products are scaled to suit each
/// other, and probed (EmulationOptions::look): more moduli, exact products or, with Arithmetic::automatic, native
/// ones make up for what scaling does not mend. So emulated exponentials are as accurate as native ones, whatever A is;
/// ExpmReport::probes tells how many products took a probe.
///
/// How much of A there is to compute is measured as powers are made: each that the scheme of the moment needs, and
/// estimates of some that it does not, and the cheapest scheme that uses those made so far takes its place. Where
/// ||A^k||_1 is far below ||A||_1^k, as for random, non-normal or nilpotent matrices, much is saved; where it is not,
/// no product is lost. A mean of the eigenvalues, trace(A) / n, is taken off where that makes ||A||_1 smaller.
///
/// Products for ||A||, or what stands for it, up to theta, at the unit round-off of double; one more doubles theta:
///
///   few_products       products   1      2      3       4      5
///                      theta      3e-8   3e-4   0.0499  0.676  1.758
///   chebyshev          products   2      3      4      5     6      7     8     9     10    11    12
///                      theta      4e-4   0.012  0.070  0.21  0.834  1.96  3.50  5.33  8.49  12.0  14.4
///
/// those of `chebyshev` being real products for A = -i H with H real, by half each (complex ones for complex H); two of
/// them double theta, four make it five times as large (real H only, twice at most, as errors near angles of 0 grow by
/// 13 in each); they count ||A||_2. A tolerance of 1e-6 takes 3 and 4 products to 0.8 and 2.8, 4 and 6 to 1.27 and 4.9
/// of `chebyshev`. The tables are computed, from the error bounds, for the tolerance asked.
///
/// Cost: 2 n^3 flops a product, n^3 of one that is Hermitian; two passes and two waits for the device a power measured;
/// `pade`: 8/3 n^3 (complex: 4 times that) more for the linear system. Memory, all ranks together: A, E and about 9
/// matrices at most (twice that for complex). Sources: series term by term: Y. R. Choi, V. Stegailov (2023).
/// Evaluation: M. Paterson, L. Stockmeyer (1973); J. Sastre, J. Ibanez, E. Defez (2019), P. Bader, S. Blanes, F. Casas
/// (2019); in Chebyshev polynomials for skew-Hermitian A: P. Bader, S. Blanes, M. Seydaoglu (2021, arXiv 2103.10132),
/// here with cos and sin apart, as M. Seydaoglu, P. Bader, S. Blanes, F. Casas (2020, arXiv 2010.00465) have it.
/// Backward error and scaling: N. Higham, Functions of Matrices (2008), 10.3; by norms of powers: A. Al-Mohy, N. Higham
/// (2009), theorem 4.2, with all powers known instead of two; estimates: N. Higham, F. Tisseur (2000). Three products:
/// N. Higham (1992).
///
/// Certificate: with ExpmOptions::certificate the report has an upper bound of ||E - exp(A)||_1 / ||exp(A)||_1, for A
/// and E to the last bit as they are in the caller's matrices, and with every truncation and rounding counted. Nothing
/// of how E was computed goes into it: exp(A) is computed anew, of the matrix balanced by powers of two, by a Taylor
/// polynomial and squarings in fixed-point numbers of K limbs of 16 to 24 bits, whose products are exact as native
/// products of doubles (no sum of theirs reaches 2^53), and whose other errors are bounded step by step. K is made
/// larger, and the exponential computed again, until the proof itself adds less than 4 n u to the bound, or a tenth
/// of the distance found; it is at most 40 to n = 512, 20 to n = 2048 and 12 beyond. So the bound is at most 1.2 times
/// the true error plus 5 n u wherever K suffices: for every well-conditioned exponential at any norm, and far beyond
/// that for small matrices; elsewhere it is larger, or infinity. Bits: for one A and E the same on any number of
/// ranks. Errors are relative to the whole matrix: elements far below the norm of exp(A) may be wrong. Cost: 6 to 9
/// products in the polynomial and one for each of log2(2 ||A||) squarings, or a few more, of K (K + 1) / 2 native
/// products of doubles each (complex: 4 times as many), also where E is of float. K is 3 or 4 for float, 4 or 5 for
/// double at moderate norms, and grows by a limb for every 20 squarings, or what is lost to cancellation. Memory: about
/// 9 K + 6 matrices of doubles (complex: twice as many), given back afterwards.
template <RealScalar T> class ExpmPlan {
 public:
  explicit ExpmPlan(const Communicator& comm, const ExpmOptions& options = {});
  ~ExpmPlan();
  ExpmPlan(ExpmPlan&&) noexcept;
  ExpmPlan& operator=(ExpmPlan&&) noexcept;

  /// E has A's shape and any placement; it may not share storage with A.
  ExpmReport execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& E);
  /// E has both parts. A has at least one.
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& E);
  /// The same where the caller also has parts of A in column bands over all ranks (Placement::column_bands), as a
  /// symmetric matrix is cheaply made twice: the exchange that would bring A there is left out.
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A, const SplitMatrix<T>& E);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// E = exp(A), planned and executed once; T real or complex.
template <Scalar T>
ExpmReport expm(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& E,
                const ExpmOptions& options = {});

}  // namespace heddle

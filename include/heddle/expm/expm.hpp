// The exponential of a square matrix, on one rank or many.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>
#include <heddle/gemm/gemm.hpp>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle {

/// How the exponential of a matrix is computed.
enum class ExpmMethod {
  /// `chebyshev` for skew-Hermitian A; for all others the cheapest polynomial, given the structure of A and the
  /// tolerance.
  automatic,
  taylor,               ///< The Taylor series up to ExpmOptions::degree, term by term: a_k = (1/k) A a_{k-1}.
  paterson_stockmeyer,  ///< Scaling and squaring with Taylor polynomials, evaluated as Paterson and Stockmeyer do.
  few_products,  ///< Scaling and squaring with polynomials of degree 8, 15 and 21, which take 3, 4 and 5 products.
  pade,  ///< Scaling and squaring with the Pade approximants [m/m], m = 3, 5, 7, 9 or 13, which end in a linear system.
  chebyshev,  ///< cos and sin of i A by Chebyshev polynomials in A^2, for skew-Hermitian A alone.
};
/// The name of a method: "automatic", "taylor", "paterson-stockmeyer", "few-products", "pade" or "chebyshev".
[[nodiscard]] std::string_view to_string(ExpmMethod method);
/// The method with this name. Throws Error(argument) for any other text.
[[nodiscard]] ExpmMethod expm_method_from(std::string_view text);

/// The structure of A. A structure that the caller gives is not checked, and A must have it exactly, to the last bit.
enum class ExpmStructure {
  automatic,       ///< The library finds the structure by one pass over A.
  general,         ///< No structure is known, and none is looked for.
  hermitian,       ///< A^H = A; symmetric where A is real.
  skew_hermitian,  ///< A^H = -A, as -i H is with Hermitian H.
};
/// The name of a structure: "automatic", "general", "hermitian" or "skew-hermitian".
[[nodiscard]] std::string_view to_string(ExpmStructure structure);
/// The structure with this name. Throws Error(argument) for any other text.
[[nodiscard]] ExpmStructure expm_structure_from(std::string_view text);

/// The highest degree of a series. If no ||A^k|| is above r^k and exp(r) does not overflow, terms beyond degree 2600
/// are below the smallest double; the rest is room for powers that decay late.
inline constexpr int most_taylor_degree = 10000;

/// How an exponential is computed, and what else is computed with it.
struct ExpmOptions {
  ExpmMethod method = ExpmMethod::automatic;  ///< How exp(A) is computed.
  /// Degree of the series of method `taylor`, 1 to most_taylor_degree; the other methods ignore it.
  int degree = 10;
  /// Bound of the relative backward error in the 1-norm, in exact arithmetic, of all methods but `taylor`. 0 stands for
  /// the unit round-off of T. Method `chebyshev` also stops where its error is below the unit round-off times
  /// ||exp(A)||.
  double tolerance = 0.0;
  ExpmStructure structure = ExpmStructure::automatic;  ///< The structure of A.
  /// Whether A is balanced first: exp(A) = D exp(D^-1 A D) D^-1, where D is a diagonal of powers of two. This helps for
  /// badly scaled A, and may hurt if the scaling is intended. Hermitian and skew-Hermitian A are balanced already. With
  /// false, A is balanced all the same where ||A||_1 is beyond 2^128 (float: 2^16) and balancing brings it down to its
  /// square root or less, which saves squarings and their errors. In that case balancing also reduces elements that
  /// belong to no cycle, such as the element of [0 1e300; 0 0]. A is never balanced to a norm below 1, since the terms
  /// that the polynomial neglects might be large once D is undone.
  bool balance = false;
  /// Whether the report also has ||exp(A) - exp(A/2)^2||_1 / ||exp(A)||_1, at the cost of a second exponential.
  bool residual = false;
  /// Whether ExpmReport::certificate also has a proven bound of how far the result is from exp(A). It takes more work
  /// than the exponential itself; see "Certificate" at ExpmPlan.
  bool certificate = false;
  /// Whether ExpmReport::terms has the terms of the series, for method `taylor` alone. It takes a pass and three waits
  /// for the device for each part of a term.
  bool terms = false;
  /// Number of real products that make one complex product: 3 (the default) or 4. Three cost a quarter less, but the
  /// error of the imaginary part is then bounded by the size of the whole product and not of the imaginary part itself.
  int complex_products = 3;
  /// Options of the matrix products. gemm.tile also tiles the products that are known to be Hermitian, of whose tiles
  /// off the diagonal only half are computed; for these gemm.tile = 0 stands for a quarter of the matrix.
  /// gemm.emulation.look says whether the factors of emulated products may be probed. Factors that are Hermitian,
  /// skew-Hermitian or evenly scaled are never probed, since their errors are relative to norms; see ExpmPlan.
  /// gemm.layers is always 1, and larger values are refused.
  GemmOptions gemm{};
  /// Called on every rank after each product, with the number of products done and the total expected so far. The total
  /// decreases if powers of A turn out smaller than ||A||_1 suggests; the last call may then have done < total.
  std::function<void(int done, int total)> progress{};
};

/// The term A^k / k! of a Taylor series, as it was computed.
struct ExpmTerm {
  double norm1 = 0.0;  ///< ||A^k / k!||_1, in the sense of ExpmReport::norm1.
  /// The trace of the term. Sums of traces show how the partial sums oscillate before they converge.
  double trace_real = 0.0, trace_imaginary = 0.0;
};

/// How an exponential was computed, how accurate it is, and how long it took.
struct ExpmReport {
  ExpmMethod method = ExpmMethod::automatic;  ///< The method that was used; `automatic` where exp(A) took no product.
  ExpmStructure structure = ExpmStructure::general;  ///< The structure of A that was found or given.
  /// Degree of the polynomial up to which its terms are those of exp; for `pade` the m of [m/m], for `chebyshev` the
  /// degree for exp.
  int degree = 0;
  int squarings = 0;  ///< Number s of squarings: the polynomial is taken of A / 2^s.
  /// Number f of fifth powers: `chebyshev` may take the polynomial of A / (2^s 5^f); 0 for all other methods.
  int quintuplings = 0;
  /// Number of matrix products in all. A complex product counts as its 3 or 4 real ones, or fewer where parts are zero.
  int products = 0;
  int probes = 0;      ///< Number of emulated products whose factors were probed first, because they were badly scaled.
  double norm1 = 0.0;  ///< ||A||_1; for split matrices its bound ||Re A||_1 + ||Im A||_1.
  /// The number used in place of ||A||, after the shift, to choose degree and squarings: ||A^k||_1 <= alpha^k for all k
  /// > degree, from the norms of powers and estimates of them. For `chebyshev` it is a bound of ||A||_2, from the norms
  /// of powers and Lanczos steps.
  double alpha = 0.0;
  /// The shift mu, by exp(A) = exp(mu) exp(A - mu I); 0 where a shift did not help.
  double shift_real = 0.0, shift_imaginary = 0.0;
  /// Bound of the relative backward error, in exact arithmetic, provided that alpha is a bound.
  double backward_error = 0.0;
  bool balanced = false;  ///< Whether balancing changed A.
  /// ||exp(A) - exp(A/2)^2||_1 / ||exp(A)||_1; empty unless ExpmOptions::residual asked for it.
  std::optional<double> residual;
  /// Proven upper bound of ||E - exp(A)||_1 / ||exp(A)||_1 for the E that was returned; infinity if no bound was found,
  /// empty unless ExpmOptions::certificate asked for it.
  std::optional<double> certificate;
  /// The terms of the series of method `taylor`, from the identity (k = 0) on; empty unless ExpmOptions::terms asked
  /// for them. If the largest exceeds ||exp(A)|| by a factor 10^d, their sum loses d digits. Bits: norms and traces
  /// depend on the number of ranks.
  std::vector<ExpmTerm> terms;
  double certificate_seconds = 0.0;  ///< Seconds that the certificate took on the slowest rank; not part of `seconds`.
  Index tile = 0;                    ///< Tile of the matrix products.
  double seconds = 0.0;              ///< Time of the slowest rank, in seconds.
  double gemm_seconds = 0.0;         ///< The part of `seconds` spent in matrix products.
  /// Flops of the products: 2 n^3 for each real one, half of that where the result is known to be Hermitian.
  double flops = 0.0;
};
/// Write the fields but the terms as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const ExpmReport& report);

/// The default bound for a certificate: 1e3 n u max(1, ||A||_1) with the unit round-off u of T, but never above 1e-6 in
/// double and 1e-2 in float. norm1 is ||A||_1.
template <RealScalar T> [[nodiscard]] double expm_certificate_tolerance(Index n, double norm1);

/// The exponential E = exp(A) with its workspace, for repeated use with matrices of one size.
///
/// A real A is given as a DistributedMatrix<T>; a complex A as separate real and imaginary parts, which may live on
/// different ranks. A part that is left out, or found to be exactly zero, costs no product. For A = -i H with real H,
/// the terms of the series are alternately real and imaginary, and each costs one real product.
///
/// A and E may have any placements: the work is done in row bands over all ranks, and A and E are redistributed where
/// they are not in row bands. The first execute() allocates the workspace; later ones allocate nothing but vectors, a
/// few numbers per row, and the buffers of redistributions. Emulated products on one rank also keep the residues of two
/// to four matrices (14 bytes an element each, for double). A stays on the device: the host sees norms (n numbers), but
/// no matrix.
///
/// Errors: throws Error(argument), on every rank alike, for matrices that aren't square or don't fit, a degree out of
/// range, a negative tolerance, `terms` of another method than `taylor`, and `chebyshev` for an A that isn't
/// skew-Hermitian. Throws Error(computation) for infinity or NaN in A, or an exponential that overflows. Blocks. Bits:
/// rank-invariant for a fixed gemm.tile (degree and scaling follow from norms that are summed exactly).
///
/// Exactness: the exponential of a zero or diagonal A is exact up to the exp() of the library. With every method
/// exp(A)_ij is exactly zero if no path of nonzero elements of A leads from i to j: zeros of diagonal, triangular,
/// block diagonal and block triangular A stay zeros, with its indices in any order. (`pade` solves for A in an order in
/// which it is block upper triangular, so that pivots mix no two blocks.) The diagonal of a triangular A becomes
/// exp(a_ii), and the adjacent diagonal the divided differences; triangles are detected, except where `structure` is
/// given as general. The zeros of a Hessenberg A do not stay. The exponential of a Hermitian A is Hermitian to the last
/// bit by all methods but `taylor` and `pade`, and so are both parts of exp(-i H) symmetric for real symmetric H.
///
/// Emulated products have errors relative to |row|_2 |column|_2 (see EmulatedGemm), those of a BLAS relative to sum_k
/// |x_ik y_kj|, which no scaling D^-1 X D changes. Errors relative to norms are as good for Hermitian and
/// skew-Hermitian A. They are as good too for an A whose rows and columns have largest elements within 2^10 of one
/// another and which no scaling would make much smaller; passes over the exponents of A and its powers detect this. The
/// factors of all other products are scaled to suit each other and probed (EmulationOptions::look), and more moduli,
/// exact products or, with Arithmetic::automatic, native ones make up for what scaling does not repair. So emulated
/// exponentials are as accurate as native ones, whatever A is. ExpmReport::probes tells how many products took a probe.
///
/// Nilpotent A: if A^k = 0 as computed for a k <= 6, because nothing was rounded or by structure, E is I + A + ... +
/// A^(k-1) / (k-1)!, each power by itself, without squarings and at any norm; the method `pade` then reports
/// `paterson_stockmeyer`. If ||A||_1 is far above alpha, squarings and factors that are sums of powers lose about
/// log2(||A||_1 / alpha) bits: when that may be more than a quarter of those of T, and more than `tolerance` can spare,
/// `automatic` and `paterson_stockmeyer` take the polynomial with the fewest squarings, and not the cheapest one.
///
/// The work that A needs is determined as powers of A are computed, from the norm of each power that the current scheme
/// needs and estimates of some that it does not. The cheapest scheme that uses the available powers then replaces the
/// current one. On GPUs native products of up to 2048 rows are faster than estimates, which are then made for more than
/// two squarings only. If ||A^k||_1 is far below ||A||_1^k, as for random, non-normal or nilpotent matrices, this saves
/// much; otherwise no product is wasted. An A of a norm beyond 2^85 (float: 2^10) is halved before powers are made, so
/// that they stay in range; halvings that the norms then show to be unnecessary are undone. The mean of the
/// eigenvalues, trace(A) / n, is subtracted from A where that makes ||A||_1 smaller.
///
/// Number of products for ||A||, or alpha in its place, up to theta, at the unit round-off of double; one more product
/// doubles theta:
///
///   few_products       products   1      2      3       4      5
///                      theta      3e-8   3e-4   0.0499  0.676  1.758
///   chebyshev          products   2      3      4      5     6      7     8     9     10    11    12
///                      theta      4e-4   0.012  0.070  0.21  0.834  1.96  3.50  5.33  8.49  12.0  14.4
///
/// The products of `chebyshev` are real products for A = -i H with real H, only half of each being computed, and
/// complex ones for complex H; its theta counts ||A||_2. Two more of them double theta; four more make it five times as
/// large, for real H only and twice at most, since errors near angles of 0 grow by 13 each time. A tolerance of 1e-6
/// takes 3 and 4 products up to theta 0.8 and 2.8, and 4 and 6 products of `chebyshev` up to 1.27 and 4.9. The tables
/// are computed from the error bounds for the tolerance that is asked for.
///
/// Cost: 2 n^3 flops for each product, or n^3 for one that is Hermitian, and two passes and two waits for the device
/// for each power that is measured. `pade` takes 8/3 n^3 flops more for its linear system (4 times that for complex A).
/// Memory of all ranks together: A, E and about 9 matrices at most (twice that for complex A).
///
/// Sources: the series term by term: Y. R. Choi, V. Stegailov (2023). Evaluation of polynomials: M. Paterson, L.
/// Stockmeyer (1973); J. Sastre, J. Ibanez, E. Defez (2019); P. Bader, S. Blanes, F. Casas (2019). Chebyshev
/// polynomials for skew-Hermitian A: P. Bader, S. Blanes, M. Seydaoglu (2021, arXiv 2103.10132), here with cos and sin
/// evaluated separately, as in M. Seydaoglu, P. Bader, S. Blanes, F. Casas (2020, arXiv 2010.00465). Backward error and
/// scaling: N. Higham, Functions of Matrices (2008), 10.3. Scaling by the norms of powers: A. Al-Mohy, N. Higham
/// (2009), theorem 4.2, with all powers known instead of two. Estimates of norms: N. Higham, F. Tisseur (2000). Three
/// products for a complex one: N. Higham (1992).
///
/// Certificate: with ExpmOptions::certificate the report has an upper bound of ||E - exp(A)||_1 / ||exp(A)||_1. It is a
/// bound for A and E exactly as they are in the caller's matrices, to the last bit, with every truncation and rounding
/// counted, and does not depend on how E was computed. exp(A) is computed again, for the matrix balanced by powers of
/// two, by a Taylor polynomial and squarings in fixed-point numbers of K limbs of 16 to 24 bits. The products of these
/// limbs are exact in native double arithmetic (no sum of theirs reaches 2^53), and all other errors are bounded step
/// by step. K is made larger, and the exponential computed again, until the proof itself adds less than 4 n u, or a
/// tenth of the distance found, to the bound. K is at most 40 up to n = 512, 20 up to n = 2048 and 12 beyond. So the
/// bound is at most 1.2 times the true error plus 5 n u wherever K suffices: for every well-conditioned exponential at
/// any norm, and far beyond that for small matrices. Elsewhere it is larger, or infinity. Bits: for one A and E the
/// bound is the same on any number of ranks. The bound is relative to the whole matrix: elements far below the norm of
/// exp(A) may be wrong. Cost: 6 to 9 products in the polynomial and one for each of log2(2 ||A||) squarings, or a few
/// more. Each of these takes K (K + 1) / 2 native products of doubles (complex: 4 times as many), also where E is of
/// float. K is 3 or 4 for float and 4 or 5 for double at moderate norms; it grows by a limb for every 20 squarings, and
/// by the bits lost to cancellation. Memory: about 9 K + 6 matrices of doubles (complex: twice as many), released
/// afterwards.
template <RealScalar T> class ExpmPlan {
 public:
  /// Makes a plan for matrices that are given to execute(). Collective.
  explicit ExpmPlan(const Communicator& comm, const ExpmOptions& options = {});
  ~ExpmPlan();
  ExpmPlan(ExpmPlan&&) noexcept;
  ExpmPlan& operator=(ExpmPlan&&) noexcept;

  /// Computes E = exp(A) for real A. E has A's shape and any placement; it must not share storage with A.
  ExpmReport execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& E);
  /// Computes E = exp(A) for complex A in parts. E has both parts, A at least one.
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& E);
  /// Computes E = exp(A) where the caller also has the parts of A in column bands over all ranks
  /// (Placement::column_bands), since a symmetric matrix is cheaply generated twice. This saves the exchange that would
  /// bring A into column bands.
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A, const SplitMatrix<T>& E);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Computes E = exp(A) once, with a temporary plan, for T real or complex. Collective.
template <Scalar T>
ExpmReport expm(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& E,
                const ExpmOptions& options = {});

}  // namespace heddle

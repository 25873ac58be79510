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
  /// skew-Hermitian or evenly scaled are never probed, since their errors are relative to norms (docs/notes/expm.md).
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

/// The exponential E = exp(A) of a square matrix over all ranks, with workspace for repeated use with matrices of one
/// size. The relative backward error in the 1-norm is at most ExpmOptions::tolerance, the unit round-off by default.
/// The method, its degree and its squarings follow from the structure of A and the norms of its powers.
///
/// \code
///   heddle::ExpmPlan<double> plan(comm, {.tolerance = 1e-10, .certificate = true});
///   const heddle::ExpmReport report = plan.execute(A, E);  // A and E: DistributedMatrix<double>
///   const heddle::SplitMatrix<double> minus_i_H{std::nullopt, minus_H}, U{cosine, minus_sine};
///   plan.execute(minus_i_H, U);  // U = exp(-i H)
/// \endcode
///
/// - Shapes: A and E are n x n, in any placements, and share no storage. A complex A comes as two real matrices, which
///   may live on different ranks. A part that is left out, or exactly zero, costs no product. The work is done in row
///   bands over all ranks; matrices in other placements are redistributed. The host sees norms (n numbers), never a
///   matrix.
/// - Errors: throws Error(argument), on every rank alike, for matrices that are not square or do not fit, options out
///   of range (0 <= tolerance < 1; complex_products 3 or 4; gemm.layers at most 1; gemm.math automatic), `terms` of
///   another method than `taylor`, and `chebyshev` for an A that is not skew-Hermitian. Throws Error(computation) for
///   NaN or infinity in A, and if ||A||_1 or exp(A) overflows.
/// - Bits: rank-invariant for a fixed gemm.tile; reproducible with emulated products.
/// - Blocking: all calls are collective and block. The first execute() allocates the workspace; later ones allocate
///   only vectors and the buffers of redistributions.
/// - Exactness: by every method exp(A)_ij is exactly zero if no path of nonzero elements of A leads from i to j. With
///   `structure` automatic and any method but `taylor`, exp(A) of a diagonal A is rounded correctly (complex: products
///   of two such numbers); the diagonal of a triangular A becomes exp(a_ii), and the adjacent one the divided
///   differences. E is Hermitian to the last bit for a Hermitian A by all methods but `taylor` and `pade`; so are both
///   parts of exp(-i H) symmetric for a real symmetric H. Emulated products are as accurate as native ones for any A,
///   unless gemm.emulation.look is false.
/// - Certificate: with ExpmOptions::certificate the report has a proven upper bound of ||E - exp(A)||_1 / ||exp(A)||_1,
///   for A and E as they are stored, however E was computed. It has the same bits on any number of ranks. It bounds the
///   matrix as a whole: elements far below the norm of exp(A) may be wrong. It takes 6 to 9 products and one for each
///   of about log2(2 ||A||) squarings. Each is K (K + 1) / 2 products of doubles (complex: 4 times as many), with K
///   from 3 to 5 at moderate norms. Its memory is about 9 K + 6 matrices of doubles (complex: twice as many), released
///   afterwards.
/// - Cost: 2 n^3 flops for each product, n^3 for a Hermitian one, and two passes and two waits for the device for each
///   power that is measured. A norm of 1 takes 5 products in double, and each doubling of it one more; `pade` takes 8/3
///   n^3 flops more (complex: four times that). Memory of all ranks together: A, E and about 9 matrices at most
///   (complex: twice that). Emulated products on one rank also keep the residues of two to four matrices, 14 bytes an
///   element for double.
/// - Sources: N. Higham, Functions of Matrices (2008), 10.3; A. Al-Mohy, N. Higham (2009); J. Sastre, J. Ibanez, E.
///   Defez (2019); P. Bader, S. Blanes, M. Seydaoglu (2021, arXiv 2103.10132); Y. R. Choi, V. Stegailov (2023). The
///   algorithm, its thresholds and all sources are in docs/notes/expm.md, sections "Schemes", "Emulated products" and
///   "The certificate".
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

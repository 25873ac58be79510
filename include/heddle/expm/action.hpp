// The exponential of a matrix times a few vectors, without the exponential.
#pragma once

#include <heddle/dist/matrix.hpp>

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace heddle {

enum class ExpmActionMethod {
  automatic,  ///< `krylov` or `chebyshev`, whichever takes fewer products, for A of known structure; else `taylor`.
  taylor,     ///< Truncated Taylor series, in as many steps as norms of powers of A ask for.
  chebyshev,  ///< One Chebyshev series over the spectrum; A Hermitian or skew-Hermitian, time real or imaginary.
  krylov,     ///< Lanczos (Arnoldi where A has no structure) with restarts: steps as long as the subspace allows.
};
/// "automatic", "taylor", "chebyshev", "krylov".
[[nodiscard]] std::string_view to_string(ExpmActionMethod method);
/// The value of a name; throws Error(argument) for an unknown one.
[[nodiscard]] ExpmActionMethod expm_action_method_from(std::string_view text);

/// What the caller knows of A; it is not checked.
enum class ExpmActionStructure { general, hermitian, skew_hermitian };

/// A as its products with thin blocks, for matrices that have a shape of their own: banded, sparse, structured.
///
/// apply(space, X, Y) makes Y = A X, X and Y of n x m (any m >= 1, column-major with any leading dimension, apart), on
/// `space`, without blocking where it can. X is whole on every rank, and all of Y must be there on every rank, with the
/// same bits: either every rank computes the whole, or its rows and gathers the others'.
template <Scalar T> struct ExpmActionOperator {
  using Apply = std::function<void(const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<T>& Y)>;
  Index n = 0;
  Apply apply{};
  /// Y = A^H X. Only `taylor` asks for it, and only where A is `general`.
  Apply apply_adjoint{};
};

struct ExpmActionOptions {
  ExpmActionMethod method = ExpmActionMethod::automatic;
  ExpmActionStructure structure = ExpmActionStructure::general;
  /// Of the truncation; see ExpmActionReport::error. 0, or anything below it: the unit round-off of T.
  double tolerance = 0.0;
  /// Of a Krylov subspace, at most; 2 ... 100. It takes so many n x m blocks of memory.
  int dimension = 40;
  /// An interval that holds the eigenvalues of A (of -i A where A is skew-Hermitian), for `chebyshev`. Absent: found by
  /// Lanczos steps from a random vector.
  struct Interval {
    double least = 0.0, largest = 0.0;
  };
  std::optional<Interval> spectrum{};
};

struct ExpmActionReport {
  ExpmActionMethod method = ExpmActionMethod::automatic;  ///< The one that did most of the way.
  int degree = 0;      ///< The highest degree of a polynomial in A: of a step (`taylor`, `krylov`), of the series.
  Index steps = 0;     ///< 1 for a Chebyshev series.
  Index products = 0;  ///< A times a block of m columns.
  Index other_products = 0;  ///< A or A^H times one or two columns, for norms and the spectrum.
  /// Of the truncation. `taylor`: relative backward error, a bound as far as norms of powers are not underestimated;
  /// the result is exp(time (A + D)) B, ||D||_1 <= error ||A||_1. `chebyshev`, `krylov`: ||error||_2 of a column is at
  /// most this times ||exp(time A)||_2 ||column||_2 (for Arnoldi an estimate).
  double error = 0.0;
  double seconds = 0.0;  ///< Slowest rank's.
};

/// R = exp(time A) B for an n x n matrix A and a thin n x m block B, m a few: with workspace, for repeated use.
///
/// B and R lie whole on every rank, in device memory, column-major with any leading dimension; R may be B itself.
/// A: a DistributedMatrix in any placement (row bands over all ranks save a redistribution), its elements of type T or,
/// where T is complex, Real<T>, at half the cost: exp(-i t H) psi with real H is execute({0.0, -t}, H, psi, psi). Or an
/// ExpmActionOperator. `time` is real where T is.
///
/// Throws Error(argument), on every rank alike, for shapes and options that don't fit; Error(computation) for NaN or
/// Inf in A or B, a result that overflows, a given `spectrum` that is too narrow to be true. Blocks.
/// Bits: rank-invariant (with an operator: as far as its own are).
///
/// Cost: a product is 2 n^2 m flops (A real), 8 n^2 m (A complex) over all ranks and one pass over A for four columns
/// at a time; an exchange of the block between the ranks follows each. Vectors are worked on by every rank in full.
/// `taylor` takes about 8 products (double precision) per unit of |time| times min(||A||_1, ||A^k||_1^(1/k)), chebyshev
/// and one step of krylov about |time| h + 10 (half length h of the spectrum; double precision). Rounding adds to the
/// error as the largest term of a step is larger than the sum: up to e^5 for `taylor`, hardly any for the others.
/// Each execute() measures A anew, where its method asks for norms or a spectrum: about 4 to 40 products with one or
/// two columns, 30 for a spectrum. Memory: 4 blocks, and `dimension` more for `krylov`. Sources: A. Al-Mohy, N. Higham
/// (2011), algorithm 3.2, but for its table of theta, here from the bound of the backward error for any tolerance, and
/// for tests of convergence column by column. H. Tal-Ezer, R. Kosloff (1984). Y. Saad (1992); the bound of a Lanczos
/// step follows from e_m^T f(T) e_1 = f[theta_1 ... theta_m] times the product of T's off-diagonals.
template <Scalar T> class ExpmActionPlan {
 public:
  explicit ExpmActionPlan(const Communicator& comm, const ExpmActionOptions& options = {});
  ~ExpmActionPlan();
  ExpmActionPlan(ExpmActionPlan&&) noexcept;
  ExpmActionPlan& operator=(ExpmActionPlan&&) noexcept;

  template <Scalar Element>
    requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
    execute(std::complex<double> time, const DistributedMatrix<Element>& A, const MatrixView<const T>& B,
            const MatrixView<T>& R);
  ExpmActionReport execute(std::complex<double> time, const ExpmActionOperator<T>& A, const MatrixView<const T>& B,
                           const MatrixView<T>& R);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// R = exp(time A) B, planned and executed once, B and R in any placement.
template <Scalar T, Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  expm_action(const Communicator& comm, std::complex<double> time, const DistributedMatrix<Element>& A,
              const DistributedMatrix<T>& B, const DistributedMatrix<T>& R, const ExpmActionOptions& options = {});

}  // namespace heddle

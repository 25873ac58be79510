// The product of a matrix's exponential and a few vectors, computed without the exponential.
#pragma once

#include <heddle/dist/matrix.hpp>

#include <complex>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string_view>

namespace heddle {

/// How exp(time A) B is computed.
enum class ExpmActionMethod {
  /// `krylov` or `chebyshev` for A of known structure, whichever takes fewer products; otherwise `taylor`, or `krylov`
  /// where n is at most the dimension and a series would take more than 1000 n products. A series of more than 1e7
  /// products is refused: the time would be impractical.
  automatic,
  /// The truncated Taylor series, in as many steps as the norms of powers of A require; the whole series in one step if
  /// it ends because A is nilpotent.
  taylor,
  /// One Chebyshev series over the spectrum, for a Hermitian or skew-Hermitian A; two, one after the other, if the time
  /// is neither real nor imaginary.
  chebyshev,
  /// The Lanczos method (Arnoldi's where A has no structure) with restarts, in steps as long as the subspace allows.
  /// `chebyshev` or `taylor` takes over if it needs ten times fewer products, or if Arnoldi's vectors lose two thirds
  /// of the requested digits (A far from normal); ExpmActionReport::method names the method that was used.
  krylov,
};
/// The name of a method: "automatic", "taylor", "chebyshev" or "krylov".
[[nodiscard]] std::string_view to_string(ExpmActionMethod method);
/// The method with this name. Throws Error(argument) for any other text.
[[nodiscard]] ExpmActionMethod expm_action_method_from(std::string_view text);

/// The structure of A that the caller vouches for; it is not checked.
enum class ExpmActionStructure { general, hermitian, skew_hermitian };

/// A matrix A that is given by its products with thin blocks of vectors, for matrices with a special form: banded,
/// sparse, structured.
///
/// apply(space, X, Y) computes Y = A X on `space`, without blocking where it can. X and Y are n x m with any m >= 1,
/// column-major with any leading dimension, and don't overlap. X is whole on every rank. Afterwards every rank must
/// hold all of Y, with the same bits: either every rank computes all of it, or each computes its rows and gathers those
/// of the others.
template <Scalar T> struct ExpmActionOperator {
  using Apply = std::function<void(const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<T>& Y)>;
  /// Number of rows and of columns of A.
  Index n = 0;
  /// Computes Y = A X.
  Apply apply{};
  /// Computes Y = A^H X. It is called by method `taylor` alone (also where it takes over from `krylov`), and only where
  /// the structure of A is `general`; otherwise it may be empty.
  Apply apply_adjoint{};
};

/// How exp(time A) B is computed, and how accurately.
struct ExpmActionOptions {
  ExpmActionMethod method = ExpmActionMethod::automatic;         ///< How exp(time A) B is computed.
  ExpmActionStructure structure = ExpmActionStructure::general;  ///< The structure of A.
  /// Bound of the error of the truncation, as ExpmActionReport::error measures it. 0, and anything below the unit
  /// round-off of T, stands for the unit round-off of T.
  double tolerance = 0.0;
  /// The largest dimension of a Krylov subspace, 2 to 100. Method `krylov` takes as many n x m blocks of memory.
  int dimension = 40;
  /// An interval of real numbers that holds the eigenvalues of A, or those of -i A where A is skew-Hermitian.
  struct Interval {
    double least = 0.0, largest = 0.0;
  };
  /// The interval of the spectrum for method `chebyshev`; if empty, Lanczos steps from a random vector find it. An
  /// interval that reaches far beyond the spectrum where exp(time x) is large is narrowed, as its terms would cancel.
  std::optional<Interval> spectrum{};
};

/// How exp(time A) B was computed, how accurate it is, and how long it took.
struct ExpmActionReport {
  ExpmActionMethod method = ExpmActionMethod::automatic;  ///< The method that covered most of the time interval.
  /// The highest degree of a polynomial in A: that of a step (`taylor`, `krylov`), or of the series (`chebyshev`).
  int degree = 0;
  Index steps = 0;           ///< Number of steps in time; 1 for a Chebyshev series.
  Index products = 0;        ///< Number of products of A with a block of m columns.
  Index other_products = 0;  ///< Number of products of A or A^H with one or two columns, for norms and the spectrum.
  /// Bound of the error of the truncation alone. For `taylor` it is the relative backward error: the result is
  /// exp(time (A + D)) B with ||D||_1 <= truncation ||A||_1, as far as norms of powers are not underestimated. For
  /// `chebyshev` and `krylov`, the 2-norm of that error of a column is at most `truncation` times ||exp(time A)||_2
  /// ||column||_2 (an estimate with Arnoldi's method).
  double truncation = 0.0;
  /// The error of the result, truncation and rounding together: the largest ||r - exp(time A) b||_2 / ||r||_2 of a
  /// column r of R, apart from elements that underflow. `error_is_bound` tells which of the two it is:
  ///
  /// - an upper bound, for Hermitian and skew-Hermitian A by `krylov` and `chebyshev`: the truncation and the rounding
  ///   of each step, for products with errors of at most (4 + sqrt(n)) u ||A||_2 ||x||_2 and eigenvalues within the
  ///   interval that was given or found, divided by the ratio of a column's size to its bound exp(time lambda);
  /// - an estimate, by `taylor` and Arnoldi's method: a sum of the columns is computed beside them, with random errors
  ///   as large as the rounding of each step and estimates of the terms that the step leaves out. Four times their
  ///   final size is reported.
  double error = 0.0;
  /// Whether `error` is an upper bound; otherwise it is an estimate.
  bool error_is_bound = false;
  double seconds = 0.0;  ///< Time of the slowest rank, in seconds.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const ExpmActionReport& report);

/// The action R = exp(time A) B of an exponential on a thin n x m block B, computed without the exponential, with
/// workspace for repeated use. exp(-i t H) psi with a real H is execute({0.0, -t}, H, psi, psi).
///
/// - Shapes: B and R are whole on every rank, in device memory, column-major with any leading dimension; R may be B. A
///   is n x n: an ExpmActionOperator, or a DistributedMatrix in any placement (row bands save a redistribution) with
///   elements of T or, for complex T, of Real<T>, which halves the cost. `time` is real for real T.
/// - Errors: throws Error(argument), on every rank alike, for shapes and options that do not fit; Error(computation)
///   for NaN or infinity in A or B, an overflow, a `spectrum` that is too narrow, a method that fails or takes too long
///   and has no other to take over, and a time A whose rounding, about u ||time A||, leaves no digit of exp(time A).
/// - Bits: rank-invariant, with an operator as far as its own are. Blocking: collective, blocks.
/// - Cost: 2 n^2 m flops a product (complex A: 8 n^2 m) over all ranks, a pass over A for every four columns, and an
///   exchange of the block. `taylor` takes about 8 products for each unit of ||time A||_1, others about |time| h + 10
///   with half the length h of the spectrum; 4 to 40 more, of one or two columns, measure A. Memory: 4 blocks, and
///   `dimension` more for `krylov`. Details: docs/notes/expm.md, section "The action, and batches".
/// - Sources: A. Al-Mohy, N. Higham (2011), algorithm 3.2; H. Tal-Ezer, R. Kosloff (1984); Y. Saad (1992).
template <Scalar T> class ExpmActionPlan {
 public:
  /// Makes a plan for the matrices and blocks that are given to execute().
  explicit ExpmActionPlan(const Communicator& comm, const ExpmActionOptions& options = {});
  ~ExpmActionPlan();
  ExpmActionPlan(ExpmActionPlan&&) noexcept;
  ExpmActionPlan& operator=(ExpmActionPlan&&) noexcept;

  /// Computes R = exp(time A) B for a matrix A in any placement. Collective, blocks.
  template <Scalar Element>
    requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
    execute(std::complex<double> time, const DistributedMatrix<Element>& A, const MatrixView<const T>& B,
            const MatrixView<T>& R);
  /// Computes R = exp(time A) B for an A that is given by its products. Collective, blocks.
  ExpmActionReport execute(std::complex<double> time, const ExpmActionOperator<T>& A, const MatrixView<const T>& B,
                           const MatrixView<T>& R);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Computes R = exp(time A) B once, with a temporary plan, with B and R in any placement. Collective.
template <Scalar T, Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  expm_action(const Communicator& comm, std::complex<double> time, const DistributedMatrix<Element>& A,
              const DistributedMatrix<T>& B, const DistributedMatrix<T>& R, const ExpmActionOptions& options = {});

}  // namespace heddle

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
  automatic,  ///< Scaling and squaring of a Taylor polynomial, degree and scaling chosen for the tolerance.
  taylor,     ///< The truncated Taylor series of the given degree, term by term: a_k = (1/k) A a_{k-1}.
};
[[nodiscard]] std::string_view to_string(ExpmMethod method);
/// Throws Error(argument) for an unknown name.
[[nodiscard]] ExpmMethod expm_method_from(std::string_view text);

struct ExpmOptions {
  ExpmMethod method = ExpmMethod::automatic;
  /// Degree of `taylor`; `automatic` ignores it.
  int degree = 10;
  /// Bound on the relative backward error (in the 1-norm, exact arithmetic) of `automatic`. 0: unit round-off of T.
  double tolerance = 0.0;
  /// Also compute ||exp(A) - exp(A/2)^2||_1 / ||exp(A)||_1, at the cost of a second exponential.
  bool residual = false;
  /// Real products for one complex product: 3 (default) or 4. Three cost a quarter less; the error of the imaginary
  /// part is then bounded by the size of the whole product, not of the part itself.
  int complex_products = 3;
  GemmOptions gemm{};
  /// Called on every rank after each product: done, and the total. `automatic`: the total so far expected, which falls
  /// where powers of A turn out smaller than ||A||_1 says; the last call may then be short of it.
  std::function<void(int done, int total)> progress{};
};

struct ExpmReport {
  ExpmMethod method = ExpmMethod::automatic;
  int degree = 0;     ///< Of the Taylor polynomial.
  int squarings = 0;  ///< s: the polynomial is taken of A / 2^s.
  int products =
      0;  ///< Matrix products in all, each of a complex product's 3 or 4 (or fewer, parts being zero) counted.
  double norm1 = 0.0;  ///< ||A||_1; for split matrices the bound ||Re A||_1 + ||Im A||_1.
  /// `automatic`: what stood for ||A||_1 in the choice of degree and squarings: ||A^k||_1 <= alpha^k for all k >
  /// degree.
  double alpha = 0.0;
  std::optional<double> residual;
  Index tile = 0;
  double seconds = 0.0;       ///< Slowest rank's.
  double gemm_seconds = 0.0;  ///< Of these, in products.
  double flops = 0.0;         ///< 2 n^3 a real product.
};

/// E = exp(A) with its workspace, for repeated use with matrices of one size.
///
/// Real A in DistributedMatrix<T>; complex A as separate real and imaginary parts, which may live on different ranks. A
/// part that is left out (exactly zero) costs no product: for A = -i H, H real, the terms of the series alternate
/// between real and imaginary and each costs one real product.
///
/// Any placements: the work is done in row bands over all ranks, A and E are redistributed where they are not.
/// The first execute() allocates the workspace, later ones nothing but what redistributions need. A stays on the
/// device: the host sees norms (n numbers), no matrix.
///
/// Throws Error(argument), on every rank alike, for matrices that aren't square or don't fit, a degree < 1, a negative
/// tolerance; Error(computation) for Inf or NaN in A, or an exponential that overflows.
/// Blocks. Bits: rank-invariant at a fixed gemm.tile (degree and scaling follow from norms summed exactly).
///
/// `automatic` begins with the degree and squarings that ||A||_1 asks for. Each power of A that this scheme needs is
/// measured once it is made, and the cheapest scheme that uses the powers made so far takes its place: where ||A^k||_1
/// is far below ||A||_1^k, as for random, non-normal or nilpotent matrices, much is saved; where it is not, no product
/// is lost. The error bound is then that of the powers as computed. Where powers could overflow, A is scaled before by
/// what its norm asks for.
/// Cost: 2 n^3 flops a product; `automatic`: about 2 sqrt(degree) products and one a squaring (complex: times 2 to 4),
/// two passes and two waits for the device a power measured; `taylor`: degree - 1. Memory, all ranks together: A, E and
/// about 9 matrices at most (twice that for complex). Sources: series term by term: Y. R. Choi, V. Stegailov (2023).
/// Evaluation: M. Paterson, L. Stockmeyer (1973). Backward error and scaling: N. Higham, Functions of Matrices
/// (2008), 10.3; by norms of powers: A. Al-Mohy, N. Higham (2009), theorem 4.2, with all powers known instead of two.
/// Three products: N. Higham (1992).
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

// QR factorization over all ranks, natively or with the same bits everywhere, products with Q, and least squares.
#pragma once

#include <heddle/solve/solve.hpp>

#include <iosfwd>
#include <limits>
#include <vector>

namespace heddle {

/// Options of a QR factorization.
struct QrOptions {
  /// `native`: products by the BLAS. `emulated`: by integers and fixed sequences of roundings, with the same bits on
  /// any machine. `automatic`: `native`.
  Arithmetic arithmetic = Arithmetic::native;
  /// Columns of a panel, which one rank factors by itself. 0 lets the library choose: by the backend, or, for emulated
  /// products, one number for all backends. Bits depend on it.
  Index block = 0;
};

/// Report of a QR factorization. `info` is 0, or k + 1 if R(k, k) is the first diagonal element of R that is exactly
/// zero or not finite: columns 0 to k of A are then linearly dependent in the numbers that A holds, or A holds a NaN or
/// an infinity, or a column's norm overflows. `gflops` counts 2 m n^2 - 2/3 n^3 flops (m x n, m >= n), or their
/// equivalent. `group` is 1.
template <Scalar T> struct QrReport : FactorizationReport {
  /// Factors tau of the min(m, n) reflections H = I - tau v v^H, on every rank. Together with A as qr() left it they
  /// are the output of LAPACK's xGEQRF.
  std::vector<T> tau;
};
/// Write the fields but the timeline as Name(field=value, ...) on one line.
template <Scalar T> std::ostream& operator<<(std::ostream& out, const QrReport<T>& report);

/// QR factorization A = Q R of m x n matrices of one shape over all ranks, with its workspace: Q unitary, m x m, kept
/// as min(m, n) Householder reflections as LAPACK has them; R upper triangular (trapezoidal if m < n), with a real
/// diagonal also for complex A. It always runs to its end; what depends on a NaN or an infinity becomes NaN.
/// - Accuracy: A + E = Q R, in each column a with |E|_2 <= c m n u |a|_2, and Q unitary to c m u, whatever A's
///   condition (N. Higham, Accuracy and Stability, 2002, theorem 19.4). Only elements of R out of range over- or
///   underflow.
/// - Bits: with Arithmetic::emulated *reproducible*: the same R, V and tau for any number of ranks and threads, any
///   placement, on CPUs and GPUs, but for the bits of a NaN. With Arithmetic::native *rank-invariant*: for a given
///   backend and number of threads per rank.
/// - Blocking: collective, blocks. Cost, square: 4/3 n^3 flops (complex: 16/3 n^3) and some n^2 times the block; every
///   rank receives n^2 / 2 elements. Memory of a rank: its part of A unless that comes in placement(), six panels, two
///   blocks of rows, residues.
/// - Sources: R. Schreiber, C. Van Loan (1989); E. Elmroth, F. Gustavson (2000); docs/notes/solve.md, section "QR".
template <Scalar T> class QrPlan {
 public:
  /// Throws Error(argument), on every rank alike, for negative shapes and options.
  QrPlan(const Communicator& comm, Index rows, Index columns, const QrOptions& options = {});
  ~QrPlan();
  QrPlan(QrPlan&&) noexcept;
  QrPlan& operator=(QrPlan&&) noexcept;

  /// Blocks of columns, dealt out over the ranks. A matrix in this placement is not redistributed.
  [[nodiscard]] const Placement& placement() const;
  /// Replaces A by its factors: R on and above the diagonal, and below it the elements v_1, v_2, ... of each
  /// reflection's v, whose v_0 = 1 is not stored. A may have any placement; throws Error(argument), on every rank
  /// alike, if A's shape is not the plan's.
  QrReport<T> execute(const DistributedMatrix<T>& A);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls QrPlan::execute() once.
template <Scalar T>
QrReport<T> qr(const Communicator& comm, const DistributedMatrix<T>& A, const QrOptions& options = {});

/// qr() of one rank's matrix, without a communicator. Bits: those of qr() over ranks.
template <Scalar T> QrReport<T> qr(const ExecutionSpace& space, const MatrixView<T>& A, const QrOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
QrReport<T> qr(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& A, const QrOptions& options = {}) {
  return qr<T>(space, MatrixView<T>(A), options);
}

/// Computes C = op(Q) C from the factors of an m x n matrix that qr() left in QR, for an m x k matrix C. `op` is none
/// or conjugate_transpose; for real matrices transpose is the same as the latter. Both may have any placement but must
/// not share elements; the block need not be that of the factorization.
///
/// Bits: as QrPlan's, with the same options. Cost: 4 m k n - 2 k n^2 flops (m >= n; four times as many complex), and
/// the factors travel to every rank. Blocks. Collective. Throws Error(argument), on every rank alike, for shapes that
/// don't fit, if tau has not min(m, n) elements, for Operation::transpose of complex matrices, and if C shares an
/// element with QR.
template <Scalar T>
void qr_multiply(const Communicator& comm, Operation op, const DistributedMatrix<T>& QR, const std::vector<T>& tau,
                 const DistributedMatrix<T>& C, const QrOptions& options = {});

/// qr_multiply() of one rank's matrices, without a communicator.
template <Scalar T>
void qr_multiply(const ExecutionSpace& space, Operation op, const MatrixView<T>& QR, const std::vector<T>& tau,
                 const MatrixView<T>& C, const QrOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
void qr_multiply(const ExecutionSpace& space, Operation op, const MatrixView<std::type_identity_t<T>>& QR,
                 const std::vector<T>& tau, const Kokkos::View<T**, Properties...>& C, const QrOptions& options = {}) {
  qr_multiply<T>(space, op, QR, tau, MatrixView<T>(C), options);
}

/// Fills Q, m x k with min(m, n) <= k <= m, with the first k columns of the unitary factor of the m x n matrix that
/// qr() left in QR, with which it shares no element. Bits, errors and the rest as qr_multiply(). Cost: 4 m k n - 2 (m +
/// k) n^2 + 4/3 n^3 flops (m >= n).
template <Scalar T>
void qr_form(const Communicator& comm, const DistributedMatrix<T>& QR, const std::vector<T>& tau,
             const DistributedMatrix<T>& Q, const QrOptions& options = {});

/// Options of a least-squares solution.
struct LeastSquaresOptions {
  QrOptions qr = {};       ///< Options of the factorization; products with Q and the substitution take the same
                           //< arithmetic.
  bool condition = false;  ///< Whether R's condition is estimated, which takes some ten substitutions.
  /// With `correct`, each element of X is rounded once from the exact solution, ties to even, as solve() rounds those
  /// of systems, if that can be proven (LeastSquaresReport::correctly_rounded). X then has the same bits on any
  /// machine, for any number of ranks and in any arithmetic and block.
  Rounding rounding = Rounding::computed;
};

/// Report of a least-squares solution.
struct LeastSquaresReport : RoundingReport {
  /// Report of the factorization of A, or, if A is wider than high, of its conjugate transpose. X is not written if
  /// qr.info is not 0.
  FactorizationReport qr;
  double seconds = 0.0;  ///< Time of the slowest rank for all of it.
  /// |b - A x|_2 of each right-hand side, which is the norm of the last m - n elements of Q^H b; 0 if m <= n.
  std::vector<double> residual_norms;
  /// Estimated condition number, as by condition(), in the 1-norm, of R when A's columns (if m < n, its rows) are
  /// scaled to one size by powers of two; NaN unless LeastSquaresOptions::condition is set.
  double condition = std::numeric_limits<double>::quiet_NaN();
};
/// As above.
std::ostream& operator<<(std::ostream& out, const LeastSquaresReport& report);

/// Finds X that makes |b - A x|_2 smallest for each column b of B and x of X, by the QR factorization of A, m x n.
/// First the columns of A are scaled to one size by powers of two, as is each b whose numbers are near the ends of the
/// range. If m < n, x is the solution of A x = b with the smallest |x|_2, by the factorization of A^H with its columns
/// scaled. A must have full rank, min(m, n): if a diagonal element of R is exactly zero, or is not finite,
/// LeastSquaresReport::qr.info says so and X is not written. A rank that is deficient only up to roundings shows in
/// LeastSquaresReport::condition alone. A NaN or an infinity in B turns only its own column of X and its residual norm
/// into NaN.
///
/// A is m x n, B m x k, X n x k; A and B are not changed, X must not share elements with them, and all may have any
/// placement.
///
/// With Rounding::correct the exact x is a part of the solution of a regular system of order m + n (A. Bjorck,
/// "Iterative refinement of linear least squares solutions I", BIT 7, 1967), which solve() rounds:
///
///     a r + A x = b,   A^H r = 0     (m >= n)          a x + A^H y = 0,   A x = b     (m < n)
///
/// for a power of two `a` near the smallest singular value of A with its columns (rows) scaled, or, if nothing is
/// proven with that, near its square. Square matrices are solved more cheaply by solve() itself. Residual norms stay
/// those of the computed x.
///
/// Bits: with QrOptions::arithmetic emulated X and the residual norms are *reproducible*, natively *rank-invariant*;
/// the condition has the bits of condition(). Error: x is the exact solution for A + E and b + f with |E|_F and |f|_2
/// of order m n u |A|_F and m n u |b|_2 (N. Higham, Accuracy and Stability, 2002, theorem 20.3).
///
/// Cost: 2 m n^2 - 2/3 n^3 + 4 m n k flops (m >= n; four times as many complex). Memory: two copies of A, and of B,
/// over the ranks, and the workspaces of QrPlan and trsm(). Rounding::correct: some 5 (m + n)^3 flops, a few passes for
/// each right-hand side, five matrices of order m + n over the ranks, and A on every host. Blocks. Collective. Throws
/// Error(argument), on every rank alike, for shapes that don't fit, for negative options, and if X shares an element
/// with A or B.
template <Scalar T>
LeastSquaresReport least_squares(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                                 const DistributedMatrix<T>& X, const LeastSquaresOptions& options = {});

}  // namespace heddle

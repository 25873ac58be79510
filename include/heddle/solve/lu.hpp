// LU factorization with partial pivoting over all ranks, natively or with the same bits everywhere, and the solution of
// systems with it.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/gemm/timeline.hpp>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

namespace heddle {

/// Options of a factorization by lu() or cholesky(), and of systems with its factors.
struct FactorOptions {
  /// `native`: products by the BLAS. `emulated`: products by integers, with the same bits on any machine. `automatic`:
  /// the faster one, which is `native` on every machine that was measured.
  Arithmetic arithmetic = Arithmetic::native;
  /// Columns of a panel, which one rank factors by itself. 0 lets the library choose: by the backend, or, for emulated
  /// products, one number for all backends. Bits depend on it.
  Index block = 0;
  /// Panels of a group, a power of two: up to so many panels are gathered before they are applied to all columns on
  /// their right, so that inner dimensions are up to `group` times `block` long. 0 lets the library choose. Bits depend
  /// on it. Blocks and groups larger than the matrix act as the smallest that hold it.
  Index group = 0;
  /// Rows of the grid of ranks over which lu() or cholesky() deals out a matrix; a divisor of the number of ranks,
  /// which are numbered along the rows: if it is the number of nodes, each with as many ranks, a row of the grid is a
  /// node. With one row, which serves a few ranks best, every rank receives every panel whole; with more, a rank
  /// receives only the rows of a panel that it needs, and rows of U. Native bits depend on it. All other operations
  /// deal out columns alone and ignore it.
  int grid_rows = 1;
  /// Upper limit, in bytes, of the memory that the operation takes on a rank besides the matrices it is given; 0: the
  /// free memory of the device. An operation that needs more (<heddle/solve/memory.hpp>) throws Error(memory), on every
  /// rank alike, before anything is computed.
  std::size_t memory_limit = 0;
  /// Whether FactorizationReport::timeline records what each rank did and when.
  bool record_timeline = false;
  /// Called on every rank after each panel of a factorization, or each run of consecutive panels factored by one rank,
  /// with the share of the flops that is done, up to 1. On GPUs the work is then enqueued, not necessarily finished.
  std::function<void(double share_done)> progress{};
};

/// Report of every factorization.
struct FactorizationReport {
  Index info = 0;                              ///< 0, or the first step that found no pivot, counted from 1.
  double seconds = 0.0;                        ///< Time of the slowest rank.
  double gflops = 0.0;                         ///< Flops of the algorithm per second, eight for a complex multiply-add.
  Arithmetic arithmetic = Arithmetic::native;  ///< The arithmetic that was used, native or emulated.
  Index block = 0;                             ///< Columns of a panel.
  Index group = 0;                             ///< Panels of a group.
  /// Bytes taken by the rank that needs most, including A's copy in the plan's placement if one is made.
  double memory_bytes = 0.0;
  /// If FactorOptions::record_timeline is set: this rank's activities, in seconds since all ranks began. Products of
  /// operand 'L' with lane 1 are panels, or runs of panels, that it factored (row_band is the panel); those with lane 0
  /// are updates by panels row_band to column_band. Receives and sends are panels on their way (row_band is the panel).
  Timeline timeline;
};
/// Write the fields but the timeline as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const FactorizationReport& report);

/// Report of an LU factorization. `info` is 0, or k + 1 if U(k, k) is the first diagonal element of U that is exactly
/// zero, as LAPACK's info: U is then singular, and column k of L has not been divided by it. `gflops` counts m n^2 -
/// n^3 / 3 multiply-adds (m x n, m >= n).
struct LuReport : FactorizationReport {
  /// pivots[k] is the row (counted from 0) that was interchanged with row k in step k; the same on every rank.
  std::vector<Index> pivots;
  /// The largest |u_ij| over the largest |a_ij|, where a complex number counts by its larger part; 1 for a zero matrix.
  /// Partial pivoting keeps it below 2^(n - 1), and nearly always below the square root of n.
  double growth = 0.0;
};
/// As above.
std::ostream& operator<<(std::ostream& out, const LuReport& report);

/// LU factorization P A = L U with partial pivoting of m x n matrices of one shape over all ranks, with its workspace.
/// It always runs to its end; LuReport::info > 0 reports a singular matrix. The pivot of a step is the first of the
/// largest |x|, or |real| + |imaginary| rounded once; a NaN is never chosen before a number.
/// - Shapes: A in any placement; placement() saves a redistribution. In host memory (Residence::host), with grid_rows =
///   1, it is factored in slabs of columns, with the same bits, where the devices or FactorOptions::memory_limit have
///   no room.
/// - Errors: see the constructor and execute().
/// - Accuracy: P (A + E) = L U with |E| <= c n u |L| |U| and a small c (N. Higham, Accuracy and Stability, 2002,
///   theorem 9.3), and emulation_error() |l_i|_2 |u_j|_2 for each emulated product.
/// - Bits: with Arithmetic::emulated *reproducible*: the same factors and pivots for any number of ranks and threads,
///   any placement, on CPUs and GPUs. With Arithmetic::native *rank-invariant*: for a given backend, number of threads
///   per rank and FactorOptions::grid_rows, the same for any number of ranks and any placement.
/// - Blocking: collective, blocks. Cost, square: 2/3 n^3 flops (complex: 8/3 n^3); every rank receives n^2 / 2
///   elements, or on a grid of p x q ranks some n^2 (1 / p + 1 / q) / 2. Memory: lu_memory() returns the least that is
///   enough.
/// - Sources: G. Golub, C. Van Loan (2013), 3.2; S. Toledo (1997); docs/notes/solve.md, section "The algorithm".
template <Scalar T> class LuPlan {
 public:
  /// Throws Error(argument), on every rank alike, for negative shapes and options, 2^31 rows and columns or more, a
  /// group that is not a power of two, and rows of a grid that don't divide the number of ranks; Error(memory) if its
  /// workspace exceeds FactorOptions::memory_limit or the free memory of a device. `residence` is that of the matrices
  /// to factor; with Residence::host no workspace is kept between them.
  LuPlan(const Communicator& comm, Index rows, Index columns, const FactorOptions& options = {},
         Residence residence = Residence::device);
  ~LuPlan();
  LuPlan(LuPlan&&) noexcept;
  LuPlan& operator=(LuPlan&&) noexcept;

  /// Blocks of columns, or of rows and columns, dealt out over the ranks. A matrix in this placement is not
  /// redistributed.
  [[nodiscard]] const Placement& placement() const;
  /// Replaces A by its factors: L, unit lower triangular, is stored below the diagonal, U on and above it. A may have
  /// any placement; throws Error(argument), on every rank alike, if A's shape is not the plan's, and Error(memory)
  /// if there is no room for a copy in the plan's placement.
  LuReport execute(const DistributedMatrix<T>& A);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls LuPlan::execute() once.
template <Scalar T>
LuReport lu(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options = {});

/// lu() of one rank's matrix, without a communicator. Bits: those of lu() over ranks. Throws Error(argument) for
/// strides that are not those of a column-major matrix.
template <Scalar T> LuReport lu(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
LuReport lu(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& A, const FactorOptions& options = {}) {
  return lu<T>(space, MatrixView<T>(A), options);
}

}  // namespace heddle

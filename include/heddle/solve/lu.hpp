// LU factorization with partial pivoting over all ranks, natively or with the same bits everywhere, and the solution of
// systems with it.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/gemm/emulation.hpp>
#include <heddle/gemm/timeline.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace heddle {

/// How an LU factorization is computed.
struct LuOptions {
  /// `native`: products by the BLAS. `emulated`: by integers, with the same bits on any machine. `automatic`: the
  /// faster one, which is `native` on every machine that was measured.
  Arithmetic arithmetic = Arithmetic::native;
  /// Columns of a panel, which one rank factors by itself; 0 lets the library choose by the backend, or, of emulated
  /// products, one number for all. Bits depend on it.
  Index block = 0;
  /// A power of two: panels are gathered in groups of up to so many before they are applied to all columns on their
  /// right, so that inner dimensions are up to `group` times `block` long; 0 lets the library choose. Bits depend on
  /// it. Blocks and groups beyond the matrix are as good as the smallest that hold it.
  Index group = 0;
  /// Rows of the grid of ranks over which a matrix is dealt out while lu() or cholesky() factors it, a divisor of the
  /// number of ranks, which are numbered along the rows: with as many as there are nodes, each of as many ranks, a row
  /// of the grid is a node. One row, where every rank gets every panel whole, is what serves a few ranks best; with
  /// more, a rank gets only the rows of a panel that it needs, and rows of U. Native bits depend on it. Everything else
  /// deals out columns alone, whatever it says.
  int grid_rows = 1;
  /// The most bytes that the operation may take of a rank's memory besides the matrices that it is given; 0: as many as
  /// the device has free. What needs more (<heddle/solve/memory.hpp>) throws Error(memory), on every rank alike,
  /// before anything is computed.
  std::size_t memory_limit = 0;
  /// Whether FactorizationReport::timeline tells what each rank did and when.
  bool record_timeline = false;
  /// Called on every rank after each panel of a factorization, or each run of panels that one rank factors in a row,
  /// with the share of the flops that is done, up to 1. On GPUs the work has been given to the device then.
  std::function<void(double share_done)> progress{};
};

/// What every factorization reports.
struct FactorizationReport {
  Index info = 0;                              ///< 0, or the first step that found no pivot, counted from 1.
  double seconds = 0.0;                        ///< Time of the slowest rank.
  double gflops = 0.0;                         ///< The algorithm's flops a second, eight for complex multiply-adds.
  Arithmetic arithmetic = Arithmetic::native;  ///< The arithmetic that was used, native or emulated.
  Index block = 0;                             ///< Columns of a panel.
  Index group = 0;                             ///< Panels of a group.
  /// Bytes that the rank which needs most took for it, A's copy in the plan's placement included where there is one.
  double memory_bytes = 0.0;
  /// Where LuOptions::record_timeline asks for it, what this rank did, in seconds since all ranks began: of operand
  /// 'L', products with lane 1 are panels, or runs of panels, that it factored, row_band being the number; those with
  /// lane 0 updates by panels row_band to column_band; receives and sends are panels on their way, row_band again.
  Timeline timeline;
};

/// What an LU factorization found besides the factors. `info` is 0, or k + 1 where U(k, k) is the first diagonal
/// element of U that is exactly zero, as the info of LAPACK: U is then singular, and column k of L has not been divided
/// by it. `gflops` counts m n^2 - n^3 / 3 multiply-adds (of m x n, m >= n).
struct LuReport : FactorizationReport {
  /// The row (counted from 0) that changed places with row k in step k is pivots[k]; the same on every rank.
  std::vector<Index> pivots;
  /// The largest |u_ij| over the largest |a_ij|, where a complex number counts by its larger part; 1 of a zero matrix.
  /// Partial pivoting keeps it below 2^(n - 1), and nearly always below the square root of n.
  double growth = 0.0;
};

/// The LU factorization P A = L U of m x n matrices of one shape over all ranks of a communicator, with its workspace.
///
/// Algorithm: blocks of columns are dealt out to the ranks in turn. The rank that has a panel factors it, by recursion
/// on its columns, and sends it to all others (LuOptions::grid_rows: over a grid, ranks of a column of the grid send
/// their rows of a panel to one of them, which factors it whole); each rank then interchanges the rows of its columns,
/// solves with the panel's triangle and takes the product off the rows below: in the next panel's columns first, so
/// that this panel is factored, and travels, while the others are updated. The order of this is that of the
/// right-looking algorithm for LuOptions::group = 1, and otherwise gathers panels so that products have longer inner
/// dimensions (G. Golub, C. Van Loan, Matrix Computations, 2013, 3.2; S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997).
///
/// The pivot of a step is the first of the largest elements, by |x|, or by |real| + |imaginary| rounded once. A NaN is
/// never chosen before a number. The factorization always runs to its end; info > 0 says that a matrix is singular.
///
/// Bits: with Arithmetic::emulated *reproducible*: the same factors and pivots for any number of ranks, any placement,
/// any number of threads, on CPUs and GPUs. Elements of a panel are chains of fused multiply-adds in the order of the
/// columns, divided by the pivot; products of more columns than a panel has are those of EmulatedGemm without a look,
/// each rounded once before it is taken off, and once then. With Arithmetic::native *rank-invariant*: at a given
/// backend, number of threads a rank and LuOptions::grid_rows, the same for any number of ranks and any placement.
///
/// Error: P (A + E) = L U with |E| <= c n u |L| |U| and a small c (N. Higham, Accuracy and Stability, 2002, theorem
/// 9.3); of emulated products the share of each is bounded by rows and columns, emulation_error() |l_i|_2 |u_j|_2.
///
/// Cost: 2/3 n^3 flops (8/3 n^3 complex) of a square matrix, and n^2 / 2 elements that every rank receives; on a grid
/// of p x q ranks, some n^2 (1 / p + 1 / q) / 2, and n^2 / 2 over all ranks for panels on their way to be factored.
/// Memory on each rank: its part of the matrix where A comes in another placement, two groups of panels, rows of U on a
/// grid, and the residues of emulated products; with CUDA, of doubles whose columns don't begin on 16 bytes (an odd
/// number of rows), native products take a copy of it besides where there is room, and twice the time where there is
/// none. Blocks. Collective.
///
/// Matrices in host memory (Residence::host) that the devices have no room for, or LuOptions::memory_limit does not
/// allow there, are factored with the same bits in slabs of columns, as wide as there is room for, one of which is on
/// the devices at a time: what is on the left of a slab comes from host memory again, so that with s slabs some s n^2 /
/// 2 elements do. lu_memory() tells the least that is enough. With LuOptions::grid_rows above one such matrices are
/// copied to the devices whole.
template <Scalar T> class LuPlan {
 public:
  /// Throws Error(argument), on every rank alike, for negative options, a group that is no power of two and rows of a
  /// grid that don't divide the ranks, and Error(memory) where its workspace is more than LuOptions::memory_limit
  /// or than a device has free. `residence`: of the matrices that it is for; with Residence::host it keeps no workspace
  /// between them.
  LuPlan(const Communicator& comm, Index rows, Index columns, const LuOptions& options = {},
         Residence residence = Residence::device);
  ~LuPlan();
  LuPlan(LuPlan&&) noexcept;
  LuPlan& operator=(LuPlan&&) noexcept;

  /// Blocks of columns, or of rows and columns, dealt out over the ranks: with A here, nothing is redistributed.
  [[nodiscard]] const Placement& placement() const;
  /// Replaces A by its factors: L, unit lower triangular, is stored below the diagonal, U on and above it. A may have
  /// any placement; throws Error(argument), on every rank alike, for another shape than the plan's, and
  /// Error(computation) where there is no room for a copy in the plan's placement.
  LuReport execute(const DistributedMatrix<T>& A);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// LuPlan::execute() once.
template <Scalar T> LuReport lu(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options = {});

/// The same of one rank's matrix, without a communicator. Bits: those of lu() over ranks. Throws Error(argument) for
/// strides that are not those of a column-major matrix.
template <Scalar T> LuReport lu(const ExecutionSpace& space, const MatrixView<T>& A, const LuOptions& options = {});

}  // namespace heddle

// The distributed matrix product C = alpha op(A) op(B) + beta C over the ranks of a communicator.
#pragma once

#include <heddle/blas/math_mode.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/gemm/tile_model.hpp>
#include <heddle/gemm/timeline.hpp>

#include <iosfwd>
#include <memory>
#include <optional>
#include <type_traits>

namespace heddle {

/// Which tiles of C a distributed product computes.
enum class GemmTiles {
  /// All tiles.
  all,
  /// The tiles on the diagonal and one of each pair (i, j) and (j, i), for a C that is known to be symmetric, as A A^T
  /// is, or the product of two symmetric matrices that commute. It is half of the work. The other tiles of C stay as
  /// they were until complete_symmetric() fills them.
  half,
};

/// How the ranks of a layer share out the tiles of C. Rank p * columns + q of them takes its share of row p's bands of
/// op(A), and of op(B) the bands of column q, as many in each column as in any other. So A goes to `columns` ranks and
/// B to `rows`, where both have to travel. Which elements a rank owns is another matter: see Placement.
struct ProcessGrid {
  int rows = 0;     ///< Rows of the grid.
  int columns = 0;  ///< Columns of the grid; rows times columns is the number of ranks, or of those of a layer.
  friend bool operator==(const ProcessGrid&, const ProcessGrid&) = default;
};

/// How a distributed product is computed, and the memory that it may take.
struct GemmOptions {
  /// N_i: C is cut into tiles of at most N_i x N_i elements. 0 leaves N_i to `choice`.
  Index tile = 0;
  /// How N_i is chosen where `tile` is 0: of least predicted time, or the smallest tile whose transfers are hidden. It
  /// changes nothing but the tile, and is ignored by emulated products, whose tile follows from the ranks' shares.
  TileChoice choice = TileChoice::model;
  /// Number of bands of op(A) that a rank holds while all bands of op(B) pass once; B travels ceil(bands /
  /// bands_per_pass) times. 1 is the published algorithm; 0 takes as many bands as `workspace_bytes` allows.
  int bands_per_pass = 0;
  /// The grid of ranks; {0, 0} lets the tile model choose one: one column, in which every rank takes bands of op(A) and
  /// all bands of op(B) go by, unless another grid is predicted to be faster by 3 % and more. The automatic grid has
  /// one column, too, with GemmTiles::half and for matrices in host memory. No bit of C depends on the grid.
  ProcessGrid grid{};
  /// L: the inner dimension is cut into L equal runs (of multiples of 64 but the last, where they are as long), and
  /// each tile of C is the sum of its L products over them. If ranks and layers have a common divisor G, ranks are G
  /// grids, each of ranks / G that follow each other in number, so that nodes belong to one, and each takes L / G
  /// layers one after the other; mostly G = L. So less of A and B travels, but L times as much of C, and an owner of C
  /// holds L - 1 copies of its part. 0 lets the tile model choose: 1, but over several nodes 2, 4, 8 and so on, as it
  /// divides the ranks, where that is predicted to be faster by 3 % and more and the copies take no more than half of
  /// `workspace_bytes`. The automatic choice is 1, too, where `tile` or `grid` is given, so that bits at a given tile
  /// do not depend on the number of ranks; with TileChoice::published; with GemmTiles::half; for matrices in host
  /// memory; and for emulated products. Halves, host memory and arithmetic other than native refuse L > 1.
  /// The copies count among what `workspace_bytes` allows.
  int layers = 0;
  /// Which tiles of C are computed; GemmTiles::half needs a square C.
  GemmTiles tiles = GemmTiles::all;
  /// Upper bound, in bytes, for the memory of the bands of op(A) that a pass holds on each rank; one band is always
  /// held. On GPUs, what these bands leave of it is used for more bands of B, where the first bands of A travel too,
  /// and for finished tiles of C that wait for a bus. 0 stands for 1 GiB on CPU backends; on GPUs for an eighth of the
  /// device's memory, or three quarters of its free memory where that is less.
  std::size_t workspace_bytes = 0;
  /// Measured rates of the machine for the tile model. `gemm` and `memory_bandwidth` have to be given (MachineRates{}
  /// is refused), and `emulated` too where Arithmetic::automatic is to consider emulated products. Empty stands for
  /// typical_rates(): no file is read and nothing is measured. The rates of this machine come from load_rates() and
  /// measure_rates() of <heddle/tuning/rates.hpp>.
  std::optional<MachineRates> rates{};
  /// How the local products are computed. Emulated products have the same bits for any tile and on any backend. With
  /// GemmTiles::half that is said of the tiles that are computed; which these are depends on the tile size and on what
  /// a probe finds.
  Arithmetic arithmetic = Arithmetic::native;
  /// Which units and precision the BLAS takes for the products of tiles; modes other than automatic need native
  /// arithmetic, and a device that has them (blas::trouble_with). The error of `tf32` is beyond that of T's round-off
  /// by blas::added_error(). Bits: rank-invariant at a given mode; of `tf32` that has not been examined. `rates` should
  /// have been measured in the same mode.
  MathMode math = MathMode::automatic;
  /// Options of the emulated products, where `arithmetic` is not native.
  EmulationOptions emulation{};
  /// Whether GemmPlan::timeline() also has the intervals of transfers. Those of products are always kept.
  bool record_timeline = false;
};

/// How a distributed product was computed, and how long it took; or several, of GemmPlan::report().
struct GemmReport {
  /// Products that it is of: 1 of execute(), any number of report(), whose seconds and bytes are those of all of them.
  Index products = 0;
  Index tile = 0;          ///< N_i that was used.
  ProcessGrid grid;        ///< The grid of ranks that was used, or of those of each group of layers.
  int layers = 0;          ///< L: the runs of the inner dimension that were multiplied apart.
  int bands_per_pass = 0;  ///< Bands of op(A) that a rank held while those of op(B) passed once.
  double seconds = 0.0;    ///< Time of the slowest rank, in seconds, from the call until its part of C was complete.
  /// The time that the tile model predicted; empty where no rates were given.
  std::optional<double> predicted_seconds;
  /// The rate of all ranks together, in 10^9 flops per second: 2MNK flops (8MNK for complex T), or what was computed of
  /// them, over `seconds`.
  double gflops = 0.0;
  double bytes_received = 0.0;       ///< Bytes that ranks received from other ranks, summed over all ranks.
  double bytes_between_nodes = 0.0;  ///< Of these, the bytes that came from ranks of other nodes.
  /// The longest time, in seconds, that any rank had no product to run because it waited for bands or for C; 0 of
  /// report().
  double wait_seconds = 0.0;
  Arithmetic arithmetic = Arithmetic::native;  ///< The arithmetic that was used, native or emulated.
  /// How an emulated product was computed. For alpha = 1, beta = 0 its error is |C - op(A) op(B)|_ij <=
  /// emulation.error_bound |a|_2 |b|_2 + u |C_ij|, where a is row i of op(A) and b column j of op(B).
  EmulationReport emulation;
  /// The options of emulation that the plan used where products are emulated, and GemmOptions::emulation as it was
  /// given where they are native. With Arithmetic::automatic, `most_moduli` is no larger than what is still faster than
  /// the BLAS, and `fallback` is Fallback::native. On GPUs `most_moduli` is no larger than what fits into the free
  /// memory.
  EmulationOptions emulation_taken;
};
/// Write the fields but emulation_taken as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const GemmReport& report);

/// A distributed product C = alpha op(A) op(B) + beta C with its workspace, for repeated use with matrices of the same
/// placements. Bands of A and B travel while tiles of C are computed.
///
/// \code
///   const auto none = heddle::Operation::none;
///   heddle::GemmPlan<double> plan(comm, none, A.placement(), none, B.placement(), C.placement(), {.tile = 512});
///   const heddle::GemmReport report = plan.execute(1.0, A, B, 0.0, C);
/// \endcode
///
/// - Shapes: op(A) is M x K, op(B) K x N, C M x N, in any placements, host memory included; empty ones are allowed. No
///   element of C shares storage with A or B on any rank. beta == 0 leaves C unread; alpha == 0 moves nothing.
/// - Errors: throws, on every rank alike, Error(argument) for shapes, placements, options, alpha or beta that do not
///   fit or differ between ranks, and Error(memory) where a device has no room.
/// - Accuracy: that of blas::gemm, or for emulated products the bound of GemmReport::emulation.
/// - Bits: rank-invariant for equal tile, layers, backend and threads per rank: the same for any number of ranks, grid,
///   placements and bands per pass. The model's tile depends on the number of ranks, so give one to compare bits. With
///   Arithmetic::emulated reproducible: the same for any tile, backend and number of threads.
/// - Blocking: all calls but wait() are collective. execute() blocks until this rank's part of C is complete. A plan is
///   used by one thread at a time.
/// - Cost: 2MNK flops (complex: 8MNK) over all ranks. A rank receives each of its bands of A once, every band of B once
///   a pass, and its elements of C. Memory: docs/notes/gemm.md, section "Traffic, memory and the order of sums".
/// - Source: Y. R. Choi, V. Stegailov (2022), extended here to any placement.
template <Scalar T> class GemmPlan {
 public:
  /// Makes the plan for op(A), op(B) and C of these placements. Collective. Throws Error(argument), on every rank
  /// alike, for shapes that don't fit, for negative options, and for a tile, or a number of bands, of 2^31 or more.
  GemmPlan(const Communicator& comm, Operation op_a, const Placement& a, Operation op_b, const Placement& b,
           const Placement& c, const GemmOptions& options = {});
  ~GemmPlan();
  GemmPlan(GemmPlan&&) noexcept;
  GemmPlan& operator=(GemmPlan&&) noexcept;

  /// Computes C = alpha op(A) op(B) + beta C. Throws Error(argument), on every rank alike, for a matrix whose placement
  /// is not the planned one, a C that shares storage with A or B, and an alpha or beta that differs between ranks.
  GemmReport execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                     const DistributedMatrix<T>& C);

  /// Gives C = alpha op(A) op(B) + beta C to `space`, or to the communicator's instance, and returns. The product runs
  /// after the work that the instance was given before, and after all other products of this plan, on whatever
  /// instances these are; work given to the instance later sees C. So a C may be the A or B of the next product. A, B
  /// and C, and the elements of A and B, have to stay until then. Bits: those of execute(). Throws Error(argument) as
  /// execute() does, before anything is begun.
  ///
  /// On one rank with A, B and C on its device, and one layer, the host does nothing but give work to the instance: it
  /// does not wait, nor record, and allocates nothing. With beta == 0, a native product of one tile is one call of the
  /// BLAS on `space` itself, so that it can be captured into a graph. Two things are made once: the BLAS's context on
  /// an instance, by the first product on it (the plan keeps four of them), and a copy of a tile, by the first product
  /// with another beta. Emulated products block where their factors are probed: EmulationOptions::look set to false, or
  /// a number of moduli, spares that. With Kokkos 4 on CUDA the launch of a kernel that carries much, as those of
  /// emulated products do, waits until the last such kernel is done. On CPUs the work is done when this returns.
  ///
  /// In all other cases the host moves the messages. The call then is collective and returns when this rank's messages
  /// have been sent and received; on GPUs the last tiles may still be under way on the device. Here the plan works on
  /// the communicator's instance, before and after which it puts `space`.
  void enqueue(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
               const DistributedMatrix<T>& C);
  void enqueue(const ExecutionSpace& space, T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
               T beta, const DistributedMatrix<T>& C);
  /// Blocks until this rank's part of all products that were enqueued is complete. Not collective. Throws
  /// Error(computation) where one of them failed on the device. Destroying the plan waits, too, and throws nothing.
  void wait();
  /// Does what wait() does on every rank, and reports what was enqueued since the last report(), all products together:
  /// `seconds` from the first enqueue() until all were complete, which has work that the instance was given before in
  /// it. How products were emulated is said of the last one, which may have been executed. Collective.
  GemmReport report();

  /// N_i, the rows and columns of the tiles that C is cut into.
  [[nodiscard]] Index tile() const;
  /// L, the runs that the inner dimension is cut into.
  [[nodiscard]] int layers() const;
  /// The arithmetic of the plan: native or emulated.
  [[nodiscard]] Arithmetic arithmetic() const;
  /// Timeline of this rank in the last execute(): products and waits, and with GemmOptions::record_timeline
  /// transfers too.
  [[nodiscard]] const Timeline& timeline() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Fills the tiles of a square C that a product of GemmTiles::half with this tile did not compute, from those that it
/// did: c_ij = sign c_ji, where `sign` is 1 or -1. In tiles on the diagonal, the elements below the diagonal are kept.
/// C is then exactly symmetric, or antisymmetric with zeros on the diagonal. C may have any placement. Collective; it
/// blocks where C is on more than one rank, and at most n^2 elements then travel. Throws Error(argument), on every rank
/// alike, for a C that is not square, a tile that no plan has, and another sign. Bits: the elements are copied.
template <Scalar T>
void complete_symmetric(const Communicator& comm, const DistributedMatrix<T>& C, Index tile,
                        std::type_identity_t<T> sign);

/// Computes C = alpha op(A) op(B) + beta C once, by a GemmPlan of its own. Collective. alpha and beta may be of any
/// type that converts to T.
template <Scalar T>
GemmReport gemm(const Communicator& comm, Operation op_a, Operation op_b, std::type_identity_t<T> alpha,
                const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, std::type_identity_t<T> beta,
                const DistributedMatrix<T>& C, const GemmOptions& options = {});

}  // namespace heddle

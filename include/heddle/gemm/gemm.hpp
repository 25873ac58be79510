// C = alpha op(A) op(B) + beta C over the ranks of a communicator.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>
#include <heddle/gemm/emulation.hpp>
#include <heddle/gemm/tile_model.hpp>
#include <heddle/gemm/timeline.hpp>

#include <memory>
#include <optional>
#include <type_traits>

namespace heddle {

/// Which tiles of C are computed.
enum class GemmTiles {
  all,
  /// One of each pair (i, j) and (j, i), and those on the diagonal: half of the work, where C is known to be symmetric,
  /// as A A^T is or the product of two symmetric matrices that commute. The others stay as they were until
  /// complete_symmetric().
  half,
};

struct GemmOptions {
  /// N_i: C is cut into tiles of at most N_i x N_i. 0 lets the tile model choose.
  Index tile = 0;
  /// Bands of op(A) that a rank holds while the bands of op(B) pass once; B travels ceil(bands / bands_per_pass) times.
  /// 1 is the published algorithm, 0 takes as many as `workspace_bytes` allows.
  int bands_per_pass = 0;
  /// `half` wants a square C.
  GemmTiles tiles = GemmTiles::all;
  /// Upper bound for the bands of A that a pass holds on each rank, in bytes (one band is always held). On GPUs what
  /// they leave of it takes more bands of B where the first of A travel too, and tiles of C that wait for a bus. 0: 1
  /// GiB on CPU backends, an eighth of the device's memory on GPUs, or three quarters of what is free where that is
  /// less.
  std::size_t workspace_bytes = 0;
  /// Rates for the tile model, gemm and memory_bandwidth at least (MachineRates{} is refused), and `emulated` where
  /// Arithmetic::automatic is to weigh emulated products. Absent: typical_rates(); no file is read and nothing is
  /// measured. load_rates() and measure_rates() of <heddle/tuning/rates.hpp> have this machine's.
  std::optional<MachineRates> rates{};
  /// How the local products are computed. Emulated ones have the same bits at any tile too, on any backend (of `half`
  /// of the tiles those that are computed; which they are follows the tile, and what a probe says of them).
  Arithmetic arithmetic = Arithmetic::native;
  EmulationOptions emulation{};
  /// Keep, for GemmPlan::timeline(), when each transfer ran, beside the products, which are always kept.
  bool record_timeline = false;
};

struct GemmReport {
  Index tile = 0;
  int bands_per_pass = 0;
  double seconds = 0.0;                     ///< Slowest rank's, from entry to local completion.
  std::optional<double> predicted_seconds;  ///< The tile model's; absent where no rates were given.
  double gflops = 0.0;  ///< Aggregate rate: 2MNK (8MNK for complex), or what is computed of it, / seconds / 1e9.
  double bytes_received = 0.0;  ///< Sum over ranks of what came from other ranks.
  double wait_seconds = 0.0;    ///< Most time that any rank had no product to run, waiting for bands or for C.
  Arithmetic arithmetic = Arithmetic::native;  ///< The one taken.
  /// Of an emulated product. For alpha = 1, beta = 0: |C - op(A) op(B)|_ij <= emulation.error_bound |a|_2 |b|_2 + u
  /// |C_ij|, a and b the element's row and column.
  EmulationReport emulation;
  /// GemmOptions::emulation as the plan took it, where products are emulated; what was asked for where they are native.
  /// With Arithmetic::automatic `most_moduli` is no more than what is still faster than the BLAS, and `fallback` is
  /// Fallback::native; on GPUs `most_moduli` is no more than what fits into the memory that is free.
  EmulationOptions emulation_taken;
};

/// Distributed product with its workspace, for repeated use with matrices of the same placements.
///
/// C = alpha op(A) op(B) + beta C; op(A) is M x K, op(B) is K x N, C is M x N. Each of A, B, C may have any placement.
/// An element of C's storage that is one of A's or B's too, on any rank, is refused; columns or rows of one array that
/// take turns are apart. So is what differs between ranks: shapes, placements and options when the plan is made, alpha
/// and beta when it is executed. On several ranks each costs a reduction of three numbers.
///
/// Algorithm (Y. R. Choi, V. Stegailov 2022; here for any placement): C is cut into tiles of N_i x N_i. Each rank takes
/// bands of op(A), and for each pass over the bands of op(B), in an order rotated by its rank, computes the tiles; the
/// next bands are already travelling while a tile is computed, and a finished tile is sent to the owners of its
/// elements while the next one is computed. beta is applied once, where C lives. What a rank owns it does not send to
/// itself.
///
/// Blocking: collective; execute() returns when this rank's part of C is complete. alpha == 0 moves nothing; beta == 0
/// does not read C; empty matrices are fine.
///
/// Bits: rank-invariant. Each tile is one local product over the whole inner dimension, and C = tile + beta C is
/// rounded once per element, so C has the same bits for any number of ranks, placements and bands per pass, at equal
/// tile, backend and threads per rank, and each tile of GemmTiles::half has those that it has of all. (The tile that
/// the model chooses depends on the number of ranks: give one to compare.) With Arithmetic::emulated: reproducible, the
/// same bits at any tile, on any backend, with any threads; tile 0 is then one of all ranks' share, without the model.
///
/// Errors: those of blas::gemm with Arithmetic::native, GemmReport::emulation has those of emulated products.
///
/// Cost: 2MNK flops (8MNK complex) over all ranks. Elements that a rank receives: of A, its bands once; of B, every
/// band once a pass, that is ceil(its bands of A / bands_per_pass) times; of C, what it owns and others compute; from
/// each of these less what the rank owns itself. With A and B whole elsewhere, P ranks and M/P rows each: MK/P + passes
/// KN; with A and C in row bands and B in column bands that the tile divides: KN (P - 1)/P. What M/N_i bands leave over
/// when dealt out to P ranks is shared tile by tile, with only the bands of B it needs. Workspace per rank: two passes'
/// bands of A (one where a rank has one pass), two bands of B (four on GPUs), three tiles of C (four on GPUs, up to 16
/// while they are small), less what is used where it lies.
/// Emulated products take residues of a pass's bands of A and one of B beside them, and the sums.
///
/// On GPUs copy engines move the bands and tiles, products run on two instances of the plan's own, ordered before and
/// after the communicator's space(), and the host only hands out work. Matrices in host memory (Residence::host) are
/// streamed: a rank's bands come over its bus once, and a band of B is passed on to the other ranks from there.
template <Scalar T> class GemmPlan {
 public:
  /// Collective. Throws Error(argument), on every rank alike, for shapes that don't fit or negative options.
  GemmPlan(const Communicator& comm, Operation op_a, const Placement& a, Operation op_b, const Placement& b,
           const Placement& c, const GemmOptions& options = {});
  ~GemmPlan();
  GemmPlan(GemmPlan&&) noexcept;
  GemmPlan& operator=(GemmPlan&&) noexcept;

  /// Throws Error(argument), on every rank alike, for a matrix of another placement than planned, a C that shares
  /// storage with A or B, and an alpha or beta that differs between ranks.
  GemmReport execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                     const DistributedMatrix<T>& C);
  [[nodiscard]] Index tile() const;
  /// The arithmetic planned: native or emulated.
  [[nodiscard]] Arithmetic arithmetic() const;
  /// This rank's intervals in the last execute(): products and waits, and transfers where
  /// GemmOptions::record_timeline says so.
  [[nodiscard]] const Timeline& timeline() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The half of C that a product of GemmTiles::half with this tile did not compute, from the one that it did: c_ij =
/// sign c_ji, `sign` 1 or -1. On the diagonal's tiles what is below the diagonal stands. C is then exactly symmetric,
/// or antisymmetric, with zeros on the diagonal. C is square, in any placement. Collective; blocks where C is
/// on more than one rank, n^2 elements then travel. Bits: the elements themselves.
template <Scalar T>
void complete_symmetric(const Communicator& comm, const DistributedMatrix<T>& C, Index tile,
                        std::type_identity_t<T> sign);

/// One product: plans, executes, forgets. alpha and beta are whatever converts to T.
template <Scalar T>
GemmReport gemm(const Communicator& comm, Operation op_a, Operation op_b, std::type_identity_t<T> alpha,
                const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, std::type_identity_t<T> beta,
                const DistributedMatrix<T>& C, const GemmOptions& options = {});

}  // namespace heddle

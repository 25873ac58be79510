// Schedules of a distributed product: the tiles of each rank, what travels when, and where it is put. Pure functions,
// no MPI.
#pragma once

#include "core/on_host.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/dist/placement.hpp>

#include <numeric>
#include <utility>
#include <vector>

namespace heddle::impl {

/// Whether tile (i, j) of `count` x `count` tiles is the one of (i, j) and (j, i) that is computed where C is
/// symmetric: the diagonal and those half of the way round to its right. Each row of tiles has as many, or one less, so
/// that any bands have their share of the work.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr bool half_holds(Index i, Index j, Index count) {
  const Index right = j >= i ? j - i : j - i + count;
  if (2 * right == count) {
    const Index lower = i < j ? i : j;
    return (i < j) == (lower % 2 == 0);
  }
  return 2 * right < count;
}

/// The product C = op(A) op(B), cut into tiles.
struct Product {
  Operation op_a = Operation::none;
  Operation op_b = Operation::none;
  Placement a;
  Placement b;
  Placement c;
  Index tile = 1;
  int ranks = 1;
  /// Bands of op(B) held at a time: the one in use and those on their way.
  int held_b = 2;
  /// The same on a rank whose first bands of op(A) travel too, so that it can use each of both when it comes; no fewer.
  int first_held_b = 2;
  /// Whether messages land where they belong even if their columns lie apart (Transport::takes_blocks()).
  bool blocks = false;
  /// Whether only one tile of each pair (i, j) and (j, i) is computed: half_holds().
  bool half = false;
  /// Ranks are groups() grids of grid_rows() x grid_columns: rank (p, q) of group g, whose number is
  /// (g * grid_rows() + p) * grid_columns + q, takes its share of the bands of op(A) and, of those of op(B),
  /// column_share(q).
  int grid_columns = 1;
  /// The inner dimension is cut into so many runs, inner_range(), and a tile of C is the sum of its products over each.
  /// If ranks and layers have a common divisor, that many groups of ranks share the layers out among them: each has
  /// as many, one after the other. The ranks of a group follow each other, so that those of a node are of one group
  /// where that has as many, and what they need of the same bands crosses the node's link once (Relays).
  int layers = 1;
  /// The node of each rank; empty where all are on one.
  std::vector<int> node_of = {};
  /// Whether ranks are GPUs, as those of this build are or are not; a prediction may be about others.
  bool on_gpus = !on_host;

  [[nodiscard]] bool on_one_node(int rank, int other) const {
    return node_of.empty() || node_of[static_cast<std::size_t>(rank)] == node_of[static_cast<std::size_t>(other)];
  }
  [[nodiscard]] int groups() const { return std::gcd(layers, ranks); }
  [[nodiscard]] int ranks_of_group() const { return ranks / groups(); }
  [[nodiscard]] int layers_of_group() const { return layers / groups(); }
  [[nodiscard]] int grid_rows() const { return ranks_of_group() / grid_columns; }
  /// The group of a rank, and its row and column of that group's grid.
  [[nodiscard]] int group_of(int rank) const { return rank / ranks_of_group(); }
  [[nodiscard]] int grid_row_of(int rank) const { return rank % ranks_of_group() / grid_columns; }
  [[nodiscard]] int grid_column_of(int rank) const { return rank % grid_columns; }
  /// Place of a rank among those of its row, or of its column, of the grid, for the order in which it goes through what
  /// all of them need and hold whole. If they are on several nodes, those of one node share the place of the first:
  /// what one of them has the others have of it (Relays).
  [[nodiscard]] int turn_in_row(int rank) const;
  [[nodiscard]] int turn_in_column(int rank) const;
  /// First band of op(B) of column q of the grid, and the one behind the last.
  [[nodiscard]] std::pair<int, int> column_share(int q) const {
    const auto first = [&](int k) { return static_cast<int>(Index{column_bands()} * k / grid_columns); };
    return {first(q), first(q + 1)};
  }
  [[nodiscard]] Index rows() const { return c.rows(); }
  [[nodiscard]] Index columns() const { return c.columns(); }
  [[nodiscard]] Index inner() const { return op_a == Operation::none ? a.columns() : a.rows(); }
  /// The run of the inner dimension that a layer multiplies, of whole multiples of 64 but the last, where there are as
  /// many; and the size of the longest.
  [[nodiscard]] Range inner_range(int layer) const;
  [[nodiscard]] Index longest_run() const;
  /// Bands of rows and of columns of C, to which those of op(A) and of op(B) in a layer belong.
  [[nodiscard]] int row_bands() const { return static_cast<int>((rows() + tile - 1) / tile); }
  [[nodiscard]] int column_bands() const { return static_cast<int>((columns() + tile - 1) / tile); }
  /// Bands of op(A) and of op(B) in all layers: band k of layer l has the number l * row_bands() + k, or l *
  /// column_bands() + k.
  [[nodiscard]] int bands_of_a() const { return layers * row_bands(); }
  [[nodiscard]] int bands_of_b() const { return layers * column_bands(); }
  [[nodiscard]] bool computes(int row_band, int column_band) const {
    return !half || half_holds(row_band, column_band, row_bands());
  }
  [[nodiscard]] Range row_range(int band) const;
  [[nodiscard]] Range column_range(int band) const;
};

/// Rectangle of a matrix as it is stored, in global indices.
struct Region {
  Range rows;
  Range columns;
  [[nodiscard]] Index size() const { return rows.size() * columns.size(); }
};
/// Band of op(A), of op(B) as A and B are stored (transposed bands stay columns of A), by its number among those of all
/// layers, and tile of C.
[[nodiscard]] Region band_of_a(const Product& product, int band);
[[nodiscard]] Region band_of_b(const Product& product, int band);
[[nodiscard]] Region tile_of_c(const Product& product, int row_band, int column_band);

/// Part of a region that one rank owns: a rectangle of its local matrix, spread over the region by the placement.
struct Piece {
  int owner = 0;
  Range rows;     ///< Local rows of the owner.
  Range columns;  ///< Local columns of the owner.
  [[nodiscard]] Index size() const { return rows.size() * columns.size(); }
};
/// The processes of an axis that own any of `globals`, in order.
[[nodiscard]] std::vector<int> processes_of(const CyclicAxis& axis, const Range& globals);
/// Pieces that make up a region, by rising owner; empty ones left out.
[[nodiscard]] std::vector<Piece> pieces_of(const Placement& placement, const Region& region);
/// The piece of one rank; size() == 0 where it owns nothing there.
[[nodiscard]] Piece piece_of(const Placement& placement, const Region& region, int rank);

/// Whether a piece lies in its region as one block; if `whole_columns`, of whole columns, so that it is contiguous
/// there.
[[nodiscard]] bool is_block(const Placement& placement, const Region& region, const Piece& piece, bool whole_columns);

/// Whether a piece of a tile of C is sent in a run of memory of its own: it is neither all of the tile nor a block of
/// it that the transport takes.
[[nodiscard]] bool is_sent_packed(const Product& product, const Region& tile, const Piece& piece);

/// A tile to be computed, and the loads that hold its bands.
struct Step {
  int row_band = 0;
  int column_band = 0;
  int load_a = 0;
  int load_b = 0;
  int layer = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

/// A band brought into a slot. It may be posted once step `post_before` is the next one to run (its slot's last band is
/// then done with); it is used from step `first_use` to step `last_use`.
struct Load {
  int band = 0;  ///< Its number among those of all layers.
  int slot = 0;
  int post_before = 0;
  int first_use = 0;
  int last_use = 0;
};

/// A band of op(A) and the bands [begin, end) of op(B) with which it makes tiles, as far as Product::computes() says.
struct Strip {
  int row_band;
  int begin;
  int end;
};

/// Consecutive steps: tiles of one load of B with so many consecutive loads of A (`down`), or of one load of A with so
/// many of B.
struct Run {
  int load_a;  ///< Loads of the first tile.
  int load_b;
  int count;
  bool down;
  int layer;
  bool waits;  ///< Whether any of the several loads is used for the first time.
};

/// All that one rank computes, in order. Loads are in order of posting, which is also the order of the messages.
struct RankSchedule {
  std::vector<Strip> strips;  ///< Strips of each of the rank's layers.
  std::vector<Run> runs;      ///< The steps in short.
  std::vector<Step> steps;    ///< None in outline_schedules().
  std::vector<Load> loads_a;
  std::vector<Load> loads_b;
  int slots_a = 0;
  int slots_b = 0;
  int tiles = 0;  ///< Number of steps.
};

/// The `k`th step of a run.
[[nodiscard]] inline Step step_of(const Product& product, const RankSchedule& schedule, const Run& run, int k) {
  const int load_a = run.load_a + (run.down ? k : 0);
  const int load_b = run.load_b + (run.down ? 0 : k);
  return {schedule.loads_a[static_cast<std::size_t>(load_a)].band - run.layer * product.row_bands(),
          schedule.loads_b[static_cast<std::size_t>(load_b)].band - run.layer * product.column_bands(), load_a, load_b,
          run.layer};
}
/// Call body(Step) for each step of a schedule's runs.
template <class Body> void for_each_step(const Product& product, const RankSchedule& schedule, const Body& body) {
  for (const Run& run : schedule.runs) {
    for (int k = 0; k < run.count; ++k) body(step_of(product, schedule, run, k));
  }
}

/// One operand of a product, A or B, by the members in which plans keep what belongs to it.
struct PlanOperand {
  Placement Product::*placement;
  Region (*band)(const Product&, int);
  int (Product::*bands)() const;           ///< Number of bands in all layers.
  int (Product::*bands_of_layer)() const;  ///< Number of bands in each layer.
  std::vector<Load> RankSchedule::*loads;
  int RankSchedule::*slots;
};
inline constexpr PlanOperand operand_a{
    &Product::a, band_of_a, &Product::bands_of_a, &Product::row_bands, &RankSchedule::loads_a, &RankSchedule::slots_a};
inline constexpr PlanOperand operand_b{
    &Product::b,           band_of_b, &Product::bands_of_b, &Product::column_bands, &RankSchedule::loads_b,
    &RankSchedule::slots_b};

/// The schedule of a rank. Every row of the grid of ranks takes whole bands of op(A), as many as any other, first those
/// of which its ranks own most (A and C together); what is left over is cut along the bands of op(B) and shared out by
/// tiles among the ranks of a column. A rank computes the tiles of its row's bands and of its column's share of op(B).
/// It goes through its bands `bands_per_pass` at a time, beginning at q / grid_columns of the way; for each pass its
/// bands of op(B) go by, starting at p / grid_rows() of the way (with turn_in_row() and turn_in_column() for q and p
/// where it holds all of them), or in one order for all ranks where B is in host memory: a band then crosses its
/// owner's bus once for all of them. So ranks that need the same bands do not ask one owner at once. Two passes' bands
/// of A and `held_b` bands of B are held, so that the next travel while the last are used. If a rank waits for bands of
/// both at first, it goes through them by growing rectangles, not column by column: after k bands of each it so has k^2
/// tiles to compute, not k.
///
/// Each group of ranks does so by itself, layer after layer of those that it has; the groups begin at different places
/// too. No pass holds bands of two layers.
[[nodiscard]] RankSchedule make_schedule(const Product& product, int bands_per_pass, int rank);
/// The schedules of all ranks.
[[nodiscard]] std::vector<RankSchedule> make_schedules(const Product& product, int bands_per_pass);
/// The same without steps, for predictions: these take memory and time for each tile of C.
[[nodiscard]] std::vector<RankSchedule> outline_schedules(const Product& product, int bands_per_pass);

/// Elements that travel between a rank and others: all, and those of them that come from or go to other nodes.
struct Travelling {
  double all = 0.0;
  double between_nodes = 0.0;
  void add(double elements, bool on_one_node) {
    all += elements;
    between_nodes += on_one_node ? 0.0 : elements;
  }
};

/// Work that a rank's schedule asks of the machine.
struct Workload {
  double multiply_adds = 0.0;
  Travelling in;                    ///< Elements of A and B from other ranks.
  Travelling out;                   ///< Elements of C to other ranks.
  Travelling home;                  ///< Elements of C from other ranks to this one, which owns them.
  Travelling served;                ///< Elements of A and B to other ranks, its own or passed on.
  double elements_assembled = 0.0;  ///< Those of A and B copied once more to their place in a band.
  double messages_in = 0.0;
  double last_elements = 0.0;       ///< Those of the last tile to other ranks.
  int last_owner = -1;              ///< A rank that it goes to; -1: none.
  double last_senders = 0.0;        ///< Ranks whose last tile goes where this rank's does.
  double elements_added = 0.0;      ///< Those of this rank's C in partial tiles of every layer but the first.
  double elements_from_host = 0.0;  ///< Those of A and B from this rank's host memory to its device.
  double elements_to_host = 0.0;    ///< Those of C from its device to host memory.
};
/// Work of all ranks, without the ranks' own pieces: `in.all` is the sum over the rank's loads of the band's size less
/// what the rank owns of it.
[[nodiscard]] std::vector<Workload> workloads(const Product& product, const std::vector<RankSchedule>& schedules);

/// Whether any piece of the tiles that a rank computes is_sent_packed().
[[nodiscard]] bool sends_packed(const Product& product, const RankSchedule& schedule, int rank);

/// Most bands of op(A) that any rank takes (in part or whole) in one layer.
[[nodiscard]] int most_bands(const Product& product);

}  // namespace heddle::impl

// Work that schedules ask of the machine, rank by rank.
#include "gemm/plan/relays.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
namespace {

// A band in its pieces, and which of them lie in it as one block.
struct CutBand {
  Index size = 0;
  std::vector<Piece> pieces;
  std::vector<bool> blocks;
};
std::vector<CutBand> cut(const Product& product, const PlanOperand& operand) {
  const Placement& placement = product.*operand.placement;
  const int count = (product.*operand.bands)();
  std::vector<CutBand> bands(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    CutBand& made = bands[static_cast<std::size_t>(k)];
    const Region region = operand.band(product, k);
    made.size = region.size();
    made.pieces = pieces_of(placement, region);
    for (const Piece& piece : made.pieces) {
      made.blocks.push_back(is_block(placement, region, piece, !product.blocks));
    }
  }
  return bands;
}

// How much of each band's range a process of an axis owns, for those that own any.
struct Share {
  int process;
  double size;
};
template <class RangeOf>
std::vector<std::vector<Share>> shares_of(const CyclicAxis& axis, int count, const RangeOf& range_of_band) {
  std::vector<std::vector<Share>> shares(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const Range range = range_of_band(k);
    for (const int process : processes_of(axis, range)) {
      shares[static_cast<std::size_t>(k)].push_back({process, static_cast<double>(axis.locals(process, range).size())});
    }
  }
  return shares;
}

// Facts of the placements that workloads need, found once for all ranks.
struct Cuts {
  std::vector<CutBand> a;
  std::vector<CutBand> b;
  std::vector<std::vector<Share>> rows_of_c;
  std::vector<std::vector<Share>> columns_of_c;
  std::vector<double> runs;  // Sizes of the layers' runs of the inner dimension.
  Relays relays_a;
  Relays relays_b;

  Cuts(const Product& product, const std::vector<RankSchedule>& schedules)
      : a(cut(product, operand_a)),
        b(cut(product, operand_b)),
        rows_of_c(shares_of(product.c.row_axis(), product.row_bands(), [&](int k) { return product.row_range(k); })),
        columns_of_c(
            shares_of(product.c.column_axis(), product.column_bands(), [&](int k) { return product.column_range(k); })),
        relays_a(product, operand_a, schedules),
        relays_b(product, operand_b, schedules) {
    for (int layer = 0; layer < product.layers; ++layer) {
      runs.push_back(static_cast<double>(product.inner_range(layer).size()));
    }
  }
};

// Adds what `rank` does to its own workload, and what it asks of the others to theirs.
void add_workload(const Product& product, const Cuts& cuts, const RankSchedule& schedule, int rank,
                  std::vector<Workload>& all) {
  Workload& work = all[static_cast<std::size_t>(rank)];
  const auto receive = [&](const CutBand& band, int number, const Relays& relays) {
    for (std::size_t k = 0; k < band.pieces.size(); ++k) {
      const Piece& piece = band.pieces[k];
      const auto size = static_cast<double>(piece.size());
      const bool in_place = piece.owner == rank ? piece.size() == band.size : band.blocks[k];
      work.elements_assembled += in_place ? 0.0 : size;
      if (piece.owner != rank) {
        const int source = relays.source(rank, number, piece.owner);
        const bool on_one_node = product.on_one_node(rank, source);
        work.in.add(size, on_one_node);
        work.messages_in += 1.0;
        all[static_cast<std::size_t>(source)].served.add(size, on_one_node);
      }
    }
  };
  for (const Load& load : schedule.loads_a)
    receive(cuts.a[static_cast<std::size_t>(load.band)], load.band, cuts.relays_a);
  for (const Load& load : schedule.loads_b)
    receive(cuts.b[static_cast<std::size_t>(load.band)], load.band, cuts.relays_b);
  for (const Step& step : schedule.steps) {
    const Region tile = tile_of_c(product, step.row_band, step.column_band);
    work.multiply_adds += static_cast<double>(tile.size()) * cuts.runs[static_cast<std::size_t>(step.layer)];
    work.last_elements = 0.0;
    work.last_owner = -1;
    for (const Share& rows : cuts.rows_of_c[static_cast<std::size_t>(step.row_band)]) {
      for (const Share& columns : cuts.columns_of_c[static_cast<std::size_t>(step.column_band)]) {
        const int owner = product.c.rank_of(rows.process, columns.process);
        if (owner == rank) continue;
        const double size = rows.size * columns.size;
        const bool on_one_node = product.on_one_node(rank, owner);
        work.out.add(size, on_one_node);
        all[static_cast<std::size_t>(owner)].home.add(size, on_one_node);
        work.last_elements += size;
        work.last_owner = owner;
      }
    }
  }
  const auto part = [&](const Placement& placement) {
    return static_cast<double>(placement.local_rows(rank)) * static_cast<double>(placement.local_columns(rank));
  };
  work.elements_added = (product.layers - 1) * part(product.c);
  // A band of B crosses its owner's bus once for all ranks, which take it at the same time.
  const auto owned = [&](const Placement& placement) {
    return placement.residence() == Residence::host ? part(placement) : 0.0;
  };
  const auto [first, last] = product.column_share(product.grid_column_of(rank));
  const double passes =
      product.b.residence() == Residence::host
          ? std::ceil(static_cast<double>(schedule.loads_b.size()) / std::max(1.0, 1.0 * (last - first)))
          : 0.0;
  work.elements_from_host = owned(product.a) + passes * owned(product.b);
  work.elements_to_host = owned(product.c);
}

}  // namespace

std::vector<Workload> workloads(const Product& product, const std::vector<RankSchedule>& schedules) {
  std::vector<Workload> all(schedules.size());
  const Cuts cuts(product, schedules);
  for (int rank = 0; rank < product.ranks; ++rank) {
    add_workload(product, cuts, schedules[static_cast<std::size_t>(rank)], rank, all);
  }
  // By the owner, and at the end of those whose last tile goes nowhere.
  std::vector<double> senders(all.size() + 1, 0.0);
  const auto place = [&](const Workload& work) {
    return work.last_owner < 0 ? all.size() : static_cast<std::size_t>(work.last_owner);
  };
  for (const Workload& work : all) senders[place(work)] += 1.0;
  for (Workload& work : all) work.last_senders = senders[place(work)];
  return all;
}

}  // namespace heddle::impl

// Work that schedules ask of the machine, rank by rank.
#include "gemm/plan/cut.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
namespace {

// How much of a range the processes of an axis own, those that own any.
struct Share {
  int process;
  double size;
};
std::vector<Share> shares_of(const CyclicAxis& axis, const Range& range) {
  std::vector<Share> shares;
  for (const int process : processes_of(axis, range)) {
    shares.push_back({process, static_cast<double>(axis.locals(process, range).size())});
  }
  return shares;
}

// Adds what a rank receives of an operand, and what others serve to it.
void add_loads(const Product& product, const CutOperand& operand, const std::vector<Load>& loads, int rank,
               Workload& of_rank, std::vector<Travelling>& served) {
  Workload work = of_rank;  // Sums in registers.
  for (const Load& load : loads) {
    const CutBand& band = operand.bands[static_cast<std::size_t>(load.band)];
    for (const CutPiece& piece : band.pieces) {
      const bool in_place = piece.owner == rank ? piece.size == band.size : piece.is_block;
      work.elements_assembled += in_place ? 0.0 : piece.size;
      if (piece.owner == rank) continue;
      const int source = operand.relays.source(rank, load.band, piece.owner);
      const bool on_one_node = product.on_one_node(rank, source);
      work.in.add(piece.size, on_one_node);
      work.messages_in += 1.0;
      served[static_cast<std::size_t>(source)].add(piece.size, on_one_node);
    }
  }
  of_rank = work;
}

// Calls body(begin, end) for the runs [begin, end) of bands of op(B) with which a strip makes tiles.
template <class Body> void for_each_run_of(const Product& product, const Strip& strip, const Body& body) {
  for (int begin = strip.begin; begin < strip.end;) {
    int end = product.half ? begin : strip.end;
    while (end < strip.end && product.computes(strip.row_band, end)) ++end;
    if (end > begin) body(begin, end);
    begin = std::max(end, begin + 1);
  }
}

// Adds the tiles of a rank. A strip's tiles go to owners together: the sums are of whole numbers, in any order.
void add_tiles(const Product& product, const std::vector<std::vector<Share>>& rows_of_c, const RankSchedule& schedule,
               int rank, std::vector<Workload>& all) {
  Workload& work = all[static_cast<std::size_t>(rank)];
  const int layers = product.layers_of_group();
  double inner = 0.0;  // In all layers of the rank.
  for (int k = 0; k < layers; ++k) {
    inner += static_cast<double>(product.inner_range(product.group_of(rank) * layers + k).size());
  }
  std::vector<Share> columns_of_c;  // Of the bands [first, last).
  int first = -1;
  int last = -1;
  const auto for_each_owner = [&](int row_band, int begin, int end, const auto& body) {
    if (begin != first || end != last) {
      first = begin;
      last = end;
      columns_of_c =
          shares_of(product.c.column_axis(), {product.column_range(begin).begin, product.column_range(end - 1).end});
    }
    for (const Share& rows : rows_of_c[static_cast<std::size_t>(row_band)]) {
      for (const Share& columns : columns_of_c) {
        const int owner = product.c.rank_of(rows.process, columns.process);
        if (owner != rank) body(owner, rows.size * columns.size);
      }
    }
  };
  for (const Strip& strip : schedule.strips) {
    for_each_run_of(product, strip, [&](int begin, int end) {
      const Index width = product.column_range(end - 1).end - product.column_range(begin).begin;
      work.multiply_adds += static_cast<double>(product.row_range(strip.row_band).size() * width) * inner;
      for_each_owner(strip.row_band, begin, end, [&](int owner, double size) {
        const bool on_one_node = product.on_one_node(rank, owner);
        work.out.add(layers * size, on_one_node);
        all[static_cast<std::size_t>(owner)].home.add(layers * size, on_one_node);
      });
    });
  }
  if (schedule.runs.empty()) return;
  const Step step = step_of(product, schedule, schedule.runs.back(), schedule.runs.back().count - 1);
  for_each_owner(step.row_band, step.column_band, step.column_band + 1, [&](int owner, double size) {
    work.last_elements += size;
    work.last_owner = owner;
  });
}

// Adds the sums of layers, and what crosses the rank's bus.
void add_memory(const Product& product, const RankSchedule& schedule, int rank, Workload& work) {
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

CutOperand::CutOperand(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules)
    : relays(product, operand, schedules) {
  const Placement& placement = product.*operand.placement;
  const int count = (product.*operand.bands)();
  bands.resize(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    CutBand& band = bands[static_cast<std::size_t>(k)];
    const Region region = operand.band(product, k);
    band.size = static_cast<double>(region.size());
    for (const Piece& piece : pieces_of(placement, region)) {
      band.pieces.push_back(
          {piece.owner, is_block(placement, region, piece, !product.blocks), static_cast<double>(piece.size())});
    }
  }
}

std::vector<Workload> workloads(const Product& product, const std::vector<RankSchedule>& schedules) {
  return workloads(product, schedules, Cut(product, schedules));
}

std::vector<Workload> workloads(const Product& product, const std::vector<RankSchedule>& schedules, const Cut& cut) {
  std::vector<Workload> all(schedules.size());
  std::vector<Travelling> served(schedules.size());
  std::vector<std::vector<Share>> rows_of_c;
  for (int k = 0; k < product.row_bands(); ++k) {
    rows_of_c.push_back(shares_of(product.c.row_axis(), product.row_range(k)));
  }
  for (int rank = 0; rank < product.ranks; ++rank) {
    const RankSchedule& schedule = schedules[static_cast<std::size_t>(rank)];
    Workload& work = all[static_cast<std::size_t>(rank)];
    add_loads(product, cut.a, schedule.loads_a, rank, work, served);
    add_loads(product, cut.b, schedule.loads_b, rank, work, served);
    add_tiles(product, rows_of_c, schedule, rank, all);
    add_memory(product, schedule, rank, work);
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank].served = served[rank];
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

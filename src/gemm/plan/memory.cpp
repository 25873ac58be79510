// Memory that a plan of products takes.
#include "gemm/plan/memory.hpp"

#include "blas/layout.hpp"
#include "comm/failures/release.hpp"
#include "comm/vendor/vendor.hpp"
#include "core/gibibytes.hpp"
#include "core/instantiate.hpp"
#include "gemm/run/emulated_bands.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace heddle::impl {

double bytes_of_bands(const Product& product, const RankSchedule& schedule, double element_bytes, int rank) {
  const auto slots_taken = [&](const Placement& placement, const std::vector<Load>& loads,
                               Region (*band)(const Product&, int), Index extent) {
    std::set<int> slots;
    for (const Load& load : loads) {
      const Region region = band(product, load.band);
      if (is_streamed(placement) || piece_of(placement, region, rank).size() < region.size()) {
        slots.insert(load.slot);
      }
    }
    return static_cast<double>(slots.size()) * static_cast<double>(std::min(product.tile, extent));
  };
  const double bands = slots_taken(product.a, schedule.loads_a, band_of_a, product.rows()) +
                       slots_taken(product.b, schedule.loads_b, band_of_b, product.columns());
  return element_bytes * bands * static_cast<double>(product.longest_run());
}

double bytes_of_layers(const Product& product, double element_bytes, int rank) {
  return element_bytes * (product.layers - 1) * static_cast<double>(product.c.local_rows(rank)) *
         static_cast<double>(product.c.local_columns(rank));
}

template <Scalar T> double bytes_of_copies(const Product& product, int rank, MathMode math) {
  const Index tile = std::min(product.tile, std::max(product.rows(), product.columns()));
  const Index rows = product.rows() % product.tile;
  const Index columns = product.columns() % product.tile;
  // Builds for CPUs predict products of NVIDIA's GPUs.
  const bool cublas = on_host ? product.on_gpus : by_cublas;
  const bool thin = gemm_layout<T>(1, 1, math, cublas).tight && (rows == 1 || columns == 1 || tile == 1);
  const auto is_taken = [&](Index leading) {
    return gemm_layout<T>(tile, tile, math, cublas).fits(nullptr, leading, leading);
  };
  bool all =
      !thin && is_taken(product.tile) && is_taken(rows) && is_taken(columns) && is_taken(product.c.local_rows(rank));
  for (const auto& [op, placement] : {std::pair(product.op_a, &product.a), std::pair(product.op_b, &product.b)}) {
    all = all && is_taken(placement->local_rows(rank));
    // Bands of the other operand and operation run down columns, and those of a layer begin where those of the last one
    // end.
    const bool along = (op == Operation::none) != (placement == &product.a);
    for (int layer = 0; along && layer < product.layers; ++layer) {
      all = all && is_taken(product.inner_range(layer).size());
    }
  }
  if (all) return 0.0;
  return sizeof(T) * static_cast<double>(tile) *
         (2.0 * static_cast<double>(product.longest_run()) + static_cast<double>(tile));
}

std::size_t tile_buffers(const Product& product, const RankSchedule& schedule, double element_bytes, std::size_t lanes,
                         double room_bytes) {
  const std::size_t least = lanes + 2;
  if (!product.on_gpus) {
    return least;
  }
  // At the beginning the owner of C has its copy engine full of bands, and comes to the tiles late.
  const double tile_bytes = element_bytes * static_cast<double>(product.tile) * static_cast<double>(product.tile);
  const double wanted =
      is_streamed(product.c) ? std::min(static_cast<double>(schedule.tiles), room_bytes / tile_bytes) : 0.0;
  return std::max(
      {least, static_cast<std::size_t>(small_tiles(tile_bytes)), static_cast<std::size_t>(std::max(wanted, 0.0))});
}

namespace {

// Elements in message buffers of one operand: landings of pieces that come, by slot, and copies of pieces that leave.
Index message_elements(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules,
                       int rank) {
  const Placement& placement = product.*operand.placement;
  const bool streamed = is_streamed(placement);
  std::map<int, Index> landings;
  for (const Load& load : schedules[static_cast<std::size_t>(rank)].*operand.loads) {
    const Region region = operand.band(product, load.band);
    Index landing = 0;
    for (const Piece& piece : pieces_of(placement, region)) {
      const bool stays = piece.owner == rank && !streamed;
      if (!stays && !is_block(placement, region, piece, !product.blocks)) landing += piece.size();
    }
    landings[load.slot] = std::max(landings[load.slot], landing);
  }
  Index elements = 0;
  for (const auto& [slot, landing] : landings) elements += landing;
  if (product.blocks) return elements;
  std::vector<bool> wanted(static_cast<std::size_t>((product.*operand.bands)()));
  for (int other = 0; other < product.ranks; ++other) {
    if (other == rank && !streamed) continue;
    for (const Load& load : schedules[static_cast<std::size_t>(other)].*operand.loads) {
      wanted[static_cast<std::size_t>(load.band)] = true;
    }
  }
  for (int number = 0; number < (product.*operand.bands)(); ++number) {
    if (!wanted[static_cast<std::size_t>(number)]) continue;
    const Piece piece = piece_of(placement, operand.band(product, number), rank);
    if (piece.columns.size() > 1 && piece.rows.size() < placement.local_rows(rank)) elements += piece.size();
  }
  return elements;
}

}  // namespace

double bytes_of_messages(const Product& product, const std::vector<RankSchedule>& schedules, double element_bytes,
                         int rank, std::size_t tile_buffers) {
  Index elements =
      message_elements(product, operand_a, schedules, rank) + message_elements(product, operand_b, schedules, rank);
  // How much of each band of rows and of columns of C the rank owns.
  std::vector<Index> rows;
  std::vector<Index> columns;
  for (int k = 0; k < product.row_bands(); ++k) {
    rows.push_back(product.c.local_rows(rank, product.row_range(k)).size());
  }
  for (int k = 0; k < product.column_bands(); ++k) {
    columns.push_back(product.c.local_columns(rank, product.column_range(k)).size());
  }
  for (int other = 0; other < product.ranks; ++other) {
    if (other == rank) continue;
    Index largest = 0;
    for (const Strip& strip : schedules[static_cast<std::size_t>(other)].strips) {
      const Index of_strip = rows[static_cast<std::size_t>(strip.row_band)];
      for (int column = strip.begin; of_strip > 0 && column < strip.end; ++column) {
        if (!product.computes(strip.row_band, column)) continue;
        largest = std::max(largest, of_strip * columns[static_cast<std::size_t>(column)]);
      }
    }
    elements += static_cast<Index>(landings_of_a_source) * largest;
  }
  if (sends_packed(product, schedules[static_cast<std::size_t>(rank)], rank)) {
    elements += static_cast<Index>(tile_buffers) * std::min(product.tile, product.rows()) *
                std::min(product.tile, product.columns());
  }
  return element_bytes * static_cast<double>(elements);
}

template <Scalar T>
Footprint footprint_of(const PlanFacts& facts, const std::vector<RankSchedule>& schedules, int rank, std::size_t lanes,
                       std::size_t tile_buffers) {
  const Product& product = facts.product;
  const RankSchedule& schedule = schedules[static_cast<std::size_t>(rank)];
  Footprint footprint;
  footprint.messages = bytes_of_messages(product, schedules, sizeof(T), rank, tile_buffers);
  footprint.bands = bytes_of_bands(product, schedule, sizeof(T), rank);
  footprint.tiles =
      sizeof(T) * static_cast<double>(tile_buffers) *
      static_cast<double>(std::min(product.tile, product.rows()) * std::min(product.tile, product.columns()));
  footprint.layers = bytes_of_layers(product, sizeof(T), rank);
  if (facts.arithmetic.emulated()) {
    footprint.residues = EmulatedBands<T>::bytes(product, facts.bands_per_pass, facts.arithmetic.moduli,
                                                 facts.arithmetic.emulation_taken);
  } else {
    footprint.copies = static_cast<double>(lanes) * bytes_of_copies<T>(product, rank, facts.math);
  }
  return footprint;
}

double memory_for_residues(const Communicator& comm) {
  return comm.all_reduce(static_cast<double>(vendor::memory_info().free), Reduction::minimum) / 3.0;
}

void require_memory(const Communicator& comm, const Product& product, double needed) {
  const auto memory = vendor::memory_info();
  if (memory.total == 0) {
    return;
  }
  auto free = static_cast<double>(memory.free);
  double worst = comm.all_reduce(free / needed, Reduction::minimum);
  if (worst < 1.0) {
    release_mappings(comm);
    free = static_cast<double>(vendor::memory_info().free);
    worst = comm.all_reduce(free / needed, Reduction::minimum);
  }
  if (worst >= 1.0) {
    return;
  }
  const auto fits = static_cast<Index>(std::floor(static_cast<double>(product.tile) * worst));
  // The message is the same on every rank and gives the largest workspace.
  const double most = comm.all_reduce(needed, Reduction::maximum);
  const double least = comm.all_reduce(free, Reduction::minimum);
  throw Error(
      ErrorKind::memory,
      message_of("gemm: tile ", product.tile, " needs ", gibibytes(most), " of device memory for bands and tiles, ",
                 gibibytes(least), " of ", gibibytes(static_cast<double>(memory.total)), " are free; a tile of ", fits,
                 " with bands_per_pass 1, or matrices in host memory (host:...), would fit"));
}

#define HEDDLE_INSTANTIATE(T)                                        \
  template double bytes_of_copies<T>(const Product&, int, MathMode); \
  template Footprint footprint_of<T>(const PlanFacts&, const std::vector<RankSchedule>&, int, std::size_t, std::size_t)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

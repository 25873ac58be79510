// Bands, tiles and pieces of a distributed product, and the turns of its ranks.
#include "gemm/plan/schedule.hpp"

#include <algorithm>

namespace heddle::impl {

namespace {

Range range_of(int band, Index tile, Index extent) {
  return {band * tile, std::min((band + 1) * tile, extent)};
}

// Place of the first of the `count` ranks `first`, `first` + `stride`, ... that is on the node of the one at `place`;
// `place` itself if all are.
int turn_among(const Product& product, int first, int stride, int count, int place) {
  const auto shares_node = [&](int other) {
    return product.on_one_node(first + other * stride, first + place * stride);
  };
  int turn = place;
  bool all = true;
  for (int other = count - 1; other >= 0; --other) {
    if (shares_node(other)) {
      turn = std::min(turn, other);
    } else {
      all = false;
    }
  }
  return all ? place : turn;
}

}  // namespace

int Product::turn_in_row(int rank) const {
  const int q = grid_column_of(rank);
  return turn_among(*this, rank - q, 1, grid_columns, q);
}
int Product::turn_in_column(int rank) const {
  const int p = grid_row_of(rank);
  return turn_among(*this, rank - p * grid_columns, grid_columns, grid_rows(), p);
}

Range Product::inner_range(int layer) const {
  constexpr Index aligned = 64;
  const Index grain = inner() / layers >= aligned ? aligned : 1;
  const auto begin = [&](Index k) { return k == layers ? inner() : inner() * k / layers / grain * grain; };
  return {begin(layer), begin(Index{layer} + 1)};
}
Index Product::longest_run() const {
  Index longest = 0;
  for (int layer = 0; layer < layers; ++layer) longest = std::max(longest, inner_range(layer).size());
  return longest;
}

Range Product::row_range(int band) const {
  return range_of(band, tile, rows());
}
Range Product::column_range(int band) const {
  return range_of(band, tile, columns());
}

Region band_of_a(const Product& product, int band) {
  const Range inner = product.inner_range(band / product.row_bands());
  const Range rows = product.row_range(band % product.row_bands());
  return product.op_a == Operation::none ? Region{rows, inner} : Region{inner, rows};
}

Region band_of_b(const Product& product, int band) {
  const Range inner = product.inner_range(band / product.column_bands());
  const Range columns = product.column_range(band % product.column_bands());
  return product.op_b == Operation::none ? Region{inner, columns} : Region{columns, inner};
}

Region tile_of_c(const Product& product, int row_band, int column_band) {
  return {product.row_range(row_band), product.column_range(column_band)};
}

Piece piece_of(const Placement& placement, const Region& region, int rank) {
  return {rank, placement.local_rows(rank, region.rows), placement.local_columns(rank, region.columns)};
}

bool is_block(const Placement& placement, const Region& region, const Piece& piece, bool whole_columns) {
  const auto is_range = [](const CyclicAxis& axis, int process, const Range& locals) {
    return axis.global(process, locals.end - 1) - axis.global(process, locals.begin) == locals.size() - 1;
  };
  return piece.size() > 0 && (!whole_columns || piece.rows.size() == region.rows.size()) &&
         is_range(placement.row_axis(), placement.grid_row(piece.owner), piece.rows) &&
         is_range(placement.column_axis(), placement.grid_column(piece.owner), piece.columns);
}

bool is_sent_packed(const Product& product, const Region& tile, const Piece& piece) {
  return piece.size() != tile.size() && !(product.blocks && is_block(product.c, tile, piece, false));
}

bool sends_packed(const Product& product, const RankSchedule& schedule, int rank) {
  bool any = false;
  for_each_step(product, schedule, [&](const Step& step) {
    if (any) return;
    const Region tile = tile_of_c(product, step.row_band, step.column_band);
    const std::vector<Piece> pieces = pieces_of(product.c, tile);
    any = std::any_of(pieces.begin(), pieces.end(),
                      [&](const Piece& piece) { return piece.owner != rank && is_sent_packed(product, tile, piece); });
  });
  return any;
}

std::vector<int> processes_of(const CyclicAxis& axis, const Range& globals) {
  std::vector<int> processes;
  if (globals.empty()) return processes;
  const Index first = globals.begin / axis.block;
  const Index blocks = std::min<Index>((globals.end - 1) / axis.block - first + 1, axis.processes);
  for (Index k = 0; k < blocks; ++k) processes.push_back(static_cast<int>((first + k) % axis.processes));
  std::sort(processes.begin(), processes.end());
  return processes;
}

std::vector<Piece> pieces_of(const Placement& placement, const Region& region) {
  std::vector<Piece> pieces;
  const std::vector<int> columns = processes_of(placement.column_axis(), region.columns);
  for (const int row : processes_of(placement.row_axis(), region.rows)) {
    for (const int column : columns) {
      pieces.push_back(piece_of(placement, region, placement.rank_of(row, column)));
    }
  }
  return pieces;
}

}  // namespace heddle::impl

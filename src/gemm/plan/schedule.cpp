// Schedule of tiles, bands and messages of a distributed product.
#include "gemm/plan/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::impl {
namespace {

Range range_of(int band, Index tile, Index extent) {
  return {band * tile, std::min((band + 1) * tile, extent)};
}

// A band of op(A) and the bands [begin, end) of op(B) with which it makes tiles, as far as these are computed.
struct Strip {
  int row_band;
  int begin;
  int end;

  [[nodiscard]] bool takes(const Product& product, int column) const {
    return column >= begin && column < end && product.computes(row_band, column);
  }
};

// Rows of a group's grid by how much of a band of A and of C their ranks own, most first; equals in order.
std::vector<int> by_affinity(const Product& product, int group, int band) {
  std::vector<Index> owned(static_cast<std::size_t>(product.grid_rows()));
  const auto add = [&](const Piece& piece) {
    if (product.group_of(piece.owner) != group) return;
    owned[static_cast<std::size_t>(product.grid_row_of(piece.owner))] += piece.size();
  };
  for (int k = 0; k < product.layers_of_group(); ++k) {
    const int layer = group * product.layers_of_group() + k;
    for (const Piece& piece : pieces_of(product.a, band_of_a(product, layer * product.row_bands() + band))) add(piece);
  }
  for (int q = 0; q < product.grid_columns; ++q) {
    const auto [first, last] = product.column_share(q);
    const Region of_c{product.row_range(band),
                      {first * product.tile, std::min(last * product.tile, product.columns())}};
    for (const Piece& piece : pieces_of(product.c, of_c)) {
      if (product.grid_column_of(piece.owner) == q) add(piece);
    }
  }
  std::vector<int> rows(owned.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(), [&](int left, int right) {
    return owned[static_cast<std::size_t>(left)] > owned[static_cast<std::size_t>(right)];
  });
  // Without a preference the bands go to the rows in turn; otherwise all would go to the first row.
  if (owned[static_cast<std::size_t>(rows.front())] == owned[static_cast<std::size_t>(rows.back())]) {
    std::rotate(rows.begin(), rows.begin() + band % product.grid_rows(), rows.end());
  }
  return rows;
}

// The row of a group's grid that takes each band of op(A); -1 for bands that are left over.
std::vector<int> rows_of_bands(const Product& product, int group) {
  const int quota = product.row_bands() / product.grid_rows();
  std::vector<int> row_of(static_cast<std::size_t>(product.row_bands()), -1);
  std::vector<int> taken(static_cast<std::size_t>(product.grid_rows()), 0);
  for (int band = 0; quota > 0 && band < product.row_bands(); ++band) {
    for (const int row : by_affinity(product, group, band)) {
      if (taken[static_cast<std::size_t>(row)] < quota) {
        ++taken[static_cast<std::size_t>(row)];
        row_of[static_cast<std::size_t>(band)] = row;
        break;
      }
    }
  }
  return row_of;
}

// Adds the tiles of the left-over bands in columns [first, last), band after band, in equal runs to the ranks of column
// q of the grid whose first rank is given.
void share_out_rest(const Product& product, const std::vector<int>& row_of, int first_rank, int q,
                    std::vector<std::vector<Strip>>& strips) {
  const auto [first, last] = product.column_share(q);
  std::vector<std::pair<int, int>> tiles;
  for (int band = 0; band < product.row_bands(); ++band) {
    for (int column = first; row_of[static_cast<std::size_t>(band)] < 0 && column < last; ++column) {
      if (product.computes(band, column)) {
        tiles.emplace_back(band, column);
      }
    }
  }
  const auto rows = static_cast<std::size_t>(product.grid_rows());
  for (std::size_t p = 0; p < rows; ++p) {
    auto& mine = strips[p * static_cast<std::size_t>(product.grid_columns) + static_cast<std::size_t>(first_rank + q)];
    const std::size_t begin = tiles.size() * p / rows;
    for (std::size_t k = begin; k < tiles.size() * (p + 1) / rows; ++k) {
      const auto [band, column] = tiles[k];
      if (k > begin && mine.back().row_band == band) {
        mine.back().end = column + 1;
      } else {
        mine.push_back({band, column, column + 1});
      }
    }
  }
}

// Place where a rank begins among `count` bands that all ranks of its row or column of the grid need: `turn` / `turns`
// of the way, and a bit further on in each group, since all groups ask the same owners.
std::size_t begin_of(const Product& product, std::size_t count, int turn, int turns, int group) {
  const auto groups = static_cast<std::size_t>(product.groups());
  return count * (static_cast<std::size_t>(turn) * groups + static_cast<std::size_t>(group)) /
         (static_cast<std::size_t>(turns) * groups);
}

// Adds the strips of each layer to the ranks of one group.
void share_out_group(const Product& product, int group, int bands_per_pass, std::vector<std::vector<Strip>>& strips) {
  const std::vector<int> row_of = rows_of_bands(product, group);
  const int first_rank = group * product.ranks_of_group();
  for (int q = 0; q < product.grid_columns; ++q) {
    const auto [first, last] = product.column_share(q);
    if (first == last) continue;
    for (int band = 0; band < product.row_bands(); ++band) {
      if (const int row = row_of[static_cast<std::size_t>(band)]; row >= 0) {
        strips[static_cast<std::size_t>(first_rank + row * product.grid_columns + q)].push_back({band, first, last});
      }
    }
    share_out_rest(product, row_of, first_rank, q, strips);
    for (int p = 0; p < product.grid_rows(); ++p) {
      const int rank = first_rank + p * product.grid_columns + q;
      auto& mine = strips[static_cast<std::size_t>(rank)];
      const bool held = mine.size() * static_cast<std::size_t>(product.layers_of_group()) <=
                        2 * static_cast<std::size_t>(bands_per_pass);
      const std::size_t start =
          begin_of(product, mine.size(), held ? product.turn_in_row(rank) : q, product.grid_columns, group);
      std::rotate(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(start), mine.end());
    }
  }
}

// Strips of every rank in each of its layers.
std::vector<std::vector<Strip>> share_out(const Product& product, int bands_per_pass) {
  std::vector<std::vector<Strip>> strips(static_cast<std::size_t>(product.ranks));
  for (int group = 0; group < product.groups(); ++group) share_out_group(product, group, bands_per_pass, strips);
  return strips;
}

// Bands of columns that a pass of a layer needs, in its order.
std::vector<int> columns_of_pass(const Product& product, const std::vector<Strip>& strips, std::size_t first,
                                 std::size_t last, std::size_t held_b, int rank) {
  std::vector<int> columns;
  for (std::size_t k = first; k < last; ++k) {
    for (int column = strips[k].begin; column < strips[k].end; ++column) {
      if (strips[k].takes(product, column)) {
        columns.push_back(column);
      }
    }
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  if (product.b.residence() == Residence::device) {
    const bool held = strips.size() == last - first && product.layers_of_group() == 1 && columns.size() <= held_b;
    const int turn = held ? product.turn_in_column(rank) : product.grid_row_of(rank);
    const std::size_t start = begin_of(product, columns.size(), turn, product.grid_rows(), product.group_of(rank));
    std::rotate(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(start), columns.end());
    return columns;
  }
  // From the owners in turn, so that all their buses are busy.
  std::vector<int> taken(static_cast<std::size_t>(product.ranks), 0);
  std::vector<std::pair<int, int>> turns;
  turns.reserve(columns.size());
  for (const int column : columns) {
    const Region band = band_of_b(product, column);
    turns.emplace_back(taken[static_cast<std::size_t>(product.b.owner(band.rows.begin, band.columns.begin))]++, column);
  }
  std::sort(turns.begin(), turns.end());
  std::transform(turns.begin(), turns.end(), columns.begin(), [](const auto& turn) { return turn.second; });
  return columns;
}

// Tiles of one pass in the order of computing: columns one after the other, but the first `shells` columns by growing
// rectangles, `columns_a_row` times as wide as high.
struct Cell {
  std::size_t strip;
  std::size_t column;  // place in the pass
};
std::vector<Cell> cells_of_pass(const Product& product, const std::vector<Strip>& strips, std::size_t first,
                                std::size_t last, const std::vector<int>& columns, std::size_t shells,
                                std::size_t columns_a_row) {
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t k = first; k < last; ++k) {
      if (strips[k].takes(product, columns[c])) {
        cells.push_back({k, c});
      }
    }
  }
  const auto in_shells =
      std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.column >= shells; });
  std::stable_sort(cells.begin(), in_shells, [&](const Cell& one, const Cell& other) {
    return std::max((one.strip - first) * columns_a_row, one.column) <
           std::max((other.strip - first) * columns_a_row, other.column);
  });
  return cells;
}

// Whether any band of A of a rank's first pass comes from elsewhere.
bool waits_for_a(const Product& product, const std::vector<Strip>& strips, std::size_t held, int rank) {
  const int before = product.group_of(rank) * product.layers_of_group() * product.row_bands();
  return std::any_of(strips.begin(), strips.begin() + static_cast<std::ptrdiff_t>(std::min(held, strips.size())),
                     [&](const Strip& strip) {
                       const Region band = band_of_a(product, before + strip.row_band);
                       return product.a.residence() == Residence::host ||
                              piece_of(product.a, band, rank).size() < band.size();
                     });
}

// How a rank goes through its bands.
struct Passes {
  std::size_t held_b;         // Bands of op(B) held at a time.
  bool waits;                 // Whether it waits for bands of both at first.
  std::size_t columns_a_row;  // See cells_of_pass().
};

// Adds the pass of the strips [first, last) in a layer.
void add_pass(const Product& product, const std::vector<Strip>& strips, std::size_t first, std::size_t last, int layer,
              int rank, const Passes& passes, RankSchedule& schedule) {
  const std::size_t loads_before_a = schedule.loads_a.size();
  const std::size_t loads_before_b = schedule.loads_b.size();
  const std::size_t shells = loads_before_a == 0 && passes.waits ? passes.held_b : 0;
  const int bands_before_a = layer * product.row_bands();
  const int bands_before_b = layer * product.column_bands();
  for (std::size_t k = first; k < last; ++k) {
    const int slot = static_cast<int>(schedule.loads_a.size()) % schedule.slots_a;
    schedule.loads_a.push_back({bands_before_a + strips[k].row_band, slot, 0, -1, -1});
  }
  const std::vector<int> columns = columns_of_pass(product, strips, first, last, passes.held_b, rank);
  for (const int column : columns) {
    const auto slot = static_cast<int>(schedule.loads_b.size() % passes.held_b);
    schedule.loads_b.push_back({bands_before_b + column, slot, 0, -1, -1});
  }
  for (const Cell& cell : cells_of_pass(product, strips, first, last, columns, shells, passes.columns_a_row)) {
    const int step = static_cast<int>(schedule.steps.size());
    const std::size_t load_a = loads_before_a + (cell.strip - first);
    const std::size_t load_b = loads_before_b + cell.column;
    for (Load* load : {&schedule.loads_a[load_a], &schedule.loads_b[load_b]}) {
      load->first_use = load->first_use < 0 ? step : load->first_use;
      load->last_use = step;
    }
    schedule.steps.push_back(
        {strips[cell.strip].row_band, columns[cell.column], static_cast<int>(load_a), static_cast<int>(load_b), layer});
  }
}

RankSchedule schedule_of(const Product& product, const std::vector<Strip>& strips, int bands_per_pass, int rank) {
  RankSchedule schedule;
  const auto group = static_cast<std::size_t>(bands_per_pass);
  const int layers = product.layers_of_group();
  const bool waits = waits_for_a(product, strips, group, rank);
  const auto held_b = static_cast<std::size_t>(waits ? product.first_held_b : product.held_b);
  // With B in host memory each of its owners brings a band while one of A comes.
  const auto columns_a_row = static_cast<std::size_t>(
      product.b.residence() == Residence::host ? product.b.rank_end() - product.b.first_rank() : 1);
  schedule.slots_a = static_cast<int>(std::min(strips.size() * static_cast<std::size_t>(layers), 2 * group));
  for (int k = 0; k < layers; ++k) {
    const int layer = product.group_of(rank) * layers + k;
    for (std::size_t first = 0; first < strips.size(); first += group) {
      const std::size_t last = std::min(first + group, strips.size());
      add_pass(product, strips, first, last, layer, rank, {held_b, waits, columns_a_row}, schedule);
    }
  }
  schedule.slots_b = static_cast<int>(std::min(schedule.loads_b.size(), held_b));
  const auto allow_posting = [](std::vector<Load>& loads, int slots) {
    for (std::size_t k = static_cast<std::size_t>(slots); k < loads.size(); ++k) {
      // Messages keep the order of the loads, so none is posted before the one ahead of it.
      loads[k].post_before =
          std::max(loads[k - static_cast<std::size_t>(slots)].last_use + 1, loads[k - 1].post_before);
    }
  };
  allow_posting(schedule.loads_a, schedule.slots_a);
  allow_posting(schedule.loads_b, schedule.slots_b);
  return schedule;
}

}  // namespace

namespace {

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
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& step) {
    const Region tile = tile_of_c(product, step.row_band, step.column_band);
    const std::vector<Piece> pieces = pieces_of(product.c, tile);
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const Piece& piece) { return piece.owner != rank && is_sent_packed(product, tile, piece); });
  });
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

RankSchedule make_schedule(const Product& product, int bands_per_pass, int rank) {
  return schedule_of(product, share_out(product, bands_per_pass)[static_cast<std::size_t>(rank)], bands_per_pass, rank);
}

std::vector<RankSchedule> make_schedules(const Product& product, int bands_per_pass) {
  const auto strips = share_out(product, bands_per_pass);
  std::vector<RankSchedule> schedules;
  schedules.reserve(strips.size());
  for (int rank = 0; rank < product.ranks; ++rank) {
    schedules.push_back(schedule_of(product, strips[static_cast<std::size_t>(rank)], bands_per_pass, rank));
  }
  return schedules;
}

int most_bands(const Product& product) {
  if (product.half) {
    std::size_t most = 1;
    for (const auto& strips : share_out(product, 1)) most = std::max(most, strips.size());
    return static_cast<int>(most);
  }
  // Every row of the grid takes as many whole bands, and runs of equally many tiles of those that are left over, of
  // which a band has one in each column.
  const Index rows = product.grid_rows();
  const Index left_over = product.row_bands() % rows;
  Index most = 0;
  for (int q = 0; q < product.grid_columns; ++q) {
    const auto [first, last] = product.column_share(q);
    const Index columns = last - first;
    if (columns == 0) continue;
    Index parts = 0;
    for (Index p = 0; left_over > 0 && p < rows; ++p) {
      const Index begin = left_over * columns * p / rows;
      const Index end = left_over * columns * (p + 1) / rows;
      if (begin < end) parts = std::max(parts, (end - 1) / columns - begin / columns + 1);
    }
    most = std::max(most, product.row_bands() / rows + parts);
  }
  return static_cast<int>(std::max<Index>(most, 1));
}

}  // namespace heddle::impl

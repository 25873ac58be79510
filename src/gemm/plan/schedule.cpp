// Schedule of tiles, bands and messages of a distributed product.
#include "gemm/plan/schedule.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace heddle::impl {
namespace {

bool takes(const Product& product, const Strip& strip, int column) {
  return column >= strip.begin && column < strip.end && product.computes(strip.row_band, column);
}

// How much of a band of A and of C the ranks of each row of a group's grid own.
std::vector<Index> affinity(const Product& product, int group, int band) {
  std::vector<Index> owned(static_cast<std::size_t>(product.grid_rows()));
  const auto add = [&](int owner, Index size) {
    if (product.group_of(owner) == group) owned[static_cast<std::size_t>(product.grid_row_of(owner))] += size;
  };
  for (int k = 0; k < product.layers_of_group(); ++k) {
    const int layer = group * product.layers_of_group() + k;
    for (const Piece& piece : pieces_of(product.a, band_of_a(product, layer * product.row_bands() + band))) {
      add(piece.owner, piece.size());
    }
  }
  // A rank counts what it owns of C in its own column's share.
  for (const Piece& piece : pieces_of(product.c, {product.row_range(band), {0, product.columns()}})) {
    const auto [first, last] = product.column_share(product.grid_column_of(piece.owner));
    if (first == last) continue;
    const Range share{first * product.tile, std::min(last * product.tile, product.columns())};
    add(piece.owner, piece.rows.size() * product.c.local_columns(piece.owner, share).size());
  }
  return owned;
}

// The row of a group's grid that takes each band of op(A): of those that may take more, the one whose ranks own most of
// it, the first of equals; -1 for bands that are left over.
std::vector<int> rows_of_bands(const Product& product, int group) {
  const int rows = product.grid_rows();
  const int quota = product.row_bands() / rows;
  std::vector<int> row_of(static_cast<std::size_t>(product.row_bands()), -1);
  std::vector<int> taken(static_cast<std::size_t>(rows), 0);
  for (int band = 0; quota > 0 && band < product.row_bands(); ++band) {
    const std::vector<Index> owned = affinity(product, group, band);
    // Without a preference the bands go to the rows in turn; otherwise all would go to the first row.
    const bool in_turn = std::all_of(owned.begin(), owned.end(), [&](Index size) { return size == owned.front(); });
    int best = -1;
    for (int k = 0; k < rows && !(in_turn && best >= 0); ++k) {
      const int row = in_turn ? (band + k) % rows : k;
      if (taken[static_cast<std::size_t>(row)] == quota) continue;
      if (best < 0 || owned[static_cast<std::size_t>(row)] > owned[static_cast<std::size_t>(best)]) best = row;
    }
    if (best < 0) continue;
    ++taken[static_cast<std::size_t>(best)];
    row_of[static_cast<std::size_t>(band)] = best;
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
  int begin = strips[first].begin;
  int end = strips[first].end;
  for (std::size_t k = first; k < last; ++k) {
    begin = std::min(begin, strips[k].begin);
    end = std::max(end, strips[k].end);
  }
  std::vector<char> needed(static_cast<std::size_t>(end - begin), 0);
  for (std::size_t k = first; k < last; ++k) {
    const auto [row_band, of_strip, end_of_strip] = strips[k];
    if (!product.half) std::fill(needed.begin() + of_strip - begin, needed.begin() + end_of_strip - begin, 1);
    for (int column = of_strip; product.half && column < end_of_strip; ++column) {
      if (product.computes(row_band, column)) needed[static_cast<std::size_t>(column - begin)] = 1;
    }
  }
  std::vector<int> columns;
  columns.reserve(needed.size());
  for (int column = begin; column < end; ++column) {
    if (needed[static_cast<std::size_t>(column - begin)] != 0) columns.push_back(column);
  }
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

// The strips and bands of columns of a pass of a layer. The first `shells` columns are gone through by growing
// rectangles, `columns_a_row` times as wide as high, the others one after the other.
struct Pass {
  std::size_t first;  // Strips [first, last) of the rank.
  std::size_t last;
  std::vector<int> columns;
  std::size_t shells;
  std::size_t columns_a_row;
};

// Calls body(strip, column, count, down) for the runs of tiles in the order of computing: strip and column are the
// places of the first tile in the pass, count and down those of Run.
template <class Body>
void for_each_run(const Product& product, const std::vector<Strip>& strips, const Pass& pass, const Body& body) {
  const std::size_t count = pass.last - pass.first;
  const auto is_taken = [&](std::size_t strip, std::size_t column) {
    return takes(product, strips[pass.first + strip], pass.columns[column]);
  };
  const auto down = [&](std::size_t column, std::size_t end) {
    for (std::size_t k = 0; k < end;) {
      const std::size_t begin = k;
      while (k < end && is_taken(k, column)) ++k;
      if (k > begin) body(begin, column, k - begin, true);
      k = std::max(k, begin + 1);
    }
  };
  const auto along = [&](std::size_t strip, std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end;) {
      const std::size_t first = c;
      while (c < end && is_taken(strip, c)) ++c;
      if (c > first) body(strip, first, c - first, false);
      c = std::max(c, first + 1);
    }
  };
  const std::size_t shells = std::min(pass.shells, pass.columns.size());
  const std::size_t end = shells == 0 ? 0 : std::max((count - 1) * pass.columns_a_row + 1, shells);
  for (std::size_t shell = 0; shell < end; ++shell) {
    const std::size_t strip = shell / pass.columns_a_row;
    if (strip < count && shell % pass.columns_a_row == 0) along(strip, 0, std::min(shell, shells));
    if (shell < shells) down(shell, std::min(strip + 1, count));
  }
  if (count == 1) {
    along(0, shells, pass.columns.size());
    return;
  }
  for (std::size_t c = shells; c < pass.columns.size(); ++c) down(c, count);
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

// Adds a pass of a layer.
void add_pass(const Product& product, const std::vector<Strip>& strips, const Pass& pass, int layer,
              RankSchedule& schedule, std::size_t held_b) {
  const std::size_t loads_before_a = schedule.loads_a.size();
  const std::size_t loads_before_b = schedule.loads_b.size();
  for (std::size_t k = pass.first; k < pass.last; ++k) {
    const int slot = static_cast<int>(schedule.loads_a.size()) % schedule.slots_a;
    schedule.loads_a.push_back({layer * product.row_bands() + strips[k].row_band, slot, 0, -1, -1});
  }
  for (const int column : pass.columns) {
    const auto slot = static_cast<int>(schedule.loads_b.size() % held_b);
    schedule.loads_b.push_back({layer * product.column_bands() + column, slot, 0, -1, -1});
  }
  const auto use = [](Load& load, int first, int last) {
    const bool fresh = load.first_use < 0;
    load.first_use = fresh ? first : load.first_use;
    load.last_use = last;
    return fresh;
  };
  for_each_run(product, strips, pass, [&](std::size_t strip, std::size_t column, std::size_t count, bool down) {
    // One load of one operand with several of the other.
    Load* const one = down ? &schedule.loads_b[loads_before_b + column] : &schedule.loads_a[loads_before_a + strip];
    Load* const several = down ? &schedule.loads_a[loads_before_a + strip] : &schedule.loads_b[loads_before_b + column];
    const int first = schedule.tiles;
    schedule.tiles += static_cast<int>(count);
    use(*one, first, schedule.tiles - 1);
    bool waits = false;
    for (std::size_t k = 0; k < count; ++k) {
      const int step = first + static_cast<int>(k);
      waits = use(several[k], step, step) || waits;
    }
    schedule.runs.push_back({static_cast<int>(loads_before_a + strip), static_cast<int>(loads_before_b + column),
                             static_cast<int>(count), down, layer, waits});
  });
}

// Bands of op(B) that a rank holds at a time.
std::size_t held_bands_of_b(const Product& product, bool waits) {
  return static_cast<std::size_t>(waits ? product.first_held_b : product.held_b);
}

// The schedule of a rank without its steps.
RankSchedule outline_of(const Product& product, const std::vector<Strip>& strips, int bands_per_pass, int rank) {
  RankSchedule schedule;
  schedule.strips = strips;
  const auto group = static_cast<std::size_t>(bands_per_pass);
  const int layers = product.layers_of_group();
  const bool waits = waits_for_a(product, strips, group, rank);
  const std::size_t held_b = held_bands_of_b(product, waits);
  // With B in host memory each of its owners brings a band while one of A comes.
  const auto columns_a_row = static_cast<std::size_t>(
      product.b.residence() == Residence::host ? product.b.rank_end() - product.b.first_rank() : 1);
  schedule.slots_a = static_cast<int>(std::min(strips.size() * static_cast<std::size_t>(layers), 2 * group));
  for (int k = 0; k < layers; ++k) {
    const int layer = product.group_of(rank) * layers + k;
    for (std::size_t first = 0; first < strips.size(); first += group) {
      const std::size_t last = std::min(first + group, strips.size());
      const std::size_t shells = schedule.loads_a.empty() && waits ? held_b : 0;
      const Pass pass{first, last, columns_of_pass(product, strips, first, last, held_b, rank), shells, columns_a_row};
      if (first == 0 && k == 0) {
        const std::size_t passes = (strips.size() + group - 1) / group * static_cast<std::size_t>(layers);
        schedule.loads_a.reserve(strips.size() * static_cast<std::size_t>(layers));
        schedule.loads_b.reserve(pass.columns.size() * passes);
      }
      add_pass(product, strips, pass, layer, schedule, held_b);
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

// Whether all strips have all bands of columns of the first one.
bool is_rectangle(const Product& product, const std::vector<Strip>& strips) {
  return !product.half && std::all_of(strips.begin(), strips.end(), [&](const Strip& strip) {
    return strip.begin == strips.front().begin && strip.end == strips.front().end;
  });
}

// The outline of a rank of rectangular strips: `like`, that of another one of its group, with the bands of its own.
RankSchedule renumbered(const Product& product, const RankSchedule& like, const std::vector<Strip>& strips,
                        int bands_per_pass, bool waits, int rank) {
  RankSchedule schedule = like;
  schedule.strips = strips;
  const std::size_t held_b = held_bands_of_b(product, waits);
  const std::size_t of_pass = std::min(strips.size(), static_cast<std::size_t>(bands_per_pass));
  const std::vector<int> columns = columns_of_pass(product, strips, 0, of_pass, held_b, rank);
  const auto layers = static_cast<std::size_t>(product.layers_of_group());
  auto a = schedule.loads_a.begin();
  auto b = schedule.loads_b.begin();
  for (std::size_t k = 0; k < layers; ++k) {
    const int layer = product.group_of(rank) * product.layers_of_group() + static_cast<int>(k);
    for (const Strip& strip : strips) (a++)->band = layer * product.row_bands() + strip.row_band;
    const std::size_t loads_of_layer = schedule.loads_b.size() / layers;
    for (std::size_t pass = 0; pass < loads_of_layer; pass += columns.size()) {
      for (const int column : columns) (b++)->band = layer * product.column_bands() + column;
    }
  }
  return schedule;
}

// The same schedule with its steps.
RankSchedule with_steps(const Product& product, RankSchedule schedule) {
  schedule.steps.reserve(static_cast<std::size_t>(schedule.tiles));
  for_each_step(product, schedule, [&](const Step& step) { schedule.steps.push_back(step); });
  return schedule;
}

}  // namespace

RankSchedule make_schedule(const Product& product, int bands_per_pass, int rank) {
  return with_steps(product, outline_of(product, share_out(product, bands_per_pass)[static_cast<std::size_t>(rank)],
                                        bands_per_pass, rank));
}

std::vector<RankSchedule> make_schedules(const Product& product, int bands_per_pass) {
  std::vector<RankSchedule> schedules = outline_schedules(product, bands_per_pass);
  for (RankSchedule& schedule : schedules) schedule = with_steps(product, std::move(schedule));
  return schedules;
}

std::vector<RankSchedule> outline_schedules(const Product& product, int bands_per_pass) {
  const auto strips = share_out(product, bands_per_pass);
  std::vector<RankSchedule> schedules;
  schedules.reserve(strips.size());
  // Outlines that differ in the numbers of their bands alone are made once: ranks of rectangles by their group,
  // extents, and whether they wait for A.
  std::map<std::tuple<int, std::size_t, int, bool>, std::size_t> made;
  for (int rank = 0; rank < product.ranks; ++rank) {
    const std::vector<Strip>& mine = strips[static_cast<std::size_t>(rank)];
    if (mine.empty() || !is_rectangle(product, mine)) {
      schedules.push_back(outline_of(product, mine, bands_per_pass, rank));
      continue;
    }
    const bool waits = waits_for_a(product, mine, static_cast<std::size_t>(bands_per_pass), rank);
    const auto [like, is_first] = made.insert(
        {{product.group_of(rank), mine.size(), mine.front().end - mine.front().begin, waits}, schedules.size()});
    schedules.push_back(is_first ? outline_of(product, mine, bands_per_pass, rank)
                                 : renumbered(product, schedules[like->second], mine, bands_per_pass, waits, rank));
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
  // Shares of columns are alike but for one band.
  std::set<Index> seen;
  for (int q = 0; q < product.grid_columns; ++q) {
    const auto [first, last] = product.column_share(q);
    const Index columns = last - first;
    if (columns == 0 || !seen.insert(columns).second) continue;
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

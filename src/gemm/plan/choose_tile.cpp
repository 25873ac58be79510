// Search for the tile and the grid with which the tile model predicts the least time.
#include "gemm/plan/choose_tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace heddle::impl {
namespace {

// Factor of the least time within which grids and tiles count as equally fast.
constexpr double alike = 1.01;

bool comes_from_host_memory(const Product& product) {
  return product.a.residence() == Residence::host || product.b.residence() == Residence::host;
}

// The axes of op(X).
const CyclicAxis& rows_of(const Placement& placement, Operation op) {
  return op == Operation::none ? placement.row_axis() : placement.column_axis();
}
const CyclicAxis& columns_of(const Placement& placement, Operation op) {
  return op == Operation::none ? placement.column_axis() : placement.row_axis();
}

// A grid and a tile before a schedule is made.
struct Outline {
  double least = 0.0;  // Lower bound of the predicted seconds.
  double rough = 0.0;  // Seconds of the busiest rank by its work and traffic alone.
  double work = 0.0;   // Elementary steps of a prediction.
};

class TileSearch {
 public:
  TileSearch(const MachineRates& rates, const ElementCost& cost, const Product& product, int bands_per_pass,
             std::size_t workspace_bytes)
      : rates_(rates),
        cost_(cost),
        product_(product),
        bands_per_pass_(bands_per_pass),
        workspace_bytes_(workspace_bytes),
        longest_(std::max({product.rows(), product.columns(), Index{1}})) {
    if (bands_per_pass == 1) {
      // The bounds of the published algorithm. Holding more bands lets smaller tiles do.
      const TileBounds bounds = tile_bounds(rates, shape_of(product, cost));
      const Index smallest = std::max(bounds.memory.value_or(1), bounds.transfer);
      if (smallest <= longest_) smallest_ = smallest;
    }
    if (product.on_gpus) {
      // Two bands fit the workspace. A GPU is full with less than the largest tile measured, but larger ones spare
      // passes of B where one band of A is held, and some hold a rank's whole share.
      const double band = cost.bytes * static_cast<double>(product.longest_run());
      const double fits = static_cast<double>(workspace_bytes) / (2.0 * std::max(band, 1.0));
      const Index measured = bands_per_pass == 1 ? smallest_ : rates.gemm.back().tile;
      longest_ = std::min(longest_, std::max(measured, static_cast<Index>(std::min(fits, 1e15))));
    }
  }

  // Predict for each of these grids and the tile, or the tiles that may be fastest if it is 0.
  void over(const std::vector<int>& columns, Index tile);
  // Predict for tiles beside the fastest one as long as that gains.
  void beside_the_fastest();
  [[nodiscard]] int predictions() const { return static_cast<int>(times_.size()); }
  // The choice among what was predicted.
  [[nodiscard]] ChosenTile chosen();

 private:
  struct Trial {
    int columns;
    Index tile;
    Outline outline;
  };

  [[nodiscard]] std::set<Index> tiles_of(int columns) const;
  // Set grid, tile and bands of B. Return the bands of A in a pass.
  int settle(Product& product, int columns, Index tile) const;
  [[nodiscard]] Trial trial_of(int columns, Index tile) const;
  [[nodiscard]] Outline outline_of(const Product& product, int bands) const;
  // Predict, unless the time can't be near the least or all time for planning is used.
  void predict(const Trial& trial);
  static bool is_faster(const ChosenTile& one, const ChosenTile& other) { return one.seconds < other.seconds; }

  const MachineRates& rates_;
  const ElementCost& cost_;
  const Product& product_;
  int bands_per_pass_;
  std::size_t workspace_bytes_;
  Index smallest_ = 1;
  Index longest_;
  std::vector<ChosenTile> times_;
  std::map<int, std::pair<int, double>> grids_;  // Number of predictions and least time of each grid, by its columns.
  double best_ = std::numeric_limits<double>::infinity();
  double work_ = 0.0;
};

std::set<Index> TileSearch::tiles_of(int columns) const {
  std::set<Index> tiles;
  const auto insert = [&](Index tile) { tiles.insert(std::clamp(tile, smallest_, longest_)); };
  for (Index tile = product_.on_gpus ? 256 : 64; tile <= std::min(longest_, rates_.gemm.back().tile); tile *= 2) {
    for (const Index quarters : {4, 5, 6, 7}) insert(tile * quarters / 4);
  }
  // Times jump where the number of bands does: the smallest tile with so many bands, and the one below. On GPUs also
  // whole tiles of a BLAS's own.
  const auto cut = [&](Index extent, Index bands) {
    constexpr Index grain = 128;
    const Index tile = (extent + bands - 1) / bands;
    insert(tile);
    insert(tile - 1);
    if (product_.on_gpus) insert((tile + grain - 1) / grain * grain);
  };
  constexpr Index most_parts = 16;
  constexpr Index most_bands_of_any = 48;
  const auto cut_axis = [&](Index extent, Index parts, std::initializer_list<Index> blocks) {
    for (Index bands = 1; bands <= most_bands_of_any; ++bands) cut(extent, bands);
    for (Index k = 1; k <= most_parts; ++k) {
      cut(extent, k * parts);
      // A band that divides an owner's share comes from one owner.
      for (const Index block : blocks) cut(block, k);
    }
  };
  cut_axis(product_.rows(), product_.ranks_of_group() / columns,
           {rows_of(product_.a, product_.op_a).block, product_.c.row_axis().block});
  cut_axis(product_.columns(), columns, {columns_of(product_.b, product_.op_b).block, product_.c.column_axis().block});
  return tiles;
}

int TileSearch::settle(Product& product, int columns, Index tile) const {
  product.grid_columns = columns;
  product.tile = tile;
  return settle_bands(product, bands_per_pass_, std::numeric_limits<int>::max(), cost_.bytes, workspace_bytes_);
}

TileSearch::Trial TileSearch::trial_of(int columns, Index tile) const {
  Product product = product_;
  const int bands = settle(product, columns, tile);
  return {columns, tile, outline_of(product, bands)};
}

Outline TileSearch::outline_of(const Product& product, int bands) const {
  const auto up = [](double count, double parts) { return std::ceil(count / parts); };
  const auto tile = static_cast<double>(product.tile);
  const auto rows = static_cast<double>(product.rows());
  const auto columns = static_cast<double>(product.columns());
  const double inner = static_cast<double>(product.inner()) / product.groups();
  const double row_bands = product.row_bands();
  const double column_bands = product.column_bands();
  const double half = product.half ? 0.5 : 1.0;
  const double rate = rates_.flops_at(product.tile) / cost_.flops_per_multiply_add;
  const double bands_of_rank = up(row_bands, product.grid_rows());
  const double passes = up(bands_of_rank, std::max(bands, 1));
  const double rows_of_rank = std::min(bands_of_rank * tile, rows);
  const double columns_of_rank = std::min(up(column_bands, product.grid_columns) * tile, columns);
  const double tiles_of_rank = up(half * row_bands * column_bands, product.ranks_of_group());
  const double products = std::min(tiles_of_rank * tile * tile, half * rows * columns) * inner / rate;
  const auto seconds_of = [&](double extent, bool on_one_node) {
    const double bandwidth = bandwidth_between(rates_, on_one_node);
    return bandwidth > 0.0 ? extent * inner * cost_.bytes / bandwidth : 0.0;
  };
  const double owned = (rows + columns) / product.ranks;
  // The ranks of a node take what they need of the same bands from others once, where they hold all of them: so many
  // columns and rows of the grid.
  const double of_node =
      product.node_of.empty() ? 1.0 : static_cast<double>(product.ranks) / (product.node_of.back() + 1);
  const double node_columns = std::min(of_node, static_cast<double>(product.grid_columns));
  const double loads_of_a = bands_of_rank * product.layers_of_group();
  const double loads_of_b = passes * up(column_bands, product.grid_columns) * product.layers_of_group();
  const double wide = loads_of_a <= 2.0 * bands ? node_columns : 1.0;
  const double high =
      loads_of_b <= std::max(product.held_b, product.first_held_b) ? std::max(of_node / node_columns, 1.0) : 1.0;
  // Within a node the one that has a band gives it to all others in turn.
  const double near = std::max(
      rows_of_rank * std::max(wide - 1.0, 1.0) + passes * columns_of_rank * std::max(high - 1.0, 1.0) - owned, 0.0);
  // Those that begin at the same of the bands ask its owner at once, in all groups.
  const double columns_apart = product.grid_columns / wide * product.groups();
  const double rows_apart = product.grid_rows() / high * product.groups();
  const double readers_of_a = std::max(columns_apart / bands_of_rank, 1.0);
  const double readers_of_b = std::max(rows_apart / up(column_bands, product.grid_columns), 1.0);
  const double far =
      std::max(rows_of_rank / wide * readers_of_a + passes * columns_of_rank / high * readers_of_b - owned, 0.0);
  // A band of several owners waits for ranks that read others there.
  const auto fits = [&](Index block) { return block % product.tile == 0 || product.tile % block == 0; };
  const bool cut = !fits(rows_of(product.a, product.op_a).block) || !fits(columns_of(product.b, product.op_b).block);
  const double travels =
      (cut ? 2.0 : 1.0) *
      (product.node_of.empty() ? seconds_of(near, true) : std::max(seconds_of(near, true), seconds_of(far, false)));
  Outline outline;
  outline.least = half * rows * columns * inner / product.ranks_of_group() / rate;
  // Not all of the shorter one hides.
  outline.rough = std::max(products, travels) + 0.25 * std::min(products, travels) +
                  seconds_of(2.0 * tile, product.node_of.empty());
  outline.work = row_bands * column_bands * product.layers +
                 8.0 * product.ranks * (bands_of_rank + passes * up(column_bands, product.grid_columns));
  return outline;
}

void TileSearch::predict(const Trial& trial) {
  constexpr double most_work = 4e6;
  constexpr std::size_t least_trials = 4;
  constexpr double hopeless = 3.0;
  if (trial.outline.least > alike * best_ || trial.outline.rough > hopeless * best_) return;
  if (work_ + trial.outline.work > most_work && times_.size() >= least_trials) return;
  // A product of a millisecond is not worth as many trials as one of a second.
  constexpr double few = 60.0;
  constexpr double trials_a_second = 3e5;
  if (static_cast<double>(times_.size()) > few + trials_a_second * best_) return;
  // A grid that several tiles have not brought near the fastest one is given up.
  constexpr int enough = 16;
  constexpr double far = 1.35;
  auto& [tried, least] = grids_[trial.columns];
  if (tried >= enough && least > far * best_) return;
  work_ += trial.outline.work;
  Product product = product_;
  const int bands = settle(product, trial.columns, trial.tile);
  times_.push_back({trial.columns, trial.tile, predicted_seconds(rates_, cost_, product, bands)});
  least = tried++ == 0 ? times_.back().seconds : std::min(least, times_.back().seconds);
  best_ = std::min(best_, times_.back().seconds);
}

void TileSearch::over(const std::vector<int>& columns, Index tile) {
  std::vector<Trial> trials;
  for (const int count : columns) {
    for (const Index one : tile > 0 ? std::set<Index>{tile} : tiles_of(count)) trials.push_back(trial_of(count, one));
  }
  // Those that look fastest first; of those that look alike, the ones that are predicted soonest.
  const auto place = [](const Trial& trial) {
    const double logarithm = std::log(std::max(trial.outline.rough, std::numeric_limits<double>::min()));
    return std::pair(std::floor(logarithm / std::log(alike)), trial.outline.work);
  };
  std::stable_sort(trials.begin(), trials.end(),
                   [&](const Trial& one, const Trial& other) { return place(one) < place(other); });
  for (const Trial& trial : trials) predict(trial);
}

void TileSearch::beside_the_fastest() {
  constexpr std::size_t most_fastest = 16;
  std::set<std::pair<int, Index>> seen;
  for (double before = std::numeric_limits<double>::infinity(); best_ < before;) {
    before = best_;
    std::stable_sort(times_.begin(), times_.end(), is_faster);
    const std::vector<ChosenTile> fastest(
        times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(std::min(times_.size(), most_fastest)));
    for (const ChosenTile& around : fastest) {
      if (!seen.insert({around.grid_columns, around.tile}).second) continue;
      for (const double factor : {0.94, 0.955, 0.97, 0.98, 0.99, 1.01, 1.02, 1.03, 1.045, 1.06}) {
        const auto tile = static_cast<Index>(std::lround(factor * static_cast<double>(around.tile)));
        if (tile >= smallest_ && tile <= longest_) predict(trial_of(around.grid_columns, tile));
      }
    }
  }
}

ChosenTile TileSearch::chosen() {
  // The grid: one column if that is among the fastest.
  const bool one_column = std::any_of(times_.begin(), times_.end(), [&](const ChosenTile& one) {
    return one.grid_columns == 1 && one.seconds <= alike * best_;
  });
  const int columns = one_column ? 1 : std::min_element(times_.begin(), times_.end(), is_faster)->grid_columns;
  std::erase_if(times_, [&](const ChosenTile& one) { return one.grid_columns != columns; });
  std::sort(times_.begin(), times_.end(),
            [](const ChosenTile& one, const ChosenTile& other) { return one.tile < other.tile; });
  // The tile. Costs that the model leaves out are paid once a tile, and between nodes once a band and message, too, if
  // a rank waits for its turn on a core before it answers: over four hosts tiles of 171 were predicted to take 8 % less
  // than those of 512, and took 17 % more; on four GPUs those of 1024 were predicted to take 0.2 % less than those of
  // 2048, and took 4 % more. With A or B in host memory they make coarse pipelines slower: a bus that other devices use
  // too brings less than was measured, and the first tile waits for two bands.
  const bool take_smallest = product_.on_gpus && comes_from_host_memory(product_);
  const double near = product_.on_gpus ? 1.02 : product_.node_of.empty() ? alike : 1.10;
  const auto near_best = [&](const ChosenTile& one) { return one.seconds <= near * best_; };
  // Between nodes a rank also waits for late bands once a tile, so it gets two tiles or more along either side.
  const Index half_share =
      std::min(product_.rows() / (product_.ranks_of_group() / columns), product_.columns() / columns) / 2;
  const auto is_coarse = [&](Index tile) { return !product_.node_of.empty() && tile > half_share; };
  if (take_smallest) return *std::find_if(times_.begin(), times_.end(), near_best);
  // GPUs multiply fastest in tiles of a BLAS's own, which are powers of two.
  const auto evenness = [&](Index tile) {
    constexpr Index most = 1024;
    return product_.on_gpus ? std::min(tile & -tile, most) : 1;
  };
  const auto better = [&](const ChosenTile& one, const ChosenTile& other) {
    return std::pair(evenness(one.tile), one.tile) > std::pair(evenness(other.tile), other.tile);
  };
  const ChosenTile* taken = nullptr;
  // Larger ones than were measured only make the pipeline coarse, unless they are faster.
  const Index measured = rates_.gemm.back().tile;
  const bool any_measured = std::any_of(times_.begin(), times_.end(), [&](const ChosenTile& one) {
    return near_best(one) && !is_coarse(one.tile) && one.tile <= measured;
  });
  for (const ChosenTile& one : times_) {
    if (!near_best(one) || is_coarse(one.tile) || (any_measured && product_.on_gpus && one.tile > measured)) continue;
    if (taken == nullptr || better(one, *taken)) taken = &one;
  }
  return taken != nullptr ? *taken : *std::find_if(times_.begin(), times_.end(), near_best);
}

}  // namespace

ChosenTile choose_tile(const MachineRates& rates, const ElementCost& cost, const Product& product,
                       const std::vector<int>& columns, Index tile, int bands_per_pass, std::size_t workspace_bytes) {
  TileSearch search(rates, cost, product, bands_per_pass, workspace_bytes);
  search.over(columns, tile);
  if (tile == 0) search.beside_the_fastest();
  const int predictions = search.predictions();
  ChosenTile chosen = search.chosen();
  chosen.predictions = predictions;
  return chosen;
}

}  // namespace heddle::impl

#include "gemm/predict.hpp"

#include "comm/vendor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace heddle {

double MachineRates::peak_flops() const {
  double peak = 0.0;
  for (const GemmPoint& point : gemm) {
    peak = std::max(peak, point.flops);
  }
  return peak;
}

double MachineRates::flops_at(Index tile) const {
  const auto above = std::find_if(gemm.begin(), gemm.end(), [&](const GemmPoint& point) { return point.tile >= tile; });
  if (above == gemm.end()) {
    return gemm.back().flops;
  }
  if (above == gemm.begin()) {
    // Below the smallest measured tile the rate falls with the tile: each product is then mostly overhead.
    return above->flops * static_cast<double>(tile) / static_cast<double>(above->tile);
  }
  const auto below = std::prev(above);
  const double share = std::log2(static_cast<double>(tile) / static_cast<double>(below->tile)) /
                       std::log2(static_cast<double>(above->tile) / static_cast<double>(below->tile));
  return below->flops + share * (above->flops - below->flops);
}

TileBounds tile_bounds(const MachineRates& rates, const ProductShape& shape) {
  const auto above = [](double bound) { return static_cast<Index>(std::floor(bound)) + 1; };
  TileBounds bounds;
  const double n = std::cbrt(static_cast<double>(shape.rows) * static_cast<double>(shape.columns) *
                             static_cast<double>(shape.inner));
  // The paper counts N_i^2 N operations for N_i^2 N multiply-adds in (5), and elements, not bytes, moved.
  const double k = rates.peak_flops() / (rates.memory_bandwidth / shape.element_bytes);
  if (n > 2.0 * k) {
    bounds.memory = above(4.0 * k * n / (n - 2.0 * k));
  }
  if (shape.ranks > 1 && rates.link_bandwidth > 0.0) {
    // s N_i N (P - 1) / BW_transfer < f N_i^2 N / BW_math, f the operations of a multiply-add.
    bounds.transfer = above(shape.element_bytes / shape.flops_per_multiply_add * (shape.ranks - 1) *
                            rates.peak_flops() / rates.link_bandwidth);
  }
  return bounds;
}

}  // namespace heddle

namespace heddle::impl {

double predicted_seconds(const MachineRates& rates, const ElementCost& cost, const Product& product,
                         int bands_per_pass) {
  double slowest = 0.0;
  for (const Workload& work : workloads(product, bands_per_pass)) {
    const double math = cost.flops_per_multiply_add * work.multiply_adds / rates.flops_at(product.tile);
    double link = 0.0;
    double exposed = 0.0;
    if (rates.link_bandwidth > 0.0) {
      const double in = work.elements_in + work.elements_home;
      const double out = work.elements_served + work.elements_out;
      link = std::max(in, out) * cost.bytes / rates.link_bandwidth + work.messages_in * rates.latency;
      exposed = (work.first_elements + work.last_elements) * cost.bytes / rates.link_bandwidth;
    }
    const double copies =
        (3.0 * work.elements_home + 2.0 * work.elements_assembled) * cost.bytes / rates.memory_bandwidth;
    const double hidden = rates.overlap * std::min(math, std::max(link - exposed, 0.0));
    slowest = std::max(slowest, math + link + copies - hidden);
  }
  return slowest;
}

int bands_that_fit(const Product& product, double element_bytes, std::size_t workspace_bytes) {
  const int most = most_bands(product);
  const double band = element_bytes * static_cast<double>(product.tile) * static_cast<double>(product.inner());
  if (band * most <= static_cast<double>(workspace_bytes)) {
    return most;
  }
  return std::clamp(static_cast<int>(static_cast<double>(workspace_bytes) / (2.0 * band)), 1, most);
}

std::size_t default_workspace_bytes() {
  const std::size_t eighth = vendor::memory_info().total / 8;
  return eighth > 0 ? eighth : std::size_t{1} << 30;
}

Index choose_tile(const MachineRates& rates, const ElementCost& cost, Product product, int bands_per_pass,
                  std::size_t workspace_bytes) {
  const Index longest = std::max({product.rows(), product.columns(), Index{1}});
  std::set<Index> candidates;
  for (Index tile = 64; tile < longest; tile *= 2) {
    candidates.insert(tile);
    candidates.insert(tile + tile / 2);
  }
  // Tiles that share the rows out evenly, with room for the ragged rest.
  for (Index share = 1; share <= 8; ++share) {
    const Index parts = share * product.ranks;
    candidates.insert(std::max<Index>((product.rows() + parts - 1) / parts, 1));
  }
  const TileBounds bounds = tile_bounds(rates, {product.rows(), product.columns(), product.inner(), product.ranks,
                                                static_cast<int>(cost.bytes), cost.flops_per_multiply_add});
  const Index smallest = std::max(bounds.memory.value_or(1), bounds.transfer);
  if (*candidates.rbegin() >= smallest) {
    candidates.erase(candidates.begin(), candidates.lower_bound(smallest));
  }
  std::vector<std::pair<Index, double>> times;
  double best = std::numeric_limits<double>::infinity();
  for (const Index tile : candidates) {
    product.tile = tile;
    const int bands = bands_per_pass > 0 ? std::min(bands_per_pass, most_bands(product))
                                         : bands_that_fit(product, cost.bytes, workspace_bytes);
    times.emplace_back(tile, predicted_seconds(rates, cost, product, bands));
    best = std::min(best, times.back().second);
  }
  return std::find_if(times.rbegin(), times.rend(), [&](const auto& entry) { return entry.second <= 1.01 * best; })
      ->first;
}

}  // namespace heddle::impl

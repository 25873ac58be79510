// Product rates, interpolated from measured ones by tile and warmth, and the tile and tile bounds of the published
// model.
#include "core/names.hpp"
#include "gemm/plan/arguments.hpp"
#include "gemm/plan/predict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle {
namespace {

constexpr impl::Names<TileChoice, 2> choices = {{{TileChoice::model, "model"}, {TileChoice::published, "published"}}};

}  // namespace

std::string_view to_string(TileChoice choice) {
  return impl::name_of(choices, choice, "choice of the tile");
}

double MachineRates::peak_flops() const {
  double peak = 0.0;
  for (const GemmPoint& point : gemm) {
    peak = std::max(peak, point.flops);
  }
  return peak;
}

double MachineRates::flops_at(Index tile, double seconds) const {
  require(!gemm.empty(), "MachineRates: gemm holds no rate of any tile");
  const double warmth = warmth_after(seconds);
  const auto rate = [&](const GemmPoint& point) {
    return point.warm_flops > 0.0 ? point.flops + warmth * (point.warm_flops - point.flops) : point.flops;
  };
  const auto above = std::find_if(gemm.begin(), gemm.end(), [&](const GemmPoint& point) { return point.tile >= tile; });
  if (above == gemm.end()) {
    return rate(gemm.back());
  }
  if (above == gemm.begin()) {
    // Below the smallest measured tile the rate falls with the tile: each product is then mostly overhead.
    return rate(*above) * static_cast<double>(tile) / static_cast<double>(above->tile);
  }
  const auto below = std::prev(above);
  const double share = std::log2(static_cast<double>(tile) / static_cast<double>(below->tile)) /
                       std::log2(static_cast<double>(above->tile) / static_cast<double>(below->tile));
  return rate(*below) + share * (rate(*above) - rate(*below));
}

double MachineRates::warmth_after(double seconds) const {
  const auto after =
      std::find_if(warm.begin(), warm.end(), [&](const WarmPoint& point) { return point.seconds >= seconds; });
  if (after == warm.end()) {
    return warm.empty() ? 0.0 : warm.back().warmth;
  }
  const WarmPoint before = after == warm.begin() ? WarmPoint{} : *std::prev(after);
  return before.warmth +
         (after->warmth - before.warmth) * (seconds - before.seconds) / (after->seconds - before.seconds);
}

namespace {

void require_shape(const char* of, const ProductShape& shape) {
  require(shape.rows >= 0 && shape.columns >= 0 && shape.inner >= 0, of, ": C is ", shape.rows, " x ", shape.columns,
          ", the inner dimension is ", shape.inner, "; expected none negative");
  require(shape.ranks >= 1, of, ": ", shape.ranks, " ranks; expected at least 1");
  require(shape.element_bytes >= 1, of, ": elements of ", shape.element_bytes, " bytes; expected at least 1");
  require(std::isfinite(shape.flops_per_multiply_add) && shape.flops_per_multiply_add > 0.0, of, ": ",
          shape.flops_per_multiply_add, " flops of a multiply-add; expected a positive number");
}

}  // namespace

TileBounds tile_bounds(const MachineRates& rates, const ProductShape& shape) {
  require_shape("tile_bounds", shape);
  const auto above = [](double bound) { return static_cast<Index>(std::floor(bound)) + 1; };
  const std::string trouble = impl::trouble_with(rates);
  require(trouble.empty(), "tile_bounds: the rates can't be used: ", trouble);
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

std::optional<Index> TileBounds::smallest() const {
  if (!memory) return {};
  return std::max(*memory, transfer);
}

Index published_tile(const MachineRates& rates, const ProductShape& shape) {
  require_shape("published_tile", shape);
  const Index share = std::max<Index>(shape.rows / shape.ranks + (shape.rows % shape.ranks > 0 ? 1 : 0), 1);
  return std::min(tile_bounds(rates, shape).smallest().value_or(share), share);
}

}  // namespace heddle

namespace heddle::impl {

MachineRates emulated_rates(MachineRates rates) {
  rates.gemm = std::exchange(rates.emulated, {});
  rates.warm = {};
  return rates;
}

}  // namespace heddle::impl

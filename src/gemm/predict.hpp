// The tile model: predicted time of a product, and the tile it recommends.
#pragma once

#include "gemm/schedule.hpp"
#include <heddle/gemm/tile_model.hpp>

namespace heddle::impl {

/// Bytes and operations of one element of a product.
struct ElementCost {
  double bytes = 8.0;
  double flops_per_multiply_add = 2.0;
};

/// Seconds of the slowest rank: its products at the rate measured for the tile; the busier direction of its link, of
/// which the measured share hides behind the products, but for the first bands and the last tile; the passes over
/// what is copied: pieces into their band, tiles that come home into C.
[[nodiscard]] double predicted_seconds(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                       int bands_per_pass);

/// Bands of op(A) a pass holds: all of a rank's where its workspace takes them, else as many as fit twice (those in use
/// and those on their way), at least one.
[[nodiscard]] int bands_that_fit(const Product& product, double element_bytes, std::size_t workspace_bytes);

/// GemmOptions::workspace_bytes where it is left open.
[[nodiscard]] std::size_t default_workspace_bytes();

/// Of the tiles that meet both bounds, the one of least predicted time; of those within 1 % of it the largest, since
/// what the model leaves out is paid once a tile. `product.tile` is ignored. Where no tile meets the bounds (small
/// matrices), all count.
[[nodiscard]] Index choose_tile(const MachineRates& rates, const ElementCost& cost, Product product, int bands_per_pass,
                                std::size_t workspace_bytes);

}  // namespace heddle::impl

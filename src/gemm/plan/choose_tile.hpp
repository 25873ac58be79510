// The choice of tile and grid of a distributed product by the tile model.
#pragma once

#include "gemm/plan/predict.hpp"

#include <vector>

namespace heddle::impl {

/// A grid and a tile, and the time that is predicted with them.
struct ChosenTile {
  int grid_columns = 1;
  Index tile = 0;
  double seconds = 0.0;
};

/// Return the grid, among those with these `columns`, and the tile of a product: `tile` if it is not 0, else one of
/// those that divide the ranks' shares of C, A and B, or a power of two (half as much more, too).
///
/// The time is within 1 % of the least of all that are tried. Of such grids the one with one column is taken, then of
/// its tiles the largest, since costs that the model leaves out are paid once a tile; between nodes the largest of
/// which each rank computes at least two along either side, if any, and for CPUs one within 10 %. On GPUs with A or B
/// in host memory it is the smallest tile within 2 %. With one band of A at a time only tiles that meet both bounds
/// count (but for small matrices, where none does).
///
/// A prediction takes time for each tile of C, so that those that look fastest by their work and traffic alone are made
/// first, and no more than some tenths of a second allow. `product.tile` and `product.grid_columns` are ignored.
[[nodiscard]] ChosenTile choose_tile(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                     const std::vector<int>& columns, Index tile, int bands_per_pass,
                                     std::size_t workspace_bytes);

}  // namespace heddle::impl

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
  int predictions = 0;  ///< Number of predictions that the search made.
};

/// Return the grid, among those with these `columns`, and the tile of a product: `tile` if it is not 0, else one of
/// those at which the number of bands changes, those that divide the ranks' shares of C, A and B, and some between
/// powers of two.
///
/// Grids and tiles within 1 % of the least predicted time count as equally fast, and on GPUs tiles within 2 %, since
/// costs that the model leaves out are paid once a tile. One column is taken if it is among the fastest grids, then the
/// largest tile, on GPUs of those that the highest power of two divides, and with A or B in host memory the smallest.
/// Between nodes each rank computes at least two tiles along either side if such a tile is fast enough, and CPUs take
/// the largest tile within 10 %. With one band of A at a time only tiles that meet both bounds count (but for small
/// matrices, where none does).
///
/// A prediction takes time for each tile of C, so that those that look fastest by their work and traffic alone are made
/// first, and few if each takes long: for 1024 ranks four, of some hundredths of a second each. `product.tile` and
/// `product.grid_columns` are ignored.
[[nodiscard]] ChosenTile choose_tile(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                     const std::vector<int>& columns, Index tile, int bands_per_pass,
                                     std::size_t workspace_bytes);

}  // namespace heddle::impl

// The innermost loops of placed sums by vectors of eight doubles (AVX-512), for those by four (placed_x86.hpp), which
// decide where sums begin and what is known of them.
#pragma once

#include "interpose/placed/placed.hpp"

namespace heddle::impl::interpose {

/// Whether this processor has the vectors; nothing else here is called where it has not.
[[nodiscard]] bool has_wide_vectors();

/// Wide versions of measure_panel(), quantise_panel() and round_tile().
[[nodiscard]] bool measure_panel_wide(const double* panel, Index inner, int parts, float* leading,
                                      PanelMeasures& measures);
unsigned quantise_panel_wide(double* panel, Index count, const int (&scales)[panel_width], double unit, bool asked);
[[nodiscard]] std::uint64_t round_tile_wide(const PlacedRounding& rounding, Index columns, PlacedTile& tile,
                                            std::uint64_t& zeros);

/// Wide version of add_products().
void add_products_wide(const double* a, const double* b, Index count, Index columns, double place, PlacedTile& tile);

/// Takes the products of lanes from high and low parts, which have their places and starts.
void subtract_products_wide(const LaneSums& sums, double (&high)[LaneSums::lanes], double (&low)[LaneSums::lanes]);

}  // namespace heddle::impl::interpose

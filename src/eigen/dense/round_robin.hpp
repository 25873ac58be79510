// The order of Brent and Luk: n positions in two rows of n / 2, of which those one above the other are a pair.
#pragma once

#include <Kokkos_Macros.hpp>

namespace heddle::eigen::impl {

/// Next position of the column at `position` after a step of `pairs` pairs (positions p and p + pairs are one). After 2
/// pairs - 1 steps all have met all others once and are where they began (R. P. Brent, F. T. Luk, 1985, Fig. 2).
KOKKOS_INLINE_FUNCTION int next_position(int position, int pairs) {
  if (position < pairs) {
    return position == 0 ? 0 : position == pairs - 1 ? 2 * pairs - 1 : position + 1;
  }
  return position > pairs ? position - 1 : pairs > 1 ? 1 : position;
}

/// Initial position, 0 ... 2 pairs - 1, of the column at `position` after `step` steps, in closed form. Position 0
/// stays; the others run round 1, ..., pairs - 1, 2 pairs - 1, ..., pairs.
KOKKOS_INLINE_FUNCTION int occupant(int position, int pairs, int step) {
  if (position == 0) {
    return 0;
  }
  const int round = 2 * pairs - 1;
  const auto place = [pairs](int at) { return at < pairs ? at - 1 : 3 * pairs - 2 - at; };
  const int before = ((place(position) - step) % round + round) % round;
  return before < pairs - 1 ? before + 1 : 3 * pairs - 2 - before;
}

}  // namespace heddle::eigen::impl

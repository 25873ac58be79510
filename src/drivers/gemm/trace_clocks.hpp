// One clock for the timelines of several ranks.
#pragma once

#include <heddle/gemm/timeline.hpp>

#include <vector>

namespace heddle::driver {

/// Shift each rank's timeline (timelines[rank]) by a constant, so that intervals of one rank keep their distances: by
/// the least amount that lets no transfer arrive before it was sent, and then all together, by as much as the earliest
/// interval lies before zero. Ranks without constraints are not shifted. If clocks contradict each other, as they may
/// by their own errors, some transfers still arrive before they were sent; nothing is left before zero.
void align_clocks(std::vector<Timeline>& timelines);

}  // namespace heddle::driver

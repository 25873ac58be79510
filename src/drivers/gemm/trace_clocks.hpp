// One clock for the timelines of several ranks.
#pragma once

#include <heddle/gemm/timeline.hpp>

#include <vector>

namespace heddle::driver {

/// Moves each rank's timeline (timelines[rank]) by a constant, so that intervals of one rank keep their distances: by
/// the least that lets no transfer have arrived before it was sent, and all together, by as much as the earliest
/// interval lies before zero. Ranks that nothing binds stay where they were. Where clocks contradict each other, as
/// they may by their own errors, what is left over stays before its cause; nothing is left before zero.
void align_clocks(std::vector<Timeline>& timelines);

}  // namespace heddle::driver

// Timing of work that all ranks do together.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <benchmark/benchmark.h>

#include <functional>
#include <vector>

namespace heddle::perf {

/// The communicator of the whole job.
[[nodiscard]] const Communicator& world();

/// Extent to run with: `wanted`, or a small one where the program only tries itself out (--dry-run).
[[nodiscard]] Index extent(Index wanted);

/// Seconds of the slowest rank, from a fence and a barrier to a fence.
[[nodiscard]] double seconds_of(const std::function<void()>& work);

/// Lets ranks other than 0 sleep (not spin) until rank 0 is through with `work`, which so has every core to itself;
/// seconds of `work`.
[[nodiscard]] double seconds_of_rank_0(const std::function<void()>& work);

[[nodiscard]] double median(std::vector<double> values);

/// Two ways to the same end, timed in turn: `first second first second ...`. Counters: gflops_<name> of each (of the
/// median time) and ratio, the median of second's time over first's, pair by pair, with its extremes.
struct Contender {
  const char* name;
  std::function<double()> seconds;  ///< Runs it once.
};
void compare(benchmark::State& state, double flops, const Contender& first, const Contender& second);

}  // namespace heddle::perf

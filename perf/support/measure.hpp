// Timing of work that all ranks do together.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::perf {

/// The communicator of the whole job.
[[nodiscard]] const Communicator& world();

/// Returns the extent to run with: `wanted`, or a small one in a dry run (--dry-run).
[[nodiscard]] Index extent(Index wanted);
/// Returns true in a dry run.
[[nodiscard]] bool is_dry_run();

/// Returns the seconds of the slowest rank, from a fence and a barrier to a fence.
[[nodiscard]] double seconds_of(const std::function<void()>& work);

/// Lets ranks other than 0 sleep (not spin) until rank 0 has finished `work`, which thus has every core to itself;
/// returns the seconds of `work`.
[[nodiscard]] double seconds_of_rank_0(const std::function<void()>& work);

/// Returns the joules that `work`, run once by all ranks, takes on all GPUs, or on the processors of all nodes:
/// averaged over runs of two seconds in all, since counters are updated a few times a second. Empty if a
/// counter is missing on any rank or node. Collective. Each rank's GPU is assumed to be its own, and idle ones count.
[[nodiscard]] std::optional<double> joules_of(const std::function<void()>& work);
/// Sets the counter "joules", or with a name "joules_<name>", to joules_of() over `runs`, the number of iterations in
/// `work`; sets none if no energy can be read.
void count_joules(benchmark::State& state, const std::string& name, const std::function<void()>& work, int runs = 1);

[[nodiscard]] double median(std::vector<double> values);

/// Marks a wrong result: the benchmark is shown as failed, and the program ends with exit code 1.
void fail(benchmark::State& state, const char* why);

/// One of two implementations to compare.
struct Contender {
  const char* name;
  std::function<double()> seconds;  ///< Runs it once.
  double flops = 0.0;               ///< Operations of one run; 0: the value passed to compare().
};
/// Times both in turn, `first second first second ...`, after one run of each to warm up. Counters: <unit>_<name> and
/// <unit>_best_<name> of each, 10^9 operations a second (or bytes, if `flops` counts these), of the median and
/// of the shortest time; ratio, the median over the pairs of first's rate over second's, with its extremes, and
/// ratio_best, that of the two best rates.
void compare(benchmark::State& state, double flops, const Contender& first, const Contender& second,
             const std::string& unit = "gflops");

}  // namespace heddle::perf

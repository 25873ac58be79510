// Repeated timing of an operation by commands and studies.
#pragma once

#include "drivers/support/options/option_kinds.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/comm/communicator.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace heddle::driver {

/// A first run of more seconds is not repeated: one-time work is a small part of it.
inline constexpr double longest_warm_up = 3;
/// The words of a help text for the run that is not counted.
[[nodiscard]] inline std::string after_warm_up() {
  return "after one that is not counted unless it takes more than " + shortest(longest_warm_up) + " s";
}

/// Calls `keep` with what each of `runs` calls of `run` gives: a number of seconds, or a report with `seconds`, alike
/// on all ranks. One more run comes first and is dropped: it touches pages of memory for the first time, starts threads
/// and fills plans. If it takes more than `longest` seconds, it counts as the first.
template <class Run, class Keep>
void repeat_warm(int runs, const Run& run, const Keep& keep, double longest = longest_warm_up) {
  const auto seconds_of = [](const auto& result) -> double {
    if constexpr (requires { result.seconds; }) {
      return result.seconds;
    } else {
      return result;
    }
  };
  int counted = 0;
  if (const auto first = run(); seconds_of(first) > longest) {
    keep(first);
    ++counted;
  }
  for (; counted < runs; ++counted) keep(run());
}

/// Return why times may be longer than those of an idle machine, in a few words; empty if nothing says so. `load`: mean
/// number of threads that other programs had ready in the last minute, on `cores` cores. `fastest` and `slowest`:
/// seconds of the repeats of one operation.
[[nodiscard]] inline std::string busy_note(double load, int cores, double fastest, double slowest) {
  constexpr double tolerated_load = 0.25;
  constexpr double tolerated_spread = 1.3;
  std::string note;
  if (load > tolerated_load * cores) note = format("a load of %.2g on %d cores before this command", load, cores);
  if (slowest > tolerated_spread * fastest) {
    note += (note.empty() ? "" : ", and ") + format("repeats that took %.3g to %.3g s", fastest, slowest);
  }
  return note;
}

/// Return the seconds of work(), which blocks, from a barrier on, on the slowest rank. Collective.
template <class Work> double seconds_of_run(const Communicator& comm, const Work& work) {
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  work();
  return comm.all_reduce(seconds_since(start), Reduction::maximum);
}

/// The same of each of `runs` calls, as repeat_warm() counts them. Collective.
template <class Work>
std::vector<double> seconds_of_runs(const Communicator& comm, int runs, const Work& work,
                                    double longest = longest_warm_up) {
  std::vector<double> seconds;
  repeat_warm(
      runs, [&] { return seconds_of_run(comm, work); }, [&](double counted) { seconds.push_back(counted); }, longest);
  return seconds;
}

}  // namespace heddle::driver

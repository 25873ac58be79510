// Options, reports and timing of repeated runs for the search commands.
#pragma once

#include "drivers/support/options/option_table.hpp"
#include "drivers/support/repeats.hpp"
#include "drivers/support/report.hpp"
#include <heddle/search/algorithm.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::driver {

struct SearchSettings {
  search::Algorithm algorithm = search::Algorithm::automatic;
  search::HashFunction hash = search::HashFunction::automatic;
  search::Sorting sorting = search::Sorting::radix;
  Index memory = 0;
  bool phases = false;
  int repeat = 1;

  [[nodiscard]] search::SearchOptions options() const;
};

/// Option value in bytes: "750000000", "512M" or "1.5G"; K, M, G and T are powers of 1024.
struct Bytes {
  std::string type_name = "BYTES";

  static std::string expected() { return "bytes, as 750000000, 512M or 1.5G"; }
  static bool read(const std::string& text, Index& value);
  static std::string show(Index value) { return std::to_string(value); }
};

/// Return the options --algorithm, --hash-function, --sort, --memory, --phases and --repeat.
[[nodiscard]] const OptionTable<SearchSettings>& search_options();

/// Enter algorithm, hash, sort (if it sorts), phases, passes, iterations, collisions and memory_bytes.
void enter_search(nlohmann::ordered_json& results, const search::SearchReport& report);

/// Return "sort+fnv1a", "partition", "sort-by-id (merge)": the algorithm, its hash function if it has one, and its sort
/// if that is not the usual one.
[[nodiscard]] std::string name_of(const search::SearchReport& report);
/// Describe the search in text: passes, iterations, collisions, memory; phases_of() adds a line of phases.
[[nodiscard]] std::string course_of(const search::SearchReport& report);
[[nodiscard]] std::string phases_of(const search::SearchReport& report);

/// Time and report of a run of a search.
template <class ReportOfRun> struct TimedSearch {
  double seconds = 0.0;  ///< Slowest rank's time from a barrier on.
  ReportOfRun report;
};
/// Time `runs` calls of work(), which blocks and returns its report, and return the run of median time, the slower
/// middle one if the number is even. repeat_warm() counts the runs. Collective.
template <class Work> [[nodiscard]] auto median_of_runs(const Communicator& comm, int runs, const Work& work) {
  using Timed = TimedSearch<std::invoke_result_t<Work>>;
  std::vector<Timed> all;
  const auto run = [&] {
    Timed timed;
    timed.seconds = seconds_of_run(comm, [&] { timed.report = work(); });
    return timed;
  };
  repeat_warm(runs, run, [&](const Timed& timed) { all.push_back(timed); });
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(),
                   [](const Timed& one, const Timed& other) { return one.seconds < other.seconds; });
  return *middle;
}

}  // namespace heddle::driver

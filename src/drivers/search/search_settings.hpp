// What the commands of the search family share: options, what a search says of itself, and the time of repeated runs.
#pragma once

#include "drivers/support/option_table.hpp"
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

/// Bytes as "750000000", "512M" or "1.5G": K, M, G and T are powers of 1024.
struct Bytes {
  std::string type_name = "BYTES";

  static std::string expected() { return "bytes, as 750000000, 512M or 1.5G"; }
  static bool read(const std::string& text, Index& value);
  static std::string show(Index value) { return std::to_string(value); }
};

/// --algorithm, --hash-function, --sort, --memory, --phases and --repeat.
[[nodiscard]] const OptionTable<SearchSettings>& search_options();

/// Enters algorithm, hash, phases, passes, iterations, collisions and memory_bytes.
void enter_search(nlohmann::ordered_json& results, const search::SearchReport& report);

/// "sort+fnv1a", "partition", "sort-by-id (merge)": the algorithm, with its hash function where it has one, and with
/// its sort where that is not the usual one.
[[nodiscard]] std::string name_of(const search::SearchReport& report);
/// What the search said of its course, for people: passes, iterations, collisions, memory; and a line of phases.
[[nodiscard]] std::string course_of(const search::SearchReport& report);
[[nodiscard]] std::string phases_of(const search::SearchReport& report);

/// A run of a search, and what it reported.
template <class ReportOfRun> struct TimedSearch {
  double seconds = 0.0;  ///< The slowest rank's, from a barrier on.
  ReportOfRun report;
};
/// Of `runs` calls of work(), which blocks and gives its report, that of the median time, as repeat_warm() counts them;
/// of an even number, the slower one in the middle. Collective.
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

// What the commands of the search family share: options, what a search says of itself, and the time of repeated runs.
#pragma once

#include "drivers/support/clock.hpp"
#include "drivers/support/option_table.hpp"
#include "drivers/support/report.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/search/algorithm.hpp>

#include <string>
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

/// Seconds of each of `runs` calls of work(), which blocks: the slowest rank's, from a barrier on. Collective.
template <class Work> std::vector<double> seconds_of_runs(const Communicator& comm, int runs, const Work& work) {
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(comm.all_reduce(seconds_since(start), Reduction::maximum));
  }
  return seconds;
}

/// Which of them is the median; of an even number, the slower one in the middle.
[[nodiscard]] std::size_t median_run(const std::vector<double>& seconds);

}  // namespace heddle::driver

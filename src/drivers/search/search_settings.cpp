// Options of the search commands, and their reports in JSON and text.
#include "drivers/search/search_settings.hpp"

#include "drivers/support/process/text.hpp"

#include <algorithm>
#include <charconv>

namespace heddle::driver {
namespace {

// Return a number of bytes; negative if the text is none.
Index bytes_from(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || !(value >= 0)) return -1;
  if (stop != end) {
    const auto power = std::string_view("KMGT").find(*stop);
    if (power == std::string_view::npos || stop + 1 != end) return -1;
    value *= static_cast<double>(Index{1} << (10 * (power + 1)));
  }
  return value < 9e18 ? static_cast<Index>(value) : -1;
}

bool sorts(search::Algorithm algorithm) {
  return algorithm == search::Algorithm::sort || algorithm == search::Algorithm::sort_by_id;
}

}  // namespace

bool Bytes::read(const std::string& text, Index& value) {
  value = bytes_from(text);
  return value >= 0;
}

search::SearchOptions SearchSettings::options() const {
  return {.algorithm = algorithm, .hash = hash, .sorting = sorting, .memory = memory, .time_phases = phases};
}

const OptionTable<SearchSettings>& search_options() {
  using search::Algorithm;
  using search::HashFunction;
  using search::Sorting;
  static const OptionTable<SearchSettings> table = {
      {"--algorithm", &SearchSettings::algorithm,
       choice<Algorithm>("NAME", {Algorithm::automatic, Algorithm::partition, Algorithm::hash_fight, Algorithm::sort,
                                  Algorithm::sort_by_id}),
       "auto, partition, hash-fight, sort or sort-by-id"},
      {"--hash-function",
       &SearchSettings::hash,
       choice<HashFunction>("NAME", {HashFunction::automatic, HashFunction::exclusive_or, HashFunction::fnv1a,
                                     HashFunction::morton, HashFunction::mixer}),
       "Of hash-fight and sort: auto, xor, fnv1a, morton or mixer",
       {.was = "--hash"}},
      {"--sort", &SearchSettings::sorting, choice<Sorting>("NAME", {Sorting::radix, Sorting::merge}),
       "Of sort and sort-by-id: radix, or merge (by comparisons)"},
      {"--memory", &SearchSettings::memory, Bytes{},
       "Bytes that the search may take (of partition, its records), in several passes where it must; K, M, G, T are "
       "powers of 1024; 0: what one pass needs"},
      {"--phases", &SearchSettings::phases, Flag{}, "Time each phase"},
      {"--repeat", &SearchSettings::repeat, Integer{.least = 1},
       "Times to do it, " + after_warm_up() + "; the median is reported"},
  };
  return table;
}

void enter_search(nlohmann::ordered_json& results, const search::SearchReport& report) {
  results["algorithm"] = option_name(report.algorithm);
  results["hash"] = option_name(report.hash);
  if (sorts(report.algorithm)) results["sort"] = option_name(report.sorting);
  auto& phases = results["phases"] = nlohmann::ordered_json::object();
  for (const search::Phase& phase : report.phases) phases[phase.name] = phase.seconds;
  results["passes"] = report.passes;
  results["iterations"] = report.iterations;
  results["collisions"] = report.collisions;
  results["memory_bytes"] = report.memory;
}

std::string name_of(const search::SearchReport& report) {
  std::string name(search::to_string(report.algorithm));
  if (report.hash != search::HashFunction::automatic) name += "+" + std::string(search::to_string(report.hash));
  if (sorts(report.algorithm) && report.sorting == search::Sorting::merge) name += " (merge)";
  return name;
}

std::string course_of(const search::SearchReport& report) {
  std::string text;
  const auto counted = [&](const char* one, const char* many, long long count) {
    text += format("%lld %s, ", count, count == 1 ? one : many);
  };
  if (report.algorithm == search::Algorithm::partition || report.passes > 1) {
    counted("pass", "passes", report.passes);
  }
  if (report.algorithm == search::Algorithm::hash_fight) counted("iteration", "iterations", report.iterations);
  if (report.algorithm == search::Algorithm::hash_fight || report.algorithm == search::Algorithm::sort) {
    counted("collision", "collisions", report.collisions);
  }
  return text + format("%.4g MiB of memory", static_cast<double>(report.memory) / (1 << 20));
}

std::string phases_of(const search::SearchReport& report) {
  std::string text = "phases";
  for (const search::Phase& phase : report.phases) {
    text += format("%s %s %.4g s", &phase == report.phases.data() ? "" : ",", phase.name.c_str(), phase.seconds);
  }
  return text;
}

}  // namespace heddle::driver

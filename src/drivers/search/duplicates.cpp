// `heddle duplicates`: equal integer keys, from a text file or generated.
#include "drivers/commands.hpp"
#include "drivers/search/duplicates_text.hpp"
#include "drivers/search/search_settings.hpp"
#include "drivers/support/outputs.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/sha256.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/host_memory.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/random.hpp>
#include <heddle/core/strided.hpp>
#include <heddle/search/duplicates.hpp>

#include <algorithm>
#include <numeric>
#include <ranges>

namespace heddle::driver {
namespace {

struct Options {
  std::string input;
  Index size = -1;
  Index distinct = 0;
  Index words = 1;
  std::uint64_t seed = 1;
  std::string output, groups;
  SearchSettings search;
};

const OptionTable<Options>& all_options() {
  const auto random = [](const Options& options) { return options.input.empty(); };
  static const OptionTable<Options> table =
      OptionTable<Options>{
          {"--input,-i", &Options::input, Text{},
           "Text file of integer keys, one a line; their words, from -2^63 to 2^64 - 1, separated by white space or "
           "commas; what follows a # is passed over"},
          {"--size", &Options::size, Integer{.least = 0}, "Make this many random keys", {.was = "--generate"}},
          {"--distinct",
           &Options::distinct,
           Integer{.least = 1, .type_name = "K"},
           "Chosen from this many (default: half of them)",
           {.needs = "--size"},
           random},
          {"--words",
           &Options::words,
           Integer{.least = 1, .type_name = "M"},
           "Words of 64 bits in each, at most 64",
           {.needs = "--size"},
           random},
          {"--seed", &Options::seed, Integer{}, "Of the random keys", {.needs = "--size"}, random},
          {"--output,-o", &Options::output, Text{"CSV"},
           "File for the unique keys in the order of first occurrence: group, first key, count; of text input the key "
           "too"},
          {"--groups", &Options::groups, Text{}, "File for the group of each key, one a line"},
      }
          .include(&Options::search, search_options());
  return table;
}

using Keys = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;

// Draw each key from `distinct` keys, which differ in their first words.
Keys random_keys(const ExecutionSpace& space, Index count, Index distinct, Index words, std::uint64_t seed) {
  const Keys keys(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::driver::keys"),
                  static_cast<std::size_t>(count), static_cast<std::size_t>(words));
  Kokkos::parallel_for(
      "heddle::driver::keys", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, count),
      KOKKOS_LAMBDA(Index i) {
        const std::uint64_t which =
            mixed_bits(golden_step + mixed_bits(golden_step + seed) + static_cast<std::uint64_t>(i)) %
            static_cast<std::uint64_t>(distinct);
        const std::uint64_t first = mixed_bits(golden_step + (which ^ mixed_bits(golden_step + seed + 1)));
        for (Index word = 0; word < words; ++word) {
          keys(i, word) = static_cast<Index>(
              word == 0 ? first : mixed_bits(golden_step + first + static_cast<std::uint64_t>(word)));
        }
      });
  space.fence("heddle::driver::keys");
  return keys;
}

Keys on_device(const KeyTable& table) {
  const Kokkos::View<const Index**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      host(table.values.data(), static_cast<std::size_t>(table.keys()), static_cast<std::size_t>(table.words));
  const Keys keys(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::keys"), host.extent(0),
                  host.extent(1));
  Kokkos::deep_copy(flat(keys), flat(host));
  return keys;
}
KeyTable on_host(const Keys& keys) {
  KeyTable table;
  table.words = static_cast<Index>(keys.extent(1));
  table.values.resize(keys.size());
  const Kokkos::View<Index**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      table.values.data(), keys.extent(0), keys.extent(1));
  Kokkos::deep_copy(flat(host), flat(keys));
  return table;
}
std::vector<Index> on_host(const Kokkos::View<Index*, MemorySpace>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<Index>(host.data(), host.data() + host.extent(0));
}

// Count keys that differ from their group's first key or come before it, and groups with wrong counts or first keys, or
// out of order.
Index misplaced(const KeyTable& keys, const KeyGroups& groups) {
  Index wrong = 0;
  std::vector<Index> count(groups.count.size(), 0);
  for (std::size_t i = 0; i < groups.group.size(); ++i) {
    const auto group = static_cast<std::size_t>(groups.group[i]);
    if (group >= groups.first.size()) {
      ++wrong;
      continue;
    }
    ++count[group];
    const Index first = groups.first[group];
    wrong +=
        first <= static_cast<Index>(i) && std::ranges::equal(keys.key(static_cast<Index>(i)), keys.key(first)) ? 0 : 1;
  }
  for (std::size_t group = 0; group < count.size(); ++group) {
    wrong +=
        count[group] == groups.count[group] && (group == 0 || groups.first[group - 1] < groups.first[group]) ? 0 : 1;
  }
  return wrong;
}

// Count groups that should be one: their first keys are equal.
Index split_groups(const KeyTable& keys, const KeyGroups& groups) {
  std::vector<Index> order = groups.first;
  std::sort(order.begin(), order.end(), [&](Index one, Index other) {
    return std::ranges::lexicographical_compare(keys.key(one), keys.key(other));
  });
  Index count = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    count += std::ranges::equal(keys.key(order[k - 1]), keys.key(order[k])) ? 1 : 0;
  }
  return count;
}

std::string digest_of(const KeyGroups& groups) {
  Sha256 hash;
  for (const auto* numbers : {&groups.group, &groups.first, &groups.count}) {
    hash.add_numbers(numbers->data(), numbers->size());
  }
  return hash.digest();
}

void require_options(const Context& context, Options& options) {
  require(context.comm().size() == 1, "duplicates: one rank, please; it searches on one device");
  require(options.input.empty() != (options.size < 0),
          "give the keys with --input, or make some with --size, not both");
  require(options.words <= 64, "--words ", options.words, ": expected at most 64");
  const double bytes =
      static_cast<double>(sizeof(Index)) * static_cast<double>(options.size) * static_cast<double>(options.words);
  require(options.size < 0 || bytes <= host_memory(), "--size ", options.size, ": the keys take ", bytes / 0x1p30,
          " GiB, more than this machine's memory");
  if (options.distinct == 0) options.distinct = std::max<Index>(1, options.size / 2);
  require_distinct_outputs(
      {{"--json", context.options().json_file()}, {"--output", options.output}, {"--groups", options.groups}});
  for (const std::string& path : {options.output, options.groups}) {
    if (!path.empty()) const PendingFile probe(path);
  }
}

int run(Context& context, Options options) {
  require_options(context, options);
  const Communicator& comm = context.comm();
  auto report = context.report("duplicates");
  all_options().enter(options, report.inputs());
  auto start = std::chrono::steady_clock::now();
  KeyTable table;
  Keys keys;
  if (options.input.empty()) {
    keys = random_keys(comm.space(), options.size, options.distinct, options.words, options.seed);
  } else {
    table = read_keys(options.input);
    keys = on_device(table);
  }
  report.times()["keys"] = seconds_since(start);

  search::Duplicates found;
  const search::SearchOptions how = options.search.options();
  const auto [seconds, course] = median_of_runs(comm, options.search.repeat, [&] {
    found = {};
    found = search::find_duplicates(comm.space(), keys, how);
    return found.report;
  });

  if (options.input.empty()) table = on_host(keys);
  const KeyGroups groups = {on_host(found.group), on_host(found.first), on_host(found.count)};
  Index duplicated = 0;
  for (const Index count : groups.count) duplicated += count > 1 ? count : 0;
  const auto largest = std::max_element(groups.count.begin(), groups.count.end());
  auto& results = report.results();
  results["keys"] = table.keys();
  results["words"] = table.words;
  results["unique"] = found.groups();
  results["duplicated"] = duplicated;
  results["largest_group"] = largest == groups.count.end() ? 0 : *largest;
  enter_search(results, course);
  results["seconds"] = seconds;
  results["keys_per_second"] = static_cast<double>(table.keys()) / seconds;
  results["sha256"] = digest_of(groups);
  context.say(
      format("duplicates: %lld key%s of %lld word%s, %lld unique, %lld that another equals; %s: %.4g s, %.4g keys/s",
             static_cast<long long>(table.keys()), table.keys() == 1 ? "" : "s", static_cast<long long>(table.words),
             table.words == 1 ? "" : "s", static_cast<long long>(found.groups()), static_cast<long long>(duplicated),
             name_of(course).c_str(), seconds, static_cast<double>(table.keys()) / seconds));
  context.say(course_of(course));
  if (options.search.phases) context.say(phases_of(course));
  context.say("sha256 " + results["sha256"].get<std::string>());
  start = std::chrono::steady_clock::now();
  report.check_at_most("misplaced", static_cast<double>(misplaced(table, groups)), 0.0);
  constexpr Index most_sorted = Index{1} << 24;
  if (found.groups() <= most_sorted) {
    report.check_at_most("split_groups", static_cast<double>(split_groups(table, groups)), 0.0);
  } else {
    context.say("split_groups: not looked at, since there are too many unique keys");
  }
  report.times()["check"] = seconds_since(start);

  start = std::chrono::steady_clock::now();
  if (!options.output.empty()) write_groups(options.output, groups, options.input.empty() ? nullptr : &table);
  if (!options.groups.empty()) write_group_of_each(options.groups, groups);
  report.times()["write"] = seconds_since(start);
  for (const std::string& path : {options.output, options.groups}) {
    if (!path.empty()) context.say("written to " + path);
  }
  return context.finish(report);
}

}  // namespace

void add_duplicates(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"duplicates", "Equal keys: which are there, how many of each, and where",
               "  heddle duplicates --input keys.txt --output unique.csv --groups groups.txt\n"
               "  heddle duplicates --size 10000000 --distinct 4000000 --words 3 --algorithm hash-fight"},
              all_options(), run);
}

}  // namespace heddle::driver

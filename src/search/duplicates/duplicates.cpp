// Groups of equal keys: ranges of words, the search, and the numbering of groups.
#include "search/duplicates/duplicates.hpp"

#include "search/duplicates/key_source.hpp"
#include "search/duplicates/search.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace heddle::search {
namespace impl {
namespace {

// Range of the words of keys; `+=` joins the parts of a reduction.
struct WordRange {
  Word low = ~Word{0};
  Word high = 0;
  KOKKOS_INLINE_FUNCTION WordRange& operator+=(const WordRange& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
    return *this;
  }
};

}  // namespace

Duplicates duplicates_in(Workspace& workspace, const compiled::KeyArray& keys, const SearchOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::search::find_duplicates");
  require(keys.words >= 1 && keys.words <= most_words, "find_duplicates: keys of ", keys.words,
          " words; expected 1 to ", most_words);
  const ExecutionSpace& space = workspace.space();
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>> all(space, 0, keys.keys);
  Duplicates result;
  SearchRecorder recorder(workspace, result.report, options.time_phases);

  KeySource source;
  source.items = keys.keys;
  source.array = keys;
  const auto width = static_cast<std::size_t>(keys.words);
  std::vector<Word> least(width, 0);
  std::vector<int> bits(width, 0);
  for (int k = 0; k < source.words() && keys.keys > 0; ++k) {
    WordRange range;
    Kokkos::parallel_reduce(
        "heddle::search::range", all,
        KOKKOS_LAMBDA(Index key, WordRange & seen) {
          const Word word = source.raw(key, k);
          seen += {word, word};
        },
        range);
    least[static_cast<std::size_t>(k)] = range.low;
    bits[static_cast<std::size_t>(k)] = bits_of(range.high - range.low);
  }
  const auto device_least = workspace.take<Word>("heddle::search::least", keys.words);
  const auto device_bits = workspace.take<int>("heddle::search::bits", keys.words);
  Kokkos::deep_copy(space, device_least, Kokkos::View<const Word*, Kokkos::HostSpace>(least.data(), width));
  Kokkos::deep_copy(space, device_bits, Kokkos::View<const int*, Kokkos::HostSpace>(bits.data(), width));
  space.fence("heddle::search::range");
  source.least = device_least;
  source.bits = device_bits;
  recorder.phase("inspect");

  auto first = recorder.array<Index>("heddle::search::first", keys.keys);
  auto count = recorder.array<Index>("heddle::search::count", keys.keys);
  const auto one_block = [&](const auto& f) { f(source); };
  search_keys<KeySource>(recorder,
                         SearchedKeys{one_block, [&] { return source; }, KeyCounts{keys.keys, keys.keys}, bits},
                         options, Groups{first, count}, [] {});

  // Groups are numbered in the order of their first keys.
  auto number = recorder.array<Index>("heddle::search::number", keys.keys);
  Index groups = 0;
  Kokkos::parallel_scan(
      "heddle::search::number", all,
      KOKKOS_LAMBDA(Index key, Index & sum, bool last) {
        if (first(key) != key) return;
        if (last) number(key) = sum;
        ++sum;
      },
      groups);
  result.group = workspace.take<Index>("heddle::search::group", keys.keys);
  result.first = workspace.take<Index>("heddle::search::first", groups);
  result.count = workspace.take<Index>("heddle::search::count", groups);
  const auto group_of = result.group;
  const auto first_of = result.first;
  const auto count_of = result.count;
  Kokkos::parallel_for(
      "heddle::search::groups", all, KOKKOS_LAMBDA(Index key) {
        const Index mine = number(first(key));
        group_of(key) = mine;
        if (first(key) == key) {
          first_of(mine) = key;
          count_of(mine) = count(key);
        }
      });
  space.fence("heddle::search::find_duplicates");
  recorder.phase("list");
  return result;
}

}  // namespace impl

Duplicates compiled::find_duplicates(const ExecutionSpace& space, const KeyArray& keys, const SearchOptions& options) {
  impl::Workspace workspace(space, false);
  return impl::duplicates_in(workspace, keys, options);
}

struct DuplicatesPlan::State {
  impl::Workspace workspace;
  SearchOptions options;
  Duplicates result;
};

DuplicatesPlan::DuplicatesPlan(const ExecutionSpace& space, const SearchOptions& options)
    : state_(new State{{space, true}, options, {}}) {}
DuplicatesPlan::~DuplicatesPlan() = default;
DuplicatesPlan::DuplicatesPlan(DuplicatesPlan&&) noexcept = default;
DuplicatesPlan& DuplicatesPlan::operator=(DuplicatesPlan&&) noexcept = default;

const Duplicates& DuplicatesPlan::find(const compiled::KeyArray& keys) {
  State& state = *state_;
  // Releases arrays that the caller does not hold, for reuse.
  state.result = {};
  state.result = impl::duplicates_in(state.workspace, keys, state.options);
  return state.result;
}

Index DuplicatesPlan::memory() const {
  return state_->workspace.bytes();
}

}  // namespace heddle::search

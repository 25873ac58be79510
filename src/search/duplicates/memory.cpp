// Estimates of the memory of searches, and the number of parts that fit in a bound.
#include "search/duplicates/chosen.hpp"
#include "search/duplicates/search.hpp"
#include <heddle/core/error.hpp>

#include <cmath>

namespace heddle::search {
namespace impl {

Index bytes_at_once(Algorithm algorithm, Index keys) {
  if (algorithm == Algorithm::hash_fight) {
    // Slots, hashes, joined slots, losers, and the first round's table.
    return 16 * keys + 4 * TablePlaces::for_keys(keys);
  }
  // Slots and hashes, or keys of 64 bits, twice each while they are sorted.
  return (algorithm == Algorithm::sort ? 16 : 24) * keys;
}

int parts_of(Algorithm algorithm, Index keys, Index memory) {
  const bool fits = memory == 0 || bytes_at_once(algorithm, keys) <= memory;
  if (fits && keys < most_short_slots) return 1;
  constexpr Index bytes_of_chosen = 8;
  for (int parts = 2; parts <= most_passes; ++parts) {
    // Mean share of the keys of one part, plus six standard deviations of a random division.
    const double share = static_cast<double>(keys) / parts;
    const auto most = static_cast<Index>(share + 6 * std::sqrt(share)) + 1;
    if (most < most_short_slots && (memory == 0 || bytes_at_once(algorithm, most) + bytes_of_chosen * most <= memory)) {
      return parts;
    }
  }
  throw Error(ErrorKind::argument,
              message_of("search: ", memory, " bytes for ", keys, " keys by ", to_string(algorithm),
                         " would take more than ", most_passes, " passes; more memory, please"));
}

Index bound_by_device(Index needed, Index free, Index total) {
  // Margin for the sort's scratch memory, the lists of the result and the runtime.
  const Index margin = free / 16;
  return total == 0 || needed <= free - margin ? 0 : free - margin;
}

}  // namespace impl

Index search_memory(Algorithm algorithm, Index keys, int key_bits) {
  // Their bytes are counted in 64 bits.
  constexpr Index most_keys = Index{1} << 57;
  require(keys >= 0 && key_bits >= 0, "search_memory: ", keys, " keys of ", key_bits, " bits; expected 0 and more");
  require(keys <= most_keys, "search_memory: ", keys, " keys; expected at most ", most_keys);
  if (algorithm != Algorithm::partition && algorithm != Algorithm::automatic) {
    // More keys than 32 bits can number are searched in parts.
    const int parts = impl::parts_of(algorithm, keys, 0);
    const Index share = keys / parts + (parts > 1 ? 1 : 0);
    return impl::bytes_at_once(algorithm, share) + (parts > 1 ? 8 * share : 0);
  }
  // A search for groups has smaller and more buckets, so this is the upper bound.
  using impl::Groups;
  const Index buckets = Index{1} << impl::bucket_bits_for<Groups>(keys);
  const bool two = impl::packing_for<Groups>(keys, key_bits) == impl::Packing::two;
  // Counts, cursors and beginnings; on hosts each thread has counts, beginnings and lines of records of its own.
  const Index counters = 3 * 8 * buckets + 8;
  const Index of_threads = impl::on_host ? ExecutionSpace().concurrency() * buckets * (16 + (two ? 192 : 64)) : 0;
  return (two ? 24 : 16) * keys + counters + of_threads;
}

}  // namespace heddle::search

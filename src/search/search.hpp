// One search, by the algorithm asked for.
#pragma once

#include "search/hash_fight.hpp"
#include "search/partition.hpp"

namespace heddle::search::impl {

inline constexpr int seeds_to_try = 4;

template <class Slot, class Source, class Sink>
void search_whole(SearchRecorder& recorder, const Source& source, const std::vector<int>& word_bits, const Sink& sink) {
  const SearchReport& report = recorder.report();
  if (report.algorithm == Algorithm::hash_fight) {
    search_hash_fight<Slot>(recorder, source, report.hash, word_bits, sink);
  } else if (report.algorithm == Algorithm::sort) {
    search_sorted_by_hash<Slot>(recorder, source, report.hash, word_bits, sink);
  } else {
    auto slots = existing_slots<Slot>(recorder, source);
    recorder.phase("prepare");
    search_sorted_by_id(recorder, source, slots, word_bits, sink);
    recorder.drop(slots);
  }
}

/// How keys of this many bits travel where there are this many slots.
template <class Sink> Packing packing_for(Index keys, int key_bits) {
  const int bucket_bits = bucket_bits_for<Sink>(keys);
  if (keys <= Index{0xFFFFFFFF} && key_bits <= 96 + bucket_bits) return Packing::one;
  return key_bits <= 128 + bucket_bits ? Packing::two : Packing::hashed;
}

/// Keys of a source: all of it, or one block after the other; see search_partition().
template <class Blocks, class Whole> struct SearchedKeys {
  Blocks blocks;
  Whole whole;
  Index slots;
  std::vector<int> word_bits;  ///< Of a key's words.
};
template <class Blocks, class Whole>
SearchedKeys(Blocks, Whole, Index, std::vector<int>) -> SearchedKeys<Blocks, Whole>;

/// Searches keys, what is found going to `sink`; `forget` is called where that was wrong and all is begun again.
template <class Source, class Blocks, class Whole, class Sink, class Forget>
void search_keys(SearchRecorder& recorder, const SearchedKeys<Blocks, Whole>& keys, const SearchOptions& options,
                 const Sink& sink, const Forget& forget) {
  const auto& [blocks, whole, slots, word_bits] = keys;
  SearchReport& report = recorder.report();
  report.algorithm = options.algorithm == Algorithm::automatic ? Algorithm::partition : options.algorithm;
  const bool takes_hash = report.algorithm == Algorithm::hash_fight || report.algorithm == Algorithm::sort;
  report.hash = takes_hash && options.hash == HashFunction::automatic ? HashFunction::fnv1a : options.hash;
  if (!takes_hash) report.hash = HashFunction::automatic;
  int key_bits = 0;
  for (const int bits : word_bits) key_bits += bits;
  if (report.algorithm == Algorithm::partition) {
    const Packing packing = packing_for<Sink>(slots, key_bits);
    for (Word seed = 0; seed < seeds_to_try; ++seed) {
      bool done = false;
      if (packing == Packing::one) {
        done = search_partition<Packing::one>(recorder, Source(), blocks, slots, sink, options.memory, seed);
      } else if (packing == Packing::two) {
        done = search_partition<Packing::two>(recorder, Source(), blocks, slots, sink, options.memory, seed);
      } else {
        const Source source = whole();
        const auto one = [&](const auto& f) { f(source); };
        done = search_partition<Packing::hashed>(recorder, source, one, slots, sink, options.memory, seed);
      }
      if (done) return;
      forget();
    }
    report.algorithm = Algorithm::sort_by_id;
  }
  const Source source = whole();
  if (slots < Index{0xFFFFFFF0}) {
    search_whole<std::uint32_t>(recorder, source, word_bits, sink);
  } else {
    search_whole<std::uint64_t>(recorder, source, word_bits, sink);
  }
}

}  // namespace heddle::search::impl

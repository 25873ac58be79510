// One search by the chosen algorithm.
#pragma once

#include "comm/vendor/vendor.hpp"
#include "search/duplicates/chosen.hpp"
#include "search/duplicates/hash_fight.hpp"
#include "search/duplicates/partition.hpp"

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

/// The same in parts of the keys, if `memory` is less than one pass needs.
template <class Source, class Sink>
void search_in_parts(SearchRecorder& recorder, const Source& source, const std::vector<int>& word_bits,
                     const Sink& sink, Index memory) {
  const int parts = parts_of(recorder.report().algorithm, source.slots(), memory);
  recorder.report().passes = parts;
  if (parts == 1) {
    search_whole<std::uint32_t>(recorder, source, word_bits, sink);
    return;
  }
  for (int part = 0; part < parts; ++part) {
    auto chosen = chosen_slots(recorder, source, part, parts);
    if (static_cast<Index>(chosen.extent(0)) >= most_short_slots) {
      // A key repeats too often for slots of 32 bits. The search of all keys repeats the results of earlier parts.
      recorder.drop(chosen);
      recorder.report().passes = 1;
      search_whole<std::uint64_t>(recorder, source, word_bits, sink);
      return;
    }
    search_whole<std::uint32_t>(recorder, ChosenSource<Source>{source, chosen}, word_bits,
                                ChosenSink<Sink>{sink, chosen});
    recorder.drop(chosen);
  }
}

/// Packing of keys of this many bits with this many slots.
template <class Sink> Packing packing_for(Index keys, int key_bits) {
  const int bucket_bits = bucket_bits_for<Sink>(keys);
  if (keys <= Index{0xFFFFFFFF} && key_bits <= 96 + bucket_bits) return Packing::one;
  return key_bits <= 128 + bucket_bits ? Packing::two : Packing::hashed;
}

/// Keys of a source, as a whole or in blocks; see search_partition().
template <class Blocks, class Whole> struct SearchedKeys {
  Blocks blocks;
  Whole whole;
  KeyCounts counts;
  std::vector<int> word_bits;  ///< Bits of each word of a key.
};
template <class Blocks, class Whole>
SearchedKeys(Blocks, Whole, KeyCounts, std::vector<int>) -> SearchedKeys<Blocks, Whole>;

/// Searches keys and reports to `sink`; calls `forget` to discard those results if the search must start again.
template <class Source, class Blocks, class Whole, class Sink, class Forget>
void search_keys(SearchRecorder& recorder, const SearchedKeys<Blocks, Whole>& keys, const SearchOptions& options,
                 const Sink& sink, const Forget& forget) {
  const auto& [blocks, whole, counts, word_bits] = keys;
  require(options.memory >= 0, "search: memory is ", options.memory, " bytes; expected 0 or more");
  SearchReport& report = recorder.report();
  report.algorithm = options.algorithm == Algorithm::automatic ? Algorithm::partition : options.algorithm;
  const bool takes_hash = report.algorithm == Algorithm::hash_fight || report.algorithm == Algorithm::sort;
  report.hash = takes_hash && options.hash == HashFunction::automatic ? HashFunction::fnv1a : options.hash;
  if (!takes_hash) report.hash = HashFunction::automatic;
  report.sorting = options.sorting;
  int key_bits = 0;
  for (const int bits : word_bits) key_bits += bits;
  Index memory = options.memory;
  const Index needed = search_memory(report.algorithm, counts.most, key_bits);
  // Asking the device for its free memory costs as much as a small search.
  constexpr Index much = Index{1} << 28;
  Workspace& workspace = recorder.workspace();
  if (memory == 0 && needed > much && !workspace.has_room_for(needed)) {
    const auto device = heddle::impl::vendor::memory_info();
    memory = bound_by_device(needed, static_cast<Index>(device.free) + workspace.free_bytes(),
                             static_cast<Index>(device.total));
    if (memory == 0) workspace.note_room_for(needed);
  }
  if (report.algorithm == Algorithm::partition) {
    const Packing packing = packing_for<Sink>(counts.most, key_bits);
    for (Word seed = 0; seed < seeds_to_try; ++seed) {
      bool done = false;
      if (packing == Packing::one) {
        done = search_partition<Packing::one>(recorder, Source(), blocks, counts, sink, memory, seed);
      } else if (packing == Packing::two) {
        done = search_partition<Packing::two>(recorder, Source(), blocks, counts, sink, memory, seed);
      } else {
        const Source source = whole();
        const auto one = [&](const auto& f) { f(source); };
        done = search_partition<Packing::hashed>(recorder, source, one, counts, sink, memory, seed);
      }
      if (done) return;
      forget();
    }
    report.algorithm = Algorithm::sort_by_id;
  }
  const Source source = whole();
  search_in_parts(recorder, source, word_bits, sink, memory);
}

}  // namespace heddle::search::impl

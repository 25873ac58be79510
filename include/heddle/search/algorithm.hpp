// How equal keys are found: the algorithms, their hash functions, and the report of a search.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::search {

/// The algorithm that finds equal keys. All give the same result, with any hash function: two keys are equal where all
/// their words are. Memory is given for each of the n keys, besides that of the keys and results themselves.
enum class Algorithm {
  automatic,  ///< `partition`, except for sizes and keys for which another one was measured to be faster.
  /// Keys are packed into as few bits as their ranges need and sent to buckets that fit in the own memory of a
  /// multiprocessor or core; there each bucket is a hash table. The bucket's number stands for some of the bits
  /// ("quotienting", Cleary 1984, IEEE Trans. Comput. C-33, 828), so that 96 or 128 bits of record still are the whole
  /// key, and equality is one comparison. Keys that are longer than that travel as 64 bits of hash and are compared
  /// where they came from. Cost: two reads of the keys, and one write and one read of 16 bytes for each key (24 where
  /// it takes more than 96 bits besides those of a bucket's number). Memory: the same number of bytes, or less in
  /// several passes.
  partition,
  /// All keys write their numbers into one hash table, and the last one wins; keys that equal the winner of their place
  /// join it, the others fight again (Lessley, Moreland, Larsen, Childs, 2017). Each round has a table of twice as many
  /// places as there are keys in it, where a key's place is its hash modulo that number. The fight uses no atomic
  /// operations. Memory: 24 bytes a key.
  hash_fight,
  /// Numbers of keys are sorted by a hash of 32 bits, and runs of one hash are then told apart (Lessley, Moreland,
  /// Larsen, Childs, 2017). Memory: 16 bytes a key, or 24 for those in runs of more than 48.
  sort,
  /// Numbers of keys are sorted by the keys themselves, word by word (Lessley, Moreland, Larsen, Childs, 2017). Memory:
  /// 24 bytes a key.
  sort_by_id,
};

/// The hash function that makes 32 bits of a key's words. Only hash_fight and sort use one; equality never rests on it.
enum class HashFunction {
  automatic,     ///< The library chooses: fnv1a.
  exclusive_or,  ///< All words combined by exclusive or, named "xor". Keys collide easily.
  fnv1a,         ///< The hash of Fowler, Noll and Vo: h = (h xor word) * 16777619, from 2166136261.
  /// The sum of the words' Morton codes: the bits 0-9, 10-19 and 20-29 of 30 bits of a word are interleaved. Keys
  /// collide easily.
  morton,
  /// Multiplications and shifts by which each bit changes about half of the others (splitmix64; Stafford 2011).
  mixer,
};

/// How `sort` and `sort_by_id` order their numbers. Both keep the order of equal keys, so that all that follows is the
/// same.
enum class Sorting {
  /// By digits, from the last to the first: the vendor's sort on GPUs, our own on CPUs. The order that keys have is of
  /// little matter.
  radix,
  /// By comparisons: tiles are sorted, then merged in pairs ("merge path", Green, McColl, Bader 2012), by the same
  /// kernels on all backends. Keys that are nearly in order take less time, as in the sorts of libraries that
  /// hash-based searches are often compared with. Memory: as for radix.
  merge,
};

/// The name of an algorithm: "automatic", "partition", "hash-fight", "sort" or "sort-by-id".
[[nodiscard]] std::string_view to_string(Algorithm algorithm);
/// The algorithm of a name. Throws Error(argument) for any other text.
[[nodiscard]] Algorithm algorithm_from(std::string_view text);
/// The name of a hash function: "automatic", "xor", "fnv1a", "morton" or "mixer".
[[nodiscard]] std::string_view to_string(HashFunction hash);
/// The hash function of a name. Throws Error(argument) for any other text.
[[nodiscard]] HashFunction hash_function_from(std::string_view text);

/// The name of a sort: "radix" or "merge".
[[nodiscard]] std::string_view to_string(Sorting sorting);
/// The sort of a name. Throws Error(argument) for any other text.
[[nodiscard]] Sorting sorting_from(std::string_view text);

/// How a search is done, and the memory that it may take.
struct SearchOptions {
  Algorithm algorithm = Algorithm::automatic;   ///< Algorithm that is used.
  HashFunction hash = HashFunction::automatic;  ///< Hash function, for hash_fight and sort.
  Sorting sorting = Sorting::radix;             ///< Sort, for sort and sort_by_id.
  /// Bytes that the search's arrays may take, see search_memory(); 0 stands for what a single pass needs, or where
  /// a GPU has less free memory, for that. With less than a pass needs, the keys are divided by a hash, and each pass
  /// reads all keys again and searches one part of them; the result is the same. Equal keys are never apart, so a pass
  /// takes more where a key repeats more often than fits. Of `partition`, whose passes are ranges of buckets, this
  /// bounds the records alone, at 16 or 24 bytes a key: the counters of buckets come on top. A pass of the others takes
  /// 8 bytes more for each of its keys than a search at once. Throws Error(argument) where this would take more than
  /// 4096 passes.
  Index memory = 0;
  /// Whether each phase is timed, which makes the search wait for the device between phases.
  bool time_phases = false;
};

/// How long one phase of a search took.
struct Phase {
  std::string name;  ///< Name of the phase.
  /// Time of the phase, in seconds.
  double seconds = 0;
};

/// How a search was done, and what it took.
struct SearchReport {
  Algorithm algorithm = Algorithm::automatic;   ///< Algorithm that was used.
  HashFunction hash = HashFunction::automatic;  ///< Hash function that was used.
  Sorting sorting = Sorting::radix;             ///< Sort that was used, where one was.
  /// For hash_fight, the keys that fought again, summed over the iterations; for sort, the keys that stood beside
  /// another one of the same hash.
  Index collisions = 0;
  int iterations = 0;  ///< Number of iterations of hash_fight, the most of any pass; 0 for other algorithms.
  int passes = 0;      ///< Number of passes.
  Index memory = 0;    ///< Most bytes that the search itself held at one time.
  /// Time of each phase; empty unless SearchOptions::time_phases asked for them.
  std::vector<Phase> phases;
};

/// Bytes that a search holds at most at one time, besides the keys and the result, where it takes `keys` keys at once;
/// of several passes each takes as much for its own share of the keys, and all but `partition` 8 bytes more for each of
/// them. `key_bits`: bits that the words of a key need together, which decide what `partition` keeps of it. A key that
/// repeats, or a hash that many keys share, may take up to 24 bytes a key where `sort` is said to take 16.
[[nodiscard]] Index search_memory(Algorithm algorithm, Index keys, int key_bits);

}  // namespace heddle::search

// How equal keys are found: the algorithms, their hash functions, and the report of a search.
#pragma once

#include <heddle/core/scalar.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::search {

/// The algorithm that finds equal keys. All give the same result with any hash function: two keys are equal if all
/// their words are. Memory is stated per key, besides that of the keys and results.
enum class Algorithm {
  automatic,  ///< `partition`, except for sizes and keys for which another one was measured to be faster.
  /// Keys are packed into as few bits as their ranges need and scattered to buckets that fit in the scratch memory of a
  /// multiprocessor or the cache of a core, where each bucket is a hash table. The bucket's number stands for some of
  /// the bits ("quotienting", Cleary 1984, IEEE Trans. Comput. C-33, 828), so that 96 or 128 bits of a record hold the
  /// whole key, and equality is one comparison. Longer keys travel as 64 bits of hash and are compared in their
  /// original arrays. Cost: two reads of the keys, and one write and one read of 16 bytes for each key (24 if it takes
  /// more than 96 bits besides those of a bucket's number). Memory: the same number of bytes, or less in several
  /// passes.
  partition,
  /// All keys write their numbers into one hash table, and the last one wins; keys equal to the winner of their place
  /// join it, the others fight again (Lessley, Moreland, Larsen, Childs, 2017). A round of n keys has a table of 2 n
  /// places; a key's place is its hash modulo 2 n. The fight uses no atomic operations. Memory: 24 bytes a key.
  hash_fight,
  /// Numbers of keys are sorted by a hash of 32 bits, and runs of one hash are then told apart (Lessley, Moreland,
  /// Larsen, Childs, 2017). Memory: 16 bytes a key, or 24 for those in runs of more than 48.
  sort,
  /// Numbers of keys are sorted by the keys themselves, word by word (Lessley, Moreland, Larsen, Childs, 2017). Memory:
  /// 24 bytes a key.
  sort_by_id,
};

/// The hash function that makes 32 bits of a key's words. Only hash_fight and sort use one; equality does not depend on
/// it.
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

/// How `sort` and `sort_by_id` order their numbers. Both are stable, so that the results are the same.
enum class Sorting {
  /// By digits, from the last to the first: the vendor's sort on GPUs, our own on CPUs. The initial order of keys
  /// matters little.
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
  /// Bytes that the search's arrays may take, see search_memory(); 0: what a single pass needs, or a GPU's free memory
  /// if that is less. With less than a pass needs, the keys are divided by a hash, and each pass reads all keys again
  /// and searches one part of them; the result is the same. Equal keys stay together, so a pass takes more if a key
  /// repeats more often than fits. The passes of `partition` are ranges of buckets; there this bounds only the records,
  /// at 16 or 24 bytes a key, and the counters of buckets come on top. A pass of the other algorithms takes 8 bytes
  /// more for each of its keys than a search in one pass. Searches throw Error(argument) if this would take more than
  /// 4096 passes, and for a negative number.
  Index memory = 0;
  /// Whether each phase is timed, which makes the search wait for the device between phases.
  bool time_phases = false;
};

/// Time of one phase of a search.
struct Phase {
  std::string name;  ///< Name of the phase.
  /// Time of the phase, in seconds.
  double seconds = 0;
};

/// Algorithm, counts, memory and times of a search.
struct SearchReport {
  Algorithm algorithm = Algorithm::automatic;   ///< Algorithm that was used.
  HashFunction hash = HashFunction::automatic;  ///< Hash function that was used.
  Sorting sorting = Sorting::radix;             ///< Sort that was used, if any.
  /// For hash_fight, the number of keys that fought again, summed over the iterations; for sort, of keys next to
  /// another key of the same hash.
  Index collisions = 0;
  int iterations = 0;  ///< Number of iterations of hash_fight, the most of any pass; 0 for other algorithms.
  int passes = 0;      ///< Number of passes.
  Index memory = 0;    ///< Most bytes that the search itself held at one time.
  /// Time of each phase; empty unless SearchOptions::time_phases asked for them.
  std::vector<Phase> phases;
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SearchReport& report);

/// Bytes that a search of `keys` keys in one pass holds at most at one time, besides the keys and the result. With
/// several passes each takes this for its own share of the keys, plus 8 bytes a key except with `partition`. `key_bits`
/// is the sum of the bits of a key's words, which decides what `partition` stores of it. A key that repeats, or a hash
/// that many keys share, may raise the 16 bytes a key of `sort` to 24. Throws Error(argument) for negative numbers, and
/// for more than 2^57 keys.
[[nodiscard]] Index search_memory(Algorithm algorithm, Index keys, int key_bits);

}  // namespace heddle::search

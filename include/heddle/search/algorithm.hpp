// How equal keys are found: the algorithms, their hash functions, and what a search says of itself.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::search {

/// All give the same result, whatever the hash function: two keys are equal where all their words are. Memory is
/// besides that of keys and results; a key counts as n.
enum class Algorithm {
  automatic,  ///< partition, but for sizes and keys where another was measured to be faster.
  /// Keys are packed to as few bits as their ranges need and sent to buckets that fit in a multiprocessor's or core's
  /// own memory; the bucket's number takes the place of some bits ("quotienting", Cleary 1984, IEEE Trans. Comput.
  /// C-33, 828), so that 96 or 128 bits of record are still the whole key and equality is one comparison. Each bucket
  /// is a hash table there. Keys longer than that travel as 64 bits of hash and are compared where they came from. Two
  /// reads of the keys, one write and one read of 16 bytes a key (24 where it takes over 96 bits and those of a
  /// bucket's number); this many bytes of memory, or less in several passes.
  partition,
  /// Lessley, Moreland, Larsen, Childs (2017): all keys write their numbers into one hash table, the last one wins;
  /// keys that equal the winner of their place join it, the others fight again. No atomics in the fight. 20 to 24
  /// bytes a key: the table has between one and two places for each.
  hash_fight,
  /// The same: numbers sorted by a hash of 32 bits, runs of one hash then told apart. 16 bytes a key, or 24 of those in
  /// runs of more than 48.
  sort,
  /// The same: numbers sorted by the keys themselves, word by word. 24 bytes a key.
  sort_by_id,
};

/// Of a key's words, as 32 bits. Only hash_fight and sort take one; equality never rests on it.
enum class HashFunction {
  automatic,     ///< fnv1a
  exclusive_or,  ///< All words, in one: "xor". Collides easily.
  fnv1a,         ///< Fowler, Noll, Vo: h = (h xor word) * 16777619, from 2166136261.
  /// The sum of the words' Morton codes: of 30 bits of a word, bits 0-9, 10-19 and 20-29 are interleaved. Collides
  /// easily.
  morton,
  mixer,  ///< Multiplications and shifts that change each bit with half of the others (splitmix64; Stafford 2011).
};

/// "automatic", "partition", "hash-fight", "sort", "sort-by-id", and back; throws Error(argument) for anything else.
[[nodiscard]] std::string_view to_string(Algorithm algorithm);
[[nodiscard]] Algorithm algorithm_from(std::string_view text);
/// "automatic", "xor", "fnv1a", "morton", "mixer", and back.
[[nodiscard]] std::string_view to_string(HashFunction hash);
[[nodiscard]] HashFunction hash_function_from(std::string_view text);

struct SearchOptions {
  Algorithm algorithm = Algorithm::automatic;
  HashFunction hash = HashFunction::automatic;
  /// Bytes that the records of a partition's keys may take, of 16 or 24 each; 0: what one pass needs. A pass that has
  /// less handles a range of buckets and reads all keys again. A bucket is never parted, so a pass takes more where one
  /// bucket alone does: as that of a key that repeats more often than fits. What counts buckets and holds results comes
  /// on top. Throws Error(argument) where this would take more than 4096 passes. The others have no such bound.
  Index memory = 0;
  /// Time each phase, which waits for the device between them.
  bool time_phases = false;
};

struct Phase {
  std::string name;
  double seconds = 0;
};

/// What a search did.
struct SearchReport {
  Algorithm algorithm = Algorithm::automatic;
  HashFunction hash = HashFunction::automatic;
  /// Keys that fought again, summed over the iterations of hash_fight; keys beside another one of the same hash in
  /// sort.
  Index collisions = 0;
  int iterations = 0;  ///< Of hash_fight.
  int passes = 0;      ///< Of partition.
  Index memory = 0;    ///< Bytes taken for the search itself, at most at a time.
  std::vector<Phase> phases;
};

}  // namespace heddle::search

#include "core/names.hpp"

#include <heddle/search/algorithm.hpp>

#include <array>
#include <utility>

namespace heddle::search {
namespace {

constexpr std::array algorithms = {
    std::pair{Algorithm::automatic, "automatic"},   std::pair{Algorithm::partition, "partition"},
    std::pair{Algorithm::hash_fight, "hash-fight"}, std::pair{Algorithm::sort, "sort"},
    std::pair{Algorithm::sort_by_id, "sort-by-id"},
};
constexpr std::array hashes = {
    std::pair{HashFunction::automatic, "automatic"}, std::pair{HashFunction::exclusive_or, "xor"},
    std::pair{HashFunction::fnv1a, "fnv1a"},         std::pair{HashFunction::morton, "morton"},
    std::pair{HashFunction::mixer, "mixer"},
};

template <class Names> auto value_of(const Names& names, std::string_view text, const char* what) {
  return heddle::impl::value_in(names, text, message_of("'", text, "' is no ", what, "; expected "));
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  return heddle::impl::name_in(algorithms, algorithm);
}
Algorithm algorithm_from(std::string_view text) {
  return value_of(algorithms, text, "search algorithm");
}
std::string_view to_string(HashFunction hash) {
  return heddle::impl::name_in(hashes, hash);
}
HashFunction hash_function_from(std::string_view text) {
  return value_of(hashes, text, "hash function");
}

}  // namespace heddle::search

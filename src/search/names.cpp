#include <heddle/core/error.hpp>
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

template <class Names, class Value> std::string_view name_of(const Names& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}
template <class Names> auto value_of(const Names& names, std::string_view text, const char* what) {
  std::string all;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(ErrorKind::argument, message_of("'", text, "' is no ", what, "; expected ", all));
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  return name_of(algorithms, algorithm);
}
Algorithm algorithm_from(std::string_view text) {
  return value_of(algorithms, text, "search algorithm");
}
std::string_view to_string(HashFunction hash) {
  return name_of(hashes, hash);
}
HashFunction hash_function_from(std::string_view text) {
  return value_of(hashes, text, "hash function");
}

}  // namespace heddle::search

// Names of algorithms, hash functions and sorts.
#include "core/names.hpp"

#include <heddle/search/algorithm.hpp>

namespace heddle::search {
namespace {

constexpr heddle::impl::Names<Algorithm, 5> algorithms = {{
    {Algorithm::automatic, "automatic"},
    {Algorithm::partition, "partition"},
    {Algorithm::hash_fight, "hash-fight"},
    {Algorithm::sort, "sort"},
    {Algorithm::sort_by_id, "sort-by-id"},
}};
constexpr heddle::impl::Names<HashFunction, 5> hashes = {{
    {HashFunction::automatic, "automatic"},
    {HashFunction::exclusive_or, "xor"},
    {HashFunction::fnv1a, "fnv1a"},
    {HashFunction::morton, "morton"},
    {HashFunction::mixer, "mixer"},
}};

constexpr heddle::impl::Names<Sorting, 2> sorts = {{{Sorting::radix, "radix"}, {Sorting::merge, "merge"}}};

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
std::string_view to_string(Sorting sorting) {
  return heddle::impl::name_in(sorts, sorting);
}
Sorting sorting_from(std::string_view text) {
  return value_of(sorts, text, "sort");
}

}  // namespace heddle::search

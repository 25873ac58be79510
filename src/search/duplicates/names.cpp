// Names of algorithms, hash functions and sorts, and reports as text.
#include "core/names.hpp"

#include "core/report_line.hpp"
#include <heddle/core/error.hpp>
#include <heddle/search/algorithm.hpp>
#include <heddle/search/faces.hpp>

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

std::ostream& operator<<(std::ostream& out, const SearchReport& report) {
  std::vector<std::string> phases;
  for (const Phase& phase : report.phases) phases.push_back(message_of(phase.name, " ", phase.seconds, " s"));
  return out << heddle::impl::ReportLine("SearchReport")
                    .field("algorithm", report.algorithm)
                    .field("hash", report.hash)
                    .field("sorting", report.sorting)
                    .field("collisions", report.collisions)
                    .field("iterations", report.iterations)
                    .field("passes", report.passes)
                    .field("memory", report.memory)
                    .field("phases", phases);
}

std::ostream& operator<<(std::ostream& out, const ExternalFacesReport& report) {
  return out << heddle::impl::ReportLine("ExternalFacesReport")
                    .field("search", report.search)
                    .field("cells", report.cells)
                    .field("faces", report.faces)
                    .field("external", report.external)
                    .field("nonmanifold_sides", report.nonmanifold_sides)
                    .field("nonmanifold_faces", report.nonmanifold_faces)
                    .field("degenerate_sides", report.degenerate_sides);
}

}  // namespace heddle::search

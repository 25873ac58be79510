// Both sorts beside std::stable_sort, and the planned memory of searches.
#include "search/sort/sort.hpp"

#include "search/duplicates/chosen.hpp"
#include "search/oracle.hpp"
#include "search/sort/merge_sort.hpp"
#include "support/errors.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

namespace heddle::search::sort_test {
namespace {

template <class Types> class Sorts : public ::testing::Test {};
template <class K, class V> struct SortTypes {
  using Key = K;
  using Value = V;
};
using AllTypes = ::testing::Types<SortTypes<std::uint32_t, std::uint32_t>, SortTypes<std::uint32_t, std::uint64_t>,
                                  SortTypes<std::uint64_t, std::uint32_t>, SortTypes<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(Sorts, AllTypes);

// Numbers of values, beginning away from 0.
template <class Value> std::vector<Value> numbers(std::size_t n) {
  std::vector<Value> values(n);
  std::iota(values.begin(), values.end(), Value{7});
  return values;
}

template <class Key, class Value> void expect_sorted(const std::vector<Key>& given, const std::string& what) {
  SCOPED_TRACE(what + ", " + std::to_string(given.size()) + " pairs");
  std::vector<Key> keys = given;
  std::vector<Value> values = numbers<Value>(given.size());
  std::stable_sort(values.begin(), values.end(), [&](Value one, Value other) {
    return given[static_cast<std::size_t>(one - 7)] < given[static_cast<std::size_t>(other - 7)];
  });
  std::stable_sort(keys.begin(), keys.end());
  for (const bool by_merging : {false, true}) {
    SCOPED_TRACE(by_merging ? "merge" : "radix");
    const ExecutionSpace space;
    impl::Workspace workspace(space, false);
    Kokkos::View<Key*, MemorySpace> device_keys("heddle::test", given.size());
    Kokkos::View<Value*, MemorySpace> device_values("heddle::test", given.size());
    const std::vector<Value> before = numbers<Value>(given.size());
    Kokkos::deep_copy(device_keys, device_view(given));
    Kokkos::deep_copy(device_values, device_view(before));
    if (by_merging) {
      impl::merge_sort_pairs(workspace, device_keys, device_values);
    } else {
      impl::sort_pairs(workspace, device_keys, device_values, std::numeric_limits<Key>::digits);
    }
    space.fence("heddle::test");
    EXPECT_EQ(host_vector(device_keys), keys);
    EXPECT_EQ(host_vector(device_values), values);
  }
}

TYPED_TEST(Sorts, AreStableWhateverTheOrderAndTheNumber) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  std::mt19937_64 random(11);
  // Around tiles, runs of tiles and chunks; 0 and 1.
  for (const std::size_t n :
       {0,    1,    2,    3,    7,    8,    9,    15,   16,   17,   1000,  1023,  1024,  1025,
        2047, 2048, 2049, 3072, 4095, 4096, 4097, 6000, 8191, 8193, 40000, 65536, 65537, 100001}) {
    std::vector<Key> keys(n);
    const auto filled = [&](const auto& f) {
      for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(f(i));
      return keys;
    };
    expect_sorted<Key, Value>(filled([&](std::size_t) { return random(); }), "random");
    expect_sorted<Key, Value>(filled([&](std::size_t) { return random() % 5; }), "five keys");
    expect_sorted<Key, Value>(filled([&](std::size_t) { return random() % (n + 1); }), "some equal");
    expect_sorted<Key, Value>(filled([](std::size_t) { return 42; }), "all equal");
    expect_sorted<Key, Value>(filled([](std::size_t i) { return i; }), "sorted");
    expect_sorted<Key, Value>(filled([&](std::size_t i) { return n - i; }), "reversed");
    expect_sorted<Key, Value>(filled([&](std::size_t i) { return i / 3 + random() % 4; }), "nearly sorted");
    expect_sorted<Key, Value>(filled([&](std::size_t i) { return std::min(i, n - i); }), "up and down");
    expect_sorted<Key, Value>(
        filled([](std::size_t i) { return i % 2 == 0 ? std::numeric_limits<Key>::max() : Key{0}; }),
        "the largest and the least");
  }
}

TEST(SortNames, AreReadBack) {
  for (const Sorting sorting : {Sorting::radix, Sorting::merge}) EXPECT_EQ(sorting_from(to_string(sorting)), sorting);
  test::expect_refusal(ErrorKind::argument, "'quick' is no sort; expected radix, merge",
                       [] { static_cast<void>(sorting_from("quick")); });
}

TEST(SearchesBySorting, FindTheSameByEitherSort) {
  const auto mesh = tetrahedra_of<std::int32_t>(ExecutionSpace(), {14, 11, 9}, {.randomised = true});
  const auto expected = listed(external_faces(ExecutionSpace(), mesh).external);
  for (const Algorithm algorithm : {Algorithm::sort, Algorithm::sort_by_id}) {
    for (const HashFunction hash : {HashFunction::exclusive_or, HashFunction::fnv1a}) {
      const SearchOptions options{.algorithm = algorithm, .hash = hash, .sorting = Sorting::merge};
      const auto found = external_faces(ExecutionSpace(), mesh, {.search = options});
      EXPECT_EQ(listed(found.external), expected);
      EXPECT_EQ(found.report.search.sorting, Sorting::merge);
      EXPECT_EQ(found.report.search.passes, 1);
    }
  }
}

TEST(SeveralPasses, FindWhatOneDoesWithinTheirMemory) {
  const auto mesh = tetrahedra_of<std::int32_t>(ExecutionSpace(), {30, 30, 30}, {.randomised = true});
  const auto sides = static_cast<Index>(mesh.cells() * 4);
  const auto expected = listed(external_faces(ExecutionSpace(), mesh).external);
  for (SearchOptions options : all_searches()) {
    SCOPED_TRACE(name_of(options));
    const auto whole = external_faces(ExecutionSpace(), mesh, {.search = options});
    EXPECT_EQ(whole.report.search.passes, 1);
    const Index marks = 2 * mesh.cells() + 8;
    // Keys have three words of 15 bits. Under exclusive or, many share a hash and are sorted by their words, which
    // takes more memory.
    const Index planned = search_memory(options.algorithm, sides, 45);
    if (options.hash != HashFunction::exclusive_or) {
      EXPECT_LE(whole.report.search.memory, planned + marks);
    }
    EXPECT_GE(whole.report.search.memory, planned / 2);
    options.memory = 3 * sides;
    for (const Sorting sorting : {Sorting::radix, Sorting::merge}) {
      options.sorting = sorting;
      const auto parts = external_faces(ExecutionSpace(), mesh, {.search = options});
      EXPECT_GT(parts.report.search.passes, 3);
      EXPECT_LT(parts.report.search.memory, whole.report.search.memory / 2);
      EXPECT_EQ(listed(parts.external), expected);
      if (options.algorithm == Algorithm::hash_fight || options.algorithm == Algorithm::sort_by_id) {
        EXPECT_LE(parts.report.search.memory, options.memory + marks);
      }
    }
  }
}

TEST(SeveralPasses, FindGroupsOfKeysThatRepeat) {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> values(50000);
  for (auto& value : values) value = static_cast<std::int64_t>(random() % 3 == 0 ? 17 : random() % 20000) - 9000;
  const auto keys = device_view(values);
  const Duplicates expected = find_duplicates(ExecutionSpace(), keys);
  for (SearchOptions options : all_searches()) {
    SCOPED_TRACE(name_of(options));
    options.memory = 200000;
    const Duplicates found = find_duplicates(ExecutionSpace(), keys, options);
    EXPECT_GT(found.report.passes, 1);
    EXPECT_EQ(host_vector(found.group), host_vector(expected.group));
    EXPECT_EQ(host_vector(found.first), host_vector(expected.first));
    EXPECT_EQ(host_vector(found.count), host_vector(expected.count));
  }
}

TEST(SeveralPasses, ArePlanned) {
  using impl::bound_by_device;
  using impl::parts_of;
  EXPECT_EQ(parts_of(Algorithm::sort, 0, 0), 1);
  EXPECT_EQ(parts_of(Algorithm::sort, 1000, 0), 1);
  EXPECT_EQ(parts_of(Algorithm::sort, 1000, 16000), 1);
  EXPECT_EQ(parts_of(Algorithm::sort, 1000, 15999), 2);
  // 667 million cells of four sides take 24 bytes a side, 64 GB, and in 50 GiB two passes.
  constexpr Index sides = Index{4} * 667164155;
  EXPECT_EQ(search_memory(Algorithm::sort_by_id, sides, 90), 24 * sides);
  EXPECT_EQ(parts_of(Algorithm::sort_by_id, sides, Index{50} << 30), 2);
  EXPECT_EQ(parts_of(Algorithm::sort_by_id, sides, 0), 1);
  // Slots of 32 bits do not number six billion keys.
  EXPECT_EQ(parts_of(Algorithm::sort, Index{6000000000}, 0), 2);
  EXPECT_EQ(search_memory(Algorithm::sort, Index{6000000000}, 90), (16 + 8) * (Index{3000000000} + 1));
  test::expect_refusal(ErrorKind::argument,
                       "search: 100 bytes for 1000000 keys by sort would take more than 4096 passes",
                       [] { static_cast<void>(parts_of(Algorithm::sort, 1000000, 100)); });
  test::expect_refusal(ErrorKind::argument, "search_memory: -1 keys of 3 bits",
                       [] { static_cast<void>(search_memory(Algorithm::sort, -1, 3)); });
  EXPECT_EQ(bound_by_device(1000, 500, 0), 0);
  EXPECT_EQ(bound_by_device(1000, 1600, 8000), 0);
  EXPECT_EQ(bound_by_device(1000, 1000, 8000), 938);
}

}  // namespace
}  // namespace heddle::search::sort_test

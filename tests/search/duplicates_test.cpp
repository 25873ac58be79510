// Groups of equal keys beside a search by std::map.
#include "search/oracle.hpp"
#include "support/errors.hpp"
#include <heddle/search/duplicates.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace heddle::search::duplicates_test {
namespace {

// Words as 64 bits of the same signedness.
template <class Keys>
using WideWord = std::conditional_t<std::is_signed_v<typename Keys::non_const_value_type>, std::int64_t, std::uint64_t>;
template <class Keys> using RowsOf = std::vector<std::vector<WideWord<Keys>>>;

template <class Keys> RowsOf<Keys> rows_of(const Keys& keys) {
  // A copy of its own, since kernels' memory can't be read and a strided View can't be copied across.
  using Word = typename Keys::non_const_value_type;
  const Index words = Keys::rank() == 1 ? 1 : static_cast<Index>(keys.extent(1));
  const Kokkos::View<Word**, Kokkos::LayoutRight, MemorySpace> plain("heddle::test", keys.extent(0), words);
  Kokkos::parallel_for(
      "heddle::test", Kokkos::RangePolicy<ExecutionSpace>(0, keys.extent(0)), KOKKOS_LAMBDA(Index i) {
        for (Index k = 0; k < words; ++k)
          plain(i, k) = keys.data()[i * keys.stride(0) + (words > 1 ? k * keys.stride(1) : 0)];
      });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), plain);
  RowsOf<Keys> rows;
  for (std::size_t i = 0; i < keys.extent(0); ++i) rows.emplace_back(&host(i, 0), &host(i, 0) + words);
  return rows;
}

template <class Keys> void expect_groups(const Duplicates& found, const Keys& keys) {
  const auto rows = rows_of(keys);
  std::map<typename RowsOf<Keys>::value_type, Index> numbers;
  std::vector<Index> group, first, count;
  for (Index i = 0; i < static_cast<Index>(rows.size()); ++i) {
    const auto [place, is_new] =
        numbers.try_emplace(rows[static_cast<std::size_t>(i)], static_cast<Index>(first.size()));
    if (is_new) {
      first.push_back(i);
      count.push_back(0);
    }
    group.push_back(place->second);
    ++count[static_cast<std::size_t>(place->second)];
  }
  EXPECT_EQ(host_vector(found.group), group);
  EXPECT_EQ(host_vector(found.first), first);
  EXPECT_EQ(host_vector(found.count), count);
}
template <class Keys> void expect_all_searches(const Keys& keys) {
  for (SearchOptions options : all_searches()) {
    SCOPED_TRACE(name_of(options));
    expect_groups(find_duplicates(ExecutionSpace(), keys, options), keys);
  }
  // Several passes.
  const Duplicates found =
      find_duplicates(ExecutionSpace(), keys, {.memory = static_cast<Index>(keys.extent(0)) * 5 + 1});
  expect_groups(found, keys);
}

template <class Word> Word random_word(std::mt19937_64& random, int distinct) {
  const auto value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(distinct));
  return static_cast<Word>(std::is_signed_v<Word> ? value - distinct / 2 : value);
}
template <class View> View filled(int n, int words, int distinct, std::uint64_t seed) {
  using Word = typename View::non_const_value_type;
  View keys;
  if constexpr (View::rank() == 1) {
    keys = View("heddle::test", n);
  } else {
    keys = View("heddle::test", n, words);
  }
  const auto mirror = Kokkos::create_mirror_view(keys);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < mirror.size(); ++i) mirror.data()[i] = random_word<Word>(random, distinct);
  Kokkos::deep_copy(keys, mirror);
  return keys;
}

template <class Word> class FindDuplicates : public ::testing::Test {};
using Words = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                               std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(FindDuplicates, Words);

TYPED_TEST(FindDuplicates, OfIntegers) {
  using Keys = Kokkos::View<TypeParam*, MemorySpace>;
  for (const int n : {0, 1, 2, 3, 1000, 40000}) {
    SCOPED_TRACE(n);
    expect_all_searches(filled<Keys>(n, 1, 100, 1));
  }
}
TYPED_TEST(FindDuplicates, OfTuples) {
  using Right = Kokkos::View<TypeParam**, Kokkos::LayoutRight, MemorySpace>;
  using Left = Kokkos::View<TypeParam**, Kokkos::LayoutLeft, MemorySpace>;
  for (const int words : {1, 2, 3, 5}) {
    SCOPED_TRACE(words);
    expect_all_searches(filled<Right>(3000, words, 7, 2));
    expect_all_searches(filled<Left>(3000, words, 7, 3));
  }
}
TYPED_TEST(FindDuplicates, OfTheLeastAndTheLargest) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> values = {
      Limits::max(), Limits::min(), 0, Limits::max(), 1, Limits::min(), static_cast<TypeParam>(Limits::max() - 1), 0};
  expect_all_searches(device_view(values));
}

TEST(FindDuplicatesOf, StridedKeys) {
  const auto keys = filled<Kokkos::View<std::int32_t**, Kokkos::LayoutRight, MemorySpace>>(2000, 6, 4, 4);
  expect_all_searches(Kokkos::subview(keys, Kokkos::ALL, std::pair(1, 4)));
  expect_all_searches(Kokkos::subview(keys, Kokkos::ALL, 5));
  const Kokkos::View<std::int32_t**, Kokkos::LayoutStride, MemorySpace> every_third(
      keys.data(), Kokkos::LayoutStride(600, 18, 2, 2));
  expect_all_searches(every_third);
}
TEST(FindDuplicatesOf, KeysOfSixtyFourWords) {
  const auto keys = filled<Kokkos::View<std::int64_t**, Kokkos::LayoutRight, MemorySpace>>(500, 64, 1 << 30, 5);
  // The second half repeats the first.
  Kokkos::deep_copy(Kokkos::subview(keys, std::pair(250, 500), Kokkos::ALL),
                    Kokkos::subview(keys, std::pair(0, 250), Kokkos::ALL));
  expect_all_searches(keys);
}
TEST(FindDuplicatesOf, OneKeyAHundredThousandTimes) {
  const std::vector<std::int32_t> same(100000, -7);
  const auto keys = device_view(same);
  expect_all_searches(keys);
  EXPECT_EQ(find_duplicates(ExecutionSpace(), keys).groups(), 1);
  // A bucket is not split however little the memory, and one bucket has all keys.
  const Duplicates found = find_duplicates(ExecutionSpace(), keys, {.memory = 1});
  EXPECT_EQ(found.groups(), 1);
  EXPECT_GE(found.report.memory, (16 + 16) * 100000);
}
TEST(FindDuplicatesOf, ManyTimesAFewKeys) {
  expect_all_searches(filled<Kokkos::View<std::int32_t*, MemorySpace>>(200000, 1, 3, 6));
}
TEST(FindDuplicatesOf, AllDifferentKeys) {
  std::vector<std::uint32_t> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761U);
  const auto keys = device_view(values);
  expect_all_searches(keys);
  EXPECT_EQ(find_duplicates(ExecutionSpace(), keys).groups(), 100000);
}
TEST(FindDuplicatesOf, KeysThatCollideUnderExclusiveOrAndMorton) {
  // Pairs (a, a) have the hash 0; pairs (a, b) and (b, a) the same under both.
  constexpr int n = 6000;
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, MemorySpace> keys("heddle::test", n, 2);
  const auto mirror = Kokkos::create_mirror_view(keys);
  for (int i = 0; i < n; ++i) {
    mirror(i, 0) = i % 3 == 0 ? i / 6 : i % 50;
    mirror(i, 1) = i % 3 == 0 ? i / 6 : i / 50 % 60;
  }
  Kokkos::deep_copy(keys, mirror);
  expect_all_searches(keys);
  const Duplicates found =
      find_duplicates(ExecutionSpace(), keys, {.algorithm = Algorithm::sort, .hash = HashFunction::exclusive_or});
  EXPECT_GT(found.report.collisions, n / 3);
}

// The inverse of splitmix64's finaliser, by its inverse constants.
std::uint64_t unmixed(std::uint64_t x) {
  const auto unshift = [](std::uint64_t y, int by) {
    std::uint64_t z = y;
    for (int k = by; k < 64; k += by) z = y ^ (z >> by);
    return z;
  };
  x = unshift(x, 31) * 0x319642B2D24D8EC3ULL;
  x = unshift(x, 27) * 0x96DE1B173F119089ULL;
  return unshift(x, 30);
}
TEST(FindDuplicatesOf, KeysThatAllWantOneBucket) {
  std::vector<std::uint64_t> values = {0, ~std::uint64_t{0}};  // The range, so that words stay as they are.
  for (std::uint64_t i = 0; i < 150000; ++i) values.push_back(unmixed(i << 30));
  for (std::size_t i = 2; i < 500; ++i) values.push_back(values[3 * i]);
  const auto keys = device_view(values);
  expect_groups(find_duplicates(ExecutionSpace(), keys, {.algorithm = Algorithm::partition}), keys);
}

TEST(FindDuplicatesOf, NumbersGroupsByFirstOccurrence) {
  const std::vector<std::int32_t> values = {5, 3, 5, 9, 3, 5};
  const Duplicates found = find_duplicates(ExecutionSpace(), device_view(values));
  EXPECT_EQ(host_vector(found.group), (std::vector<Index>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(host_vector(found.first), (std::vector<Index>{0, 1, 3}));
  EXPECT_EQ(host_vector(found.count), (std::vector<Index>{3, 2, 1}));
}

TEST(FindDuplicatesOf, ReportsWhatItDid) {
  constexpr int n = 1 << 20;
  const auto keys = filled<Kokkos::View<std::int32_t*, MemorySpace>>(n, 1, 10000, 7);
  const auto report = [&](SearchOptions options) {
    options.time_phases = true;
    return find_duplicates(ExecutionSpace(), keys, options).report;
  };
  const SearchReport partition = report({.memory = 10 * n});
  EXPECT_EQ(partition.algorithm, Algorithm::partition);
  EXPECT_GE(partition.passes, 2);
  // Any search takes 16 bytes a key besides its own; a byte a key is far more than the counters of buckets need.
  EXPECT_LE(partition.memory, (16 + 10 + 1) * n);
  EXPECT_GE(report({}).memory, (16 + 16) * n);
  std::vector<std::string> names;
  for (const Phase& phase : partition.phases) {
    EXPECT_GE(phase.seconds, 0);
    names.push_back(phase.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"inspect", "count", "scatter", "buckets", "list"}));
  const SearchReport fight = report({.algorithm = Algorithm::hash_fight, .hash = HashFunction::mixer});
  EXPECT_EQ(fight.hash, HashFunction::mixer);
  EXPECT_GE(fight.iterations, 2);
  EXPECT_GT(fight.collisions, 0);
  EXPECT_LE(fight.memory, (16 + 24) * n);
  EXPECT_GE(fight.memory, (16 + 20) * n);
  EXPECT_LE(report({.algorithm = Algorithm::sort}).memory, (16 + 24) * n);
  EXPECT_LE(report({.algorithm = Algorithm::sort_by_id}).memory, (16 + 24) * n);
}

TEST(FindDuplicatesOf, RefusesKeysOfTooManyWords) {
  const Kokkos::View<std::int8_t**, MemorySpace> keys("heddle::test", 2, 65);
  try {
    static_cast<void>(find_duplicates(ExecutionSpace(), keys));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    EXPECT_STREQ(error.what(), "find_duplicates: keys of 65 words; expected 1 to 64");
  }
}
TEST(SearchNames, AreReadBack) {
  for (const SearchOptions& options : all_searches()) {
    EXPECT_EQ(algorithm_from(to_string(options.algorithm)), options.algorithm);
    EXPECT_EQ(hash_function_from(to_string(options.hash)), options.hash);
  }
  EXPECT_EQ(to_string(HashFunction::exclusive_or), "xor");
  EXPECT_EQ(to_string(Algorithm::sort_by_id), "sort-by-id");
  test::expect_refusal(ErrorKind::argument, "'quick' is no search algorithm; expected automatic, partition,",
                       [&] { static_cast<void>(algorithm_from("quick")); });
  try {
    static_cast<void>(hash_function_from("md5"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "'md5' is no hash function; expected automatic, xor, fnv1a, morton, mixer");
  }
}

}  // namespace
}  // namespace heddle::search::duplicates_test

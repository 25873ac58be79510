// Tests of sums of segments and of keyed sums against MPFR.
#include "reference.hpp"
#include "support/errors.hpp"
#include <heddle/exact/reduce.hpp>
#include <heddle/exact/segmented.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace heddle::exact::segmented_test {
namespace {

using Kokkos::complex;

template <class T> Kokkos::View<T*, MemorySpace> view_of(const std::vector<T>& values) {
  const Kokkos::View<T*, MemorySpace> view("heddle::test::values", values.size());
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  return view;
}
template <class T> std::vector<T> values_of(const Kokkos::View<T*, MemorySpace>& view) {
  std::vector<T> values(view.extent(0));
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(values.data(), values.size()), view);
  return values;
}
template <class T> std::string bits_of(const T& x) {
  if constexpr (is_complex<T>) {
    return shown(x.real()) + ' ' + shown(x.imag());
  } else {
    return shown(x);
  }
}
template <class T> Real<T> part_of(const T& x, int part) {
  if constexpr (is_complex<T>) {
    return part == 0 ? x.real() : x.imag();
  } else {
    return x;
  }
}
// Returns the MPFR sum of the listed elements.
template <class T> std::string expected_sum(const std::vector<T>& x, const std::vector<std::size_t>& list) {
  std::string all;
  for (int p = 0; p < (is_complex<T> ? 2 : 1); ++p) {
    Reference sum;
    for (const std::size_t i : list) sum.add(static_cast<double>(part_of(x[i], p)));
    all += (p == 0 ? "" : " ") + shown(sum.is_zero() ? Real<T>(0) : sum.template value<Real<T>>());
  }
  return all;
}

// Numbers of any exponent, of moderate ones, or such that neighbours cancel.
template <class T> std::vector<T> numbers(std::mt19937_64& random, std::size_t n, int kind) {
  using R = Real<T>;
  const auto number = [&] {
    return kind == 0
               ? any_number<R>(random)
               : std::ldexp(static_cast<R>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 40) - 60);
  };
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (is_complex<T>) {
      x[i] = T(number(), number());
    } else {
      x[i] = number();
    }
    if (kind == 2 && i % 2 == 1) x[i] = T(0) - x[i - 1];
  }
  return x;
}

template <class T, class I> std::vector<T> segmented(const std::vector<T>& x, const std::vector<I>& offsets) {
  const Kokkos::View<T*, MemorySpace> sums("heddle::test::sums", offsets.empty() ? 0 : offsets.size() - 1);
  segmented_sum(ExecutionSpace(), view_of(x), view_of(offsets), sums);
  return values_of(sums);
}
template <class T, class I>
std::vector<T> keyed(const std::vector<T>& x, const std::vector<I>& keys, std::size_t count) {
  const Kokkos::View<T*, MemorySpace> sums("heddle::test::sums", count);
  Kokkos::deep_copy(sums, T(7));
  keyed_sum(ExecutionSpace(), view_of(x), view_of(keys), sums);
  return values_of(sums);
}

template <class T> class ManySums : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ManySums, Types);

TYPED_TEST(ManySums, OfSegmentsAreThoseOfMpfr) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (const int kind : {0, 1, 2}) {
    // Short segments, some empty; one long among short ones; all elements in one.
    for (const std::size_t most : {5U, 40U, 400U}) {
      std::vector<std::int32_t> offsets = {static_cast<std::int32_t>(random() % 3)};
      for (int s = 0; s < 60; ++s) {
        const auto length = s == 30 ? 3000 : static_cast<std::int32_t>(random() % most) * (random() % 4 == 0 ? 0 : 1);
        offsets.push_back(offsets.back() + length);
      }
      const auto x = numbers<T>(random, static_cast<std::size_t>(offsets.back()) + 2, kind);
      const std::vector<T> sums = segmented(x, offsets);
      for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        std::vector<std::size_t> list(static_cast<std::size_t>(offsets[s + 1] - offsets[s]));
        std::iota(list.begin(), list.end(), static_cast<std::size_t>(offsets[s]));
        ASSERT_EQ(bits_of(sums[s]), expected_sum(x, list)) << kind << ' ' << most << ' ' << s;
      }
    }
  }
}

TYPED_TEST(ManySums, OfKeysAreThoseOfMpfr) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (const int kind : {0, 1, 2}) {
    // One key, a few, more than elements, and more than one table of keys holds.
    for (const auto& [count, n] :
         {std::pair<std::size_t, std::size_t>{1, 5000}, {13, 5000}, {700, 300}, {40000, 9000}}) {
      const auto x = numbers<T>(random, n, kind);
      std::vector<std::int64_t> keys(n);
      std::vector<std::vector<std::size_t>> lists(count);
      for (std::size_t i = 0; i < n; ++i) {
        // Half of them have one of the last keys.
        const std::size_t key =
            random() % 2 == 0 ? random() % count : count - 1 - random() % std::min<std::size_t>(count, 3);
        keys[i] = static_cast<std::int64_t>(key);
        lists[key].push_back(i);
      }
      const std::vector<T> sums = keyed(x, keys, count);
      for (std::size_t key = 0; key < count; ++key) {
        ASSERT_EQ(bits_of(sums[key]), expected_sum(x, lists[key])) << kind << ' ' << count << ' ' << key;
      }
    }
  }
}

// Lists in order except for one element, or not quite as many as one thread examines, and one plan for all of them: the
// state of one list must not affect another.
TYPED_TEST(ManySums, OfAPlanAreThoseOfCalls) {
  using T = TypeParam;
  std::mt19937_64 random(8);
  KeyedSumPlan plan{ExecutionSpace()};
  for (const std::size_t count : {1U, 60U, 30000U}) {
    const std::size_t n = 20000;
    const auto x = numbers<T>(random, n, 0);
    std::vector<std::int32_t> keys(n);
    for (auto& key : keys) key = static_cast<std::int32_t>(random() % count / (count > 60 ? 100 : 1));
    std::sort(keys.begin(), keys.end());
    for (const std::size_t moved : {n, std::size_t{12347}, n - 1, std::size_t{1}}) {
      std::vector<std::int32_t> given = keys;
      if (moved < n) given[moved] = static_cast<std::int32_t>(moved == 1 ? count - 1 : 0);
      std::vector<std::vector<std::size_t>> lists(count);
      for (std::size_t i = 0; i < n; ++i) lists[static_cast<std::size_t>(given[i])].push_back(i);
      const std::vector<T> alone = keyed(x, given, count);
      const Kokkos::View<T*, MemorySpace> sums("heddle::test::sums", count);
      plan.execute(view_of(x), view_of(given), sums);
      const std::vector<T> planned = values_of(sums);
      for (std::size_t key = 0; key < count; ++key) {
        ASSERT_EQ(bits_of(alone[key]), bits_of(planned[key])) << count << ' ' << moved << ' ' << key;
        if (key % 50 == 0 || key + 1 == count) {
          ASSERT_EQ(bits_of(alone[key]), expected_sum(x, lists[key])) << count << ' ' << moved << ' ' << key;
        }
      }
    }
    const std::vector<std::int32_t> wrong(n, static_cast<std::int32_t>(count));
    const Kokkos::View<T*, MemorySpace> sums("heddle::test::sums", count);
    EXPECT_THROW(plan.execute(view_of(x), view_of(wrong), sums), Error);
  }
}

// Sums that three times the precision leaves open, in any order, in order, with 32 and 64 bits, and as segments.
TYPED_TEST(ManySums, HaveTheSameBitsInAnyOrder) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  for (const std::size_t count : {3U, 20000U}) {
    const std::size_t n = 30000;
    const auto x = numbers<T>(random, n, 0);
    std::vector<std::int32_t> keys(n);
    for (auto& key : keys) key = static_cast<std::int32_t>(random() % count);
    const std::vector<T> expected = keyed(x, keys, count);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (int run = 0; run < 4; ++run) {
      if (run < 3) {
        std::shuffle(order.begin(), order.end(), random);
      } else {
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
      }
      std::vector<T> other_x;
      std::vector<std::int32_t> other_keys;
      std::vector<std::int64_t> wide_keys;
      std::vector<std::int64_t> offsets(count + 1);
      for (const std::size_t i : order) {
        other_x.push_back(x[i]);
        other_keys.push_back(keys[i]);
        wide_keys.push_back(keys[i]);
        ++offsets[static_cast<std::size_t>(keys[i]) + 1];
      }
      std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
      const std::vector<T> sums = keyed(other_x, other_keys, count);
      const std::vector<T> wide = keyed(other_x, wide_keys, count);
      const std::vector<T> of_segments = run == 3 ? segmented(other_x, offsets) : expected;
      for (std::size_t key = 0; key < count; ++key) {
        ASSERT_EQ(bits_of(sums[key]), bits_of(expected[key])) << run << ' ' << key;
        ASSERT_EQ(bits_of(wide[key]), bits_of(expected[key])) << run << ' ' << key;
        ASSERT_EQ(bits_of(of_segments[key]), bits_of(expected[key])) << run << ' ' << key;
      }
    }
  }
}

TYPED_TEST(ManySums, KnowZerosInfinitiesAndNaNs) {
  using T = TypeParam;
  using R = Real<T>;
  const R inf = std::numeric_limits<R>::infinity();
  const R nan = std::numeric_limits<R>::quiet_NaN();
  const R big = largest<R>();
  // Terms, and their sum.
  const std::vector<std::pair<std::vector<R>, R>> cases = {{{}, R(0)},
                                                           {{-R(0)}, -R(0)},
                                                           {{-R(0), -R(0), -R(0)}, -R(0)},
                                                           {{-R(0), R(0)}, R(0)},
                                                           {{R(1), -R(1)}, R(0)},
                                                           {{inf, R(1)}, inf},
                                                           {{-inf, R(1)}, -inf},
                                                           {{inf, -inf}, nan},
                                                           {{R(1), nan}, nan},
                                                           {{big, big}, inf},
                                                           {{big, big, -big, -big}, R(0)},
                                                           {{big, big, -big}, big},
                                                           {{smallest<R>(), smallest<R>()}, 2 * smallest<R>()}};
  std::vector<T> x;
  std::vector<std::int32_t> offsets = {0};
  std::vector<std::int32_t> keys;
  for (std::size_t s = 0; s < cases.size(); ++s) {
    for (const R term : cases[s].first) {
      if constexpr (is_complex<T>) {
        x.emplace_back(term, term);
      } else {
        x.push_back(term);
      }
      keys.push_back(static_cast<std::int32_t>(s));
    }
    offsets.push_back(static_cast<std::int32_t>(x.size()));
  }
  const std::vector<T> of_segments = segmented(x, offsets);
  std::vector<T> backwards(x.rbegin(), x.rend());
  std::vector<std::int32_t> keys_backwards(keys.rbegin(), keys.rend());
  const std::vector<T> of_keys = keyed(backwards, keys_backwards, cases.size());
  for (std::size_t s = 0; s < cases.size(); ++s) {
    for (int p = 0; p < (is_complex<T> ? 2 : 1); ++p) {
      EXPECT_EQ(shown(part_of(of_segments[s], p)), shown(cases[s].second)) << s;
      EXPECT_EQ(shown(part_of(of_keys[s], p)), shown(cases[s].second)) << s;
    }
  }
}

TYPED_TEST(ManySums, AddToWhatIsThereFromAnyStrides) {
  using T = TypeParam;
  std::mt19937_64 random(4);
  for (const int kind : {0, 1}) {
    const std::size_t n = 2000;
    const std::size_t count = 9;
    const auto x = numbers<T>(random, 3 * n, kind);
    const auto old = numbers<T>(random, 2 * count, kind);
    std::vector<std::int64_t> keys(2 * n);
    for (auto& key : keys) key = static_cast<std::int64_t>(random() % count);
    const auto all_x = view_of(x);
    const auto all_keys = view_of(keys);
    const auto sums = view_of(old);
    const auto every = [](const auto& view, std::size_t length, std::size_t stride) {
      using Element = typename std::decay_t<decltype(view)>::value_type;
      return StridedVector<Element>(view.data(), Kokkos::LayoutStride(length, stride));
    };
    keyed_sum(ExecutionSpace(), every(all_x, n, 3), every(all_keys, n, 2), every(sums, count, 2), {.add = true});
    const std::vector<T> found = values_of(sums);
    // The whole vector, with the former value as last term.
    std::vector<T> terms;
    std::vector<std::vector<std::size_t>> lists(count);
    for (std::size_t i = 0; i < n; ++i) {
      lists[static_cast<std::size_t>(keys[2 * i])].push_back(terms.size());
      terms.push_back(x[3 * i]);
    }
    for (std::size_t key = 0; key < count; ++key) {
      lists[key].push_back(terms.size());
      terms.push_back(old[2 * key]);
      EXPECT_EQ(bits_of(found[2 * key]), expected_sum(terms, lists[key])) << key;
      EXPECT_EQ(bits_of(found[2 * key + 1]), bits_of(old[2 * key + 1])) << key;
    }
    // As segments, the last of them empty.
    std::vector<std::int32_t> offsets = {0, 5, 1000, 1000};
    const auto of_segments = view_of(std::vector<T>(old.begin(), old.begin() + 3));
    segmented_sum(ExecutionSpace(), every(all_x, n, 3), view_of(offsets), of_segments, {.add = true});
    const std::vector<T> segment_sums = values_of(of_segments);
    for (std::size_t s = 0; s < 3; ++s) {
      std::vector<T> of_one = {old[s]};
      for (auto i = static_cast<std::size_t>(offsets[s]); i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
        of_one.push_back(x[3 * i]);
      }
      std::vector<std::size_t> list(of_one.size());
      std::iota(list.begin(), list.end(), 0);
      EXPECT_EQ(bits_of(segment_sums[s]), expected_sum(of_one, list)) << s;
    }
  }
}

// Long enough for all threads and for a whole device, next to short ones.
TEST(LongSegments, AreThoseOfWholeVectors) {
  std::mt19937_64 random(5);
  const std::size_t n = 2500000;
  for (const int kind : {0, 1}) {
    const auto x = numbers<double>(random, n, kind);
    const std::vector<std::int64_t> offsets = {3, 4, 1200000, 1200000, 1300000, static_cast<std::int64_t>(n)};
    const auto view = view_of(x);
    const std::vector<double> sums = segmented(x, offsets);
    std::vector<std::int32_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = i < 3 ? 19999 : i < 1200000 ? 17 : 18000;
    const std::vector<double> of_keys = keyed(x, keys, 20000);
    const auto whole = [&](std::size_t begin, std::size_t end) {
      return shown(sum(ExecutionSpace(), Kokkos::subview(view, Kokkos::make_pair(begin, end))));
    };
    for (std::size_t s = 0; s < sums.size(); ++s) {
      EXPECT_EQ(shown(sums[s]), whole(static_cast<std::size_t>(offsets[s]), static_cast<std::size_t>(offsets[s + 1])))
          << s;
    }
    EXPECT_EQ(shown(of_keys[17]), whole(3, 1200000));
    EXPECT_EQ(shown(of_keys[18000]), whole(1200000, n));
    EXPECT_EQ(shown(of_keys[19999]), whole(0, 3));
    EXPECT_EQ(shown(of_keys[18]), shown(0.0));
  }
}

TEST(ManySumReports, CountWhatIsFormedAgain) {
  const Kokkos::View<double*, MemorySpace> sums("heddle::test::sums", 2);
  // 2^0, 2^-200 and 2^-400; the first two cancel.
  const auto x = view_of<double>({1, 0x1p-200, 0x1p-400, -1, -0x1p-200, 1, 2});
  const auto report = segmented_sum(ExecutionSpace(), x, view_of<std::int32_t>({0, 5, 7}), sums);
  EXPECT_EQ(report.reopened, 1);
  EXPECT_EQ(values_of(sums), (std::vector<double>{0x1p-400, 3}));
  EXPECT_EQ(keyed_sum(ExecutionSpace(), x, view_of<std::int32_t>({0, 0, 0, 0, 0, 1, 1}), sums).reopened, 1);
  EXPECT_EQ(values_of(sums), (std::vector<double>{0x1p-400, 3}));
}

TEST(ManySumArguments, AreRefusedAndNothingIsWritten) {
  const ExecutionSpace space;
  const auto x = view_of<double>({1, 2, 3, 4});
  const Kokkos::View<double*, MemorySpace> sums("heddle::test::sums", 2);
  Kokkos::deep_copy(sums, 5.0);
  const auto refused = [&](const std::string& what, const auto& run) {
    test::expect_refusal(ErrorKind::argument, what, run);
    EXPECT_EQ(values_of(sums), std::vector<double>(2, 5.0));
  };
  const auto offsets = [&](const std::vector<std::int64_t>& at) { segmented_sum(space, x, view_of(at), sums); };
  refused("exact::segmented_sum: 2 offsets and 2 sums; expected one offset more than sums", [&] { offsets({0, 1}); });
  refused("exact::segmented_sum: offset 2 is 5; expected 1 to 4, in ascending order", [&] { offsets({0, 1, 5}); });
  refused("exact::segmented_sum: offset 1 is 1; expected 2 to 4, in ascending order", [&] { offsets({2, 1, 3}); });
  refused("exact::segmented_sum: offset 0 is -1; expected 0 to 4, in ascending order", [&] { offsets({-1, 1, 3}); });
  const auto keys = [&](const std::vector<std::int32_t>& of) { keyed_sum(space, x, view_of(of), sums); };
  refused("exact::keyed_sum: 4 elements and 3 keys", [&] { keys({0, 1, 1}); });
  refused("exact::keyed_sum: key 2 of element 2, counted from 0; 2 sums take keys from 0 to 1", [&] {
    keys({0, 1, 2, -1});
  });
  refused("exact::keyed_sum: key -1 of element 0, counted from 0; 2 sums take keys from 0 to 1", [&] {
    keys({-1, 1, 2, 0});
  });
  const auto part = Kokkos::subview(x, Kokkos::make_pair(2, 4));
  test::expect_refusal(ErrorKind::argument, "", [&] {
    keyed_sum(space, x, view_of<std::int32_t>({0, 1, 1, 0}), part);
  });
  // Empty vectors.
  const Kokkos::View<double*, MemorySpace> none;
  EXPECT_EQ(segmented_sum(space, x, Kokkos::View<std::int32_t*, MemorySpace>(), none).reopened, 0);
  EXPECT_EQ(segmented_sum(space, x, view_of<std::int32_t>({4}), none).reopened, 0);
  EXPECT_EQ(keyed_sum(space, none, Kokkos::View<std::int32_t*, MemorySpace>(), sums).reopened, 0);
  EXPECT_EQ(values_of(sums), std::vector<double>(2, 0.0));
}

}  // namespace
}  // namespace heddle::exact::segmented_test

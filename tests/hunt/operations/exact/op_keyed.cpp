// Exact sums of the elements with equal keys and of segments, added to existing values or not, with plans and without.
#include "hunt/operations.hpp"
#include <heddle/exact/segmented.hpp>

#include <algorithm>

namespace heddle::hunt {
namespace {

void draw_groups(Random& random, Case& one) {
  const Index n = random.extent(400);
  const long groups = random.one_in(4) ? 1 + random.below(3) : 1 + random.below(80);
  Array& x = one.add("x", 'n', n);
  fill_hard(random, one.type, x);
  // Pairs that cancel, far apart.
  for (Index k = 0; 2 * k + 1 < n && random.one_in(2); ++k) x.at(n - 1 - k) = -x.at(k);
  if (random.one_in(8)) sprinkle(random, one.type, x);
  Array& start = one.add("start", 'g', groups);
  fill_hard(random, one.type, start);
  Integers& keys = one.add_integers("keys", 'n', n);
  const bool skewed = random.one_in(3);
  for (std::int64_t& key : keys.values) key = skewed && !random.one_in(5) ? 0 : random.below(groups);
  Integers& ends = one.add_integers("ends", 'g', groups);
  for (std::int64_t& end : ends.values) end = random.below(n + 1);
  one.add_knob("layout", random.below(layouts));
  one.add_knob("add", random.below(2));
  one.add_knob("sorted", random.below(2));
}

template <exact::SegmentIndex I> Kokkos::View<I*, MemorySpace> indices(const std::vector<std::int64_t>& values) {
  const Kokkos::View<I*, MemorySpace> list("heddle::hunt::indices", values.size());
  const auto host = Kokkos::create_mirror_view(list);
  std::transform(values.begin(), values.end(), host.data(), [](std::int64_t value) { return static_cast<I>(value); });
  Kokkos::deep_copy(list, host);
  return list;
}

template <Scalar T>
void judge(Verdict& verdict, const char* what, const Placed<T>& sums, const std::vector<T>& expected) {
  const auto found = sums.read();
  for (std::size_t s = 0; s < expected.size(); ++s) {
    verdict.holds(what, same(found(s, 0), expected[s]), told<T>(static_cast<Index>(s), 0, found(s, 0), expected[s]));
  }
  verdict.holds(std::string(what) + " leaves the rest", sums.rest_untouched());
}

template <Scalar T, class I> void run_with(const Case& one, Verdict& verdict, exact::KeyedSumPlan& plan) {
  const Array& x = one.array("x");
  const Array& start = one.array("start");
  const std::size_t groups = start.values.size();
  std::vector<std::int64_t> keys = one.integer("keys").values;
  if (groups == 0) return verdict.skip();
  for (std::int64_t& key : keys) key %= static_cast<std::int64_t>(groups);
  if (one.knob("sorted") != 0) std::sort(keys.begin(), keys.end());
  const bool add = one.knob("add") != 0;
  const auto terms = host_of<T>(x);
  const auto before = host_of<T>(start);
  const auto expected_of = [&](const auto& each) {
    std::vector<ExactSum<T>> sums(groups);
    if (add) {
      for (std::size_t s = 0; s < groups; ++s) sums[s].add(before(s, 0));
    }
    each([&](std::size_t group, std::size_t k) { sums[group].add(terms(k, 0)); });
    std::vector<T> values;
    for (const auto& sum : sums) values.push_back(sum.value());
    return values;
  };
  const Placed<T> placed(x, one.knob("layout"));
  const ExecutionSpace space;
  const auto keyed = expected_of([&](const auto& take) {
    for (std::size_t k = 0; k < keys.size(); ++k) take(static_cast<std::size_t>(keys[k]), k);
  });
  const auto key_list = indices<I>(keys);
  const Placed<T> by_keys(start, one.knob("layout"));
  exact::keyed_sum(space, placed.vector(), key_list, by_keys.vector(), {.add = add});
  judge(verdict, "keyed_sum", by_keys, keyed);
  const Placed<T> by_plan(start, 3 - one.knob("layout"));
  plan.execute(placed.vector(), key_list, by_plan.vector(), {.add = add});
  judge(verdict, "keyed_sum by a plan", by_plan, keyed);
  const Placed<T> by_one(start, 0);
  exact::keyed_sum(one_thread(), placed.vector(), key_list, by_one.vector(), {.add = add});
  judge(verdict, "keyed_sum by one thread", by_one, keyed);

  // The first offset and one for the end of each segment, in ascending order, within x.
  std::vector<std::int64_t> offsets = one.integer("ends").values;
  offsets.insert(offsets.begin(), add ? 0 : offsets.back() / 2);
  for (std::int64_t& offset : offsets) offset = std::min<std::int64_t>(offset, x.rows);
  std::sort(offsets.begin(), offsets.end());
  const auto segmented = expected_of([&](const auto& take) {
    for (std::size_t s = 0; s < groups; ++s) {
      for (std::int64_t k = offsets[s]; k < offsets[s + 1]; ++k) take(s, static_cast<std::size_t>(k));
    }
  });
  const Placed<T> of_segments(start, one.knob("layout"));
  exact::segmented_sum(space, placed.vector(), indices<I>(offsets), of_segments.vector(), {.add = add});
  judge(verdict, "segmented_sum", of_segments, segmented);

  keys.push_back(static_cast<std::int64_t>(groups));
  const Kokkos::View<T*, MemorySpace> more("heddle::hunt::more", keys.size());
  const Placed<T> kept(start, 0);
  const Thrown thrown =
      thrown_by([&] { exact::keyed_sum(space, more, indices<I>(keys), kept.vector(), {.add = add}); });
  verdict.holds("refuses a key out of range, as an argument", thrown.any && thrown.kind == ErrorKind::argument);
  verdict.holds("and writes nothing", test::same_bits(kept.read(), before));
}

template <Scalar T> void run_groups(const World&, const Case& one, Verdict& verdict) {
  exact::KeyedSumPlan plan{ExecutionSpace()};
  run_with<T, std::int32_t>(one, verdict, plan);
  if (!verdict.skipped()) run_with<T, std::int64_t>(one, verdict, plan);
}

}  // namespace

void draw_keyed_sums(Random& random, Case& one) {
  draw_groups(random, one);
}
HEDDLE_HUNT_RUN(keyed_sums, run_groups)

}  // namespace heddle::hunt

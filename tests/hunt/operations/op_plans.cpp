// Reused plans: each execution, with other elements in between, has the bits of a separate operation.
#include "hunt/operations.hpp"
#include "search/oracle.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/search/duplicates.hpp>
#include <heddle/transpose/distributed.hpp>

namespace heddle::hunt {
namespace {

void draw_two_products(Random& random, Case& one) {
  const Index m = random.extent(25);
  const Index n = random.extent(25);
  const Index k = random.extent(40);
  for (const char* const which : {"1", "2"}) {
    fill_hard(random, one.type, one.add(std::string("A") + which, 'm', m, 'k', k));
    fill_hard(random, one.type, one.add(std::string("B") + which, 'k', k, 'n', n));
    fill_hard(random, one.type, one.add(std::string("C") + which, 'm', m, 'n', n));
  }
  if (random.one_in(6)) sprinkle(random, one.type, one.arrays[0]);  // NaN in the first matrix, none in the second
  one.add_knob("arithmetic", random.below(2));
  one.add_knob("tile", random.any_of(64L, 1L, 3L, 7L, 16L), 64);
  one.add_knob("place A", random.below(100));
  one.add_knob("place B", random.below(100));
  one.add_knob("place C", random.below(100));
  one.add_knob("fallback", random.below(3));
}

template <Scalar T> void run_two_products(const World& world, const Case& one, Verdict& verdict) {
  GemmOptions options;
  options.tile = one.knob("tile");
  options.rates = some_rates(true);
  options.arithmetic = one.knob("arithmetic") == 0 ? Arithmetic::native : Arithmetic::emulated;
  options.emulation.fallback = static_cast<Fallback>(one.knob("fallback"));
  struct Operands {
    DistributedMatrix<T> A, B, C;
  };
  const auto operands = [&](const std::string& which) {
    return Operands{distributed<T>(world.all, one.array("A" + which), one.knob("place A")),
                    distributed<T>(world.all, one.array("B" + which), one.knob("place B")),
                    distributed<T>(world.all, one.array("C" + which), one.knob("place C"))};
  };
  const Operands first = operands("1");
  GemmPlan<T> plan(world.all, Operation::none, first.A.placement(), Operation::none, first.B.placement(),
                   first.C.placement(), options);
  const T beta(-1);
  for (const char* const which : {"1", "2", "1"}) {
    const Operands alone = operands(which);
    gemm(world.all, Operation::none, Operation::none, T(1), alone.A, alone.B, beta, alone.C, options);
    const Operands planned = operands(which);
    plan.execute(T(1), planned.A, planned.B, beta, planned.C);
    const Operands enqueued = operands(which);
    plan.enqueue(T(1), enqueued.A, enqueued.B, beta, enqueued.C);
    plan.wait();
    const auto expected = gather(alone.C, 0);
    const auto found = gather(planned.C, 0);
    const auto queued = gather(enqueued.C, 0);
    verdict.holds("execute() has the bits of gemm()", difference(found, expected).empty(), difference(found, expected));
    verdict.holds("enqueue() has the bits of gemm()", difference(queued, expected).empty(),
                  difference(queued, expected));
  }
}

void draw_two_transposes(Random& random, Case& one) {
  const Index m = random.extent(30);
  const Index n = random.extent(30);
  for (const char* const name : {"A1", "A2"}) fill_hard(random, one.type, one.add(name, 'm', m, 'n', n));
  if (random.one_in(4)) sprinkle(random, one.type, one.arrays[0]);
  one.add_knob("op", random.below(3));
  one.add_knob("place A", random.below(100));
  one.add_knob("place B", random.below(100));
}
template <Scalar T> void run_two_transposes(const World& world, const Case& one, Verdict& verdict) {
  const Array& shape = one.array("A1");
  const bool crossed = one.op("op") != Operation::none;
  const auto result = [&] {
    const auto B = distributed<T>(world.all, crossed ? shape.columns : shape.rows, crossed ? shape.rows : shape.columns,
                                  one.knob("place B"));
    fill(B, T(7));
    return B;
  };
  const auto given = distributed<T>(world.all, shape, one.knob("place A"));
  TransposePlan<T> plan(world.all, given.placement(), one.op("op"), result().placement());
  for (const char* const name : {"A1", "A2", "A1"}) {
    const auto A = distributed<T>(world.all, one.array(name), one.knob("place A"));
    const auto planned = result();
    plan.execute(T(1), A, planned);
    const auto alone = result();
    transpose(world.all, T(1), A, one.op("op"), alone);
    const auto found = gather(planned, 0);
    const auto expected = gather(alone, 0);
    verdict.holds("the bits of transpose()", test::same_bits(found, expected), difference(found, expected));
  }
}

void draw_two_searches(Random& random, Case& one) {
  for (const char* const name : {"keys 1", "keys 2"}) {
    const Index n = random.extent(300);
    Integers& keys = one.add_integers(name, name[5] == '1' ? 'm' : 'n', n);
    const long range = random.any_of(3L, 50L, 1L << 40);
    for (std::int64_t& key : keys.values) key = random.below(range);
  }
  one.add_knob("search", random.below(13));
}
void run_two_searches(const Case& one, Verdict& verdict) {
  const auto all = search::all_searches();
  const search::SearchOptions options = all[static_cast<std::size_t>(one.knob("search")) % all.size()];
  search::DuplicatesPlan plan(ExecutionSpace(), options);
  for (const char* const name : {"keys 1", "keys 2", "keys 1"}) {
    const auto keys = search::device_view(one.integer(name).values);
    const search::Duplicates& found = plan.execute(keys);
    const search::Duplicates expected = search::find_duplicates(ExecutionSpace(), keys, options);
    verdict.holds("groups of find_duplicates()",
                  search::host_vector(found.group) == search::host_vector(expected.group) &&
                      search::host_vector(found.first) == search::host_vector(expected.first) &&
                      search::host_vector(found.count) == search::host_vector(expected.count),
                  search::name_of(options));
  }
}

}  // namespace

void draw_gemm_plan(Random& random, Case& one) {
  draw_two_products(random, one);
}
HEDDLE_HUNT_RUN(gemm_plan, run_two_products)
void draw_transpose_plan(Random& random, Case& one) {
  draw_two_transposes(random, one);
}
HEDDLE_HUNT_RUN(transpose_plan, run_two_transposes)
void draw_duplicates_plan(Random& random, Case& one) {
  draw_two_searches(random, one);
}
void run_duplicates_plan(const World&, const Case& one, Verdict& verdict) {
  run_two_searches(one, verdict);
}

}  // namespace heddle::hunt

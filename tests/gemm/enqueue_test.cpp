// Products that are enqueued without waiting: their bits, their order, and their allocations and fences.
#include "support/errors.hpp"
#include "support/labels.hpp"
#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {
std::atomic<long> news{0};
}  // namespace

// Counts allocations by `new` of the whole program, the library included. Sanitizers replace `new` themselves, and
// compilers for GPUs do not allow it here.
#if !defined(__SANITIZE_ADDRESS__) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
constexpr bool counts_news = true;
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++news;
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#else
constexpr bool counts_news = false;
#endif

namespace heddle::enqueue_test {
namespace {

constexpr Operation none = Operation::none;

template <class T> class Enqueue : public ::testing::Test {
 protected:
  struct Product {
    Operation op_a = none;
    Operation op_b = none;
    T alpha{1};
    T beta{0};
  };
  // Expect C to have the bits of execute().
  void expect_same_bits(const Product& product, const Placement& a, const Placement& b, const Placement& c,
                        const GemmOptions& options) {
    const auto A = test::random_matrix<T>(comm, a, 1);
    const auto B = test::random_matrix<T>(comm, b, 2);
    const auto expected = test::random_matrix<T>(comm, c, 3);
    const auto found = test::random_matrix<T>(comm, c, 3);
    GemmPlan<T> plan(comm, product.op_a, a, product.op_b, b, c, options);
    plan.execute(product.alpha, A, B, product.beta, expected);
    // Twice, because the first product leaves a workspace behind.
    for (int time = 0; time < 2; ++time) {
      fill(found, test::RandomEntries<T>{3});
      plan.enqueue(product.alpha, A, B, product.beta, found);
    }
    plan.wait();
    EXPECT_TRUE(test::same_bits(gather(found, 0), gather(expected, 0)))
        << "A " << a.describe() << ", B " << b.describe() << ", C " << c.describe() << ", tile " << options.tile
        << ", alpha " << product.alpha << ", beta " << product.beta;
  }

  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Enqueue, test::AllScalars);

TYPED_TEST(Enqueue, HasTheBitsOfExecuteWithAnyPlacementsAndShapes) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  for (const auto& [m, n, k] :
       {std::array<Index, 3>{24, 24, 24}, {17, 29, 13}, {1, 1, 1}, {0, 5, 5}, {5, 0, 5}, {6, 5, 0}}) {
    const auto of_a = test::placements_of(m, k, ranks);
    const auto of_b = test::placements_of(k, n, ranks);
    const auto of_c = test::placements_of(m, n, ranks);
    for (std::size_t p = 0; p < of_a.size(); ++p) {
      for (const T beta : {T(0), T(-0.5)}) {
        this->expect_same_bits({none, none, T(1.5), beta}, of_a[p], of_b[(p * 3 + 1) % of_b.size()],
                               of_c[(p * 5 + 2) % of_c.size()], {.tile = p % 2 == 0 ? 5 : 64});
      }
    }
  }
}

TYPED_TEST(Enqueue, HasThemWithAnyOperationsAndFactors) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Placement a = Placement::row_bands(27, 27, ranks);
  const Placement c = Placement::on_rank(27, 27, ranks - 1);
  for (const Operation op_a : {none, Operation::transpose, Operation::conjugate_transpose}) {
    for (const auto& [alpha, beta] : {std::pair<T, T>{T(1), T(1)}, {T(0), T(2)}, {T(0), T(0)}, {T(-2), T(0)}}) {
      this->expect_same_bits({op_a, Operation::transpose, alpha, beta}, a, a, c, {.tile = 8});
    }
  }
  this->expect_same_bits({none, none, T(1), T(2)}, a, a, c, {.tile = 8, .layers = 2});
  this->expect_same_bits({none, none, T(1), T(0)}, a, a, c, {.tile = 8, .tiles = GemmTiles::half});
  this->expect_same_bits({none, none, T(1), T(0)}, a, a, c, {.tile = 8, .record_timeline = true});
}

TYPED_TEST(Enqueue, HasThemWhereProductsAreEmulated) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Placement bands = Placement::row_bands(40, 40, ranks);
  for (const Index tile : {Index{0}, Index{16}}) {
    for (const T beta : {T(0), T(3)}) {
      for (const bool look : {false, true}) {
        this->expect_same_bits({none, none, T(1), beta}, bands, bands, bands,
                               {.tile = tile, .arithmetic = Arithmetic::emulated, .emulation = {.look = look}});
      }
      this->expect_same_bits(
          {none, none, T(1), beta}, bands, bands, bands,
          {.tile = tile, .arithmetic = Arithmetic::emulated, .emulation = {.scheme = EmulationScheme::slices}});
    }
  }
}

// X <- X M, K times, by products that each read the previous result, in turn on all `spaces`.
template <Scalar T>
HostMatrix<T> power(const Communicator& comm, const Placement& placement, int times,
                    const std::vector<ExecutionSpace>& spaces, const GemmOptions& options) {
  const auto M = test::random_matrix<T>(comm, placement, 4);
  const std::array<DistributedMatrix<T>, 2> X = {test::random_matrix<T>(comm, placement, 5),
                                                 DistributedMatrix<T>(comm, placement)};
  comm.space().fence("heddle::test::made");
  GemmPlan<T> plan(comm, none, placement, none, placement, placement, options);
  for (int k = 0; k < times; ++k) {
    const auto& from = X[static_cast<std::size_t>(k % 2)];
    const auto& to = X[static_cast<std::size_t>((k + 1) % 2)];
    if (spaces.empty()) {
      plan.execute(T(0.25), from, M, T(0), to);
    } else {
      plan.enqueue(spaces[static_cast<std::size_t>(k) % spaces.size()], T(0.25), from, M, T(0), to);
    }
  }
  plan.wait();
  return gather(X[static_cast<std::size_t>(times % 2)], 0);
}

TYPED_TEST(Enqueue, RunsInOrderOnAnyInstances) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const auto own = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1, 1, 1, 1, 1);
  const std::vector<ExecutionSpace> six(own.begin(), own.end());
  for (const Placement& placement :
       {Placement::row_bands(61, 61, ranks), Placement::on_rank(61, 61, ranks - 1),
        Placement::block_cyclic(61, 61, 8, 8, 1, ranks), Placement::row_bands(61, 61, ranks).in(Residence::host)}) {
    for (const GemmOptions& options :
         {GemmOptions{.tile = 61}, GemmOptions{.tile = 16},
          GemmOptions{.tile = 32, .arithmetic = Arithmetic::emulated, .emulation = {.look = false}}}) {
      const auto expected = power<T>(this->comm, placement, 8, {}, options);
      const std::string what = message_of(placement.describe(), ", tile ", options.tile);
      EXPECT_TRUE(test::same_bits(power<T>(this->comm, placement, 8, {this->comm.space()}, options), expected)) << what;
      EXPECT_TRUE(test::same_bits(power<T>(this->comm, placement, 8, {six[0], six[1]}, options), expected)) << what;
      // More instances than contexts are kept for.
      EXPECT_TRUE(test::same_bits(power<T>(this->comm, placement, 8, six, options), expected)) << what;
    }
  }
}

// On GPUs messages must wait for the work under way on the device.
TEST(EnqueueOnce, ComesBeforeWhatTheInstanceIsGivenLater) {
  using T = double;
  const Communicator comm = test::world();
  const Placement bands = Placement::row_bands(50, 50, comm.size());
  const auto A = test::random_matrix<T>(comm, bands, 1);
  const auto B = test::random_matrix<T>(comm, bands, 2);
  const DistributedMatrix<T> C(comm, bands);
  const DistributedMatrix<T> expected(comm, bands);
  GemmPlan<T> plan(comm, none, bands, none, bands, bands, {.tile = 16});
  plan.execute(2.0, A, B, 0.0, expected);
  // The factor is made, used and overwritten, and the product scaled, without a wait between.
  const DistributedMatrix<T> twice(comm, bands);
  copy(A, twice);
  scale(2.0, twice);
  plan.enqueue(1.0, twice, B, 0.0, C);
  fill(twice, -1.0);
  scale(-1.0, C);
  plan.wait();
  scale(-1.0, expected);
  EXPECT_TRUE(test::same_bits(gather(C, 0), gather(expected, 0)));
}

TEST(EnqueueOnce, EndsBeforeItsPlanDoes) {
  using T = double;
  const Communicator comm = test::world();
  const Placement bands = Placement::row_bands(70, 70, comm.size());
  const auto A = test::random_matrix<T>(comm, bands, 1);
  const auto B = test::random_matrix<T>(comm, bands, 2);
  const auto C = test::random_matrix<T>(comm, bands, 3);
  const auto expected = test::random_matrix<T>(comm, bands, 3);
  gemm<T>(comm, none, none, 1.0, A, B, 0.5, expected, {.tile = 32});
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1);
  for (const ExecutionSpace& space : {comm.space(), instances[0]}) {
    fill(C, test::RandomEntries<T>{3});
    comm.space().fence("heddle::test::made");
    auto plan = std::make_unique<GemmPlan<T>>(comm, none, bands, none, bands, bands, GemmOptions{.tile = 32});
    plan->enqueue(space, 1.0, A, B, 0.5, C);
    plan.reset();
    EXPECT_TRUE(test::same_bits(gather(C, 0), gather(expected, 0)));
    // The same after another plan takes its place.
    fill(C, test::RandomEntries<T>{3});
    comm.space().fence("heddle::test::made");
    GemmPlan<T> first(comm, none, bands, none, bands, bands, {.tile = 32});
    first.enqueue(space, 1.0, A, B, 0.5, C);
    first = GemmPlan<T>(comm, none, bands, none, bands, bands, {.tile = 8});
    EXPECT_TRUE(test::same_bits(gather(C, 0), gather(expected, 0)));
    EXPECT_EQ(first.tile(), 8);
  }
}

TEST(EnqueueOnce, RefusesWhatExecuteRefusesAndBeginsNothing) {
  using T = double;
  const Communicator comm = test::world();
  const int ranks = comm.size();
  const Placement bands = Placement::row_bands(12, 12, ranks);
  const auto A = test::random_matrix<T>(comm, bands, 1);
  const auto C = test::random_matrix<T>(comm, bands, 3);
  const auto before = gather(C, 0);
  GemmPlan<T> plan(comm, none, bands, none, bands, bands, {.tile = 4});
  const DistributedMatrix<T> smaller(comm, Placement::row_bands(12, 11, ranks));
  const DistributedMatrix<T> elsewhere(comm, Placement::column_bands(12, 12, ranks));
  test::expect_refusal(ErrorKind::argument, "gemm: A is ", [&] { plan.enqueue(1.0, smaller, A, 0.0, C); });
  test::expect_refusal(ErrorKind::argument, "gemm: C is ", [&] { plan.enqueue(1.0, A, A, 0.0, smaller); });
  if (ranks > 1) {
    test::expect_refusal(ErrorKind::argument, "the plan is for ", [&] { plan.enqueue(1.0, A, elsewhere, 0.0, C); });
    test::expect_refusal(ErrorKind::argument, "beta is ", [&] { plan.enqueue(1.0, A, A, 1.0 * comm.rank(), C); });
  }
  test::expect_refusal(ErrorKind::argument, "shares storage", [&] { plan.enqueue(1.0, C, A, 0.0, C); });
  EXPECT_EQ(plan.report().products, 0);
  EXPECT_TRUE(test::same_bits(gather(C, 0), before));
  // The plan is still usable.
  plan.enqueue(1.0, A, A, 0.0, C);
  EXPECT_EQ(plan.report().products, 1);
  EXPECT_FALSE(test::same_bits(gather(C, 0), before) && comm.rank() == 0);
}

TEST(EnqueueOnce, ReportsAllProductsSinceTheLastReport) {
  using T = double;
  const Communicator comm = test::world();
  const int ranks = comm.size();
  const Placement bands = Placement::row_bands(48, 48, ranks);
  const auto A = test::random_matrix<T>(comm, bands, 1);
  const auto B = test::random_matrix<T>(comm, bands, 2);
  const DistributedMatrix<T> C(comm, bands);
  GemmPlan<T> plan(comm, none, bands, none, bands, bands, {.tile = 16, .record_timeline = true});
  const GemmReport none_yet = plan.report();
  EXPECT_EQ(none_yet.products, 0);
  EXPECT_EQ(none_yet.seconds, 0.0);
  EXPECT_EQ(none_yet.gflops, 0.0);
  EXPECT_EQ(none_yet.bytes_received, 0.0);
  const GemmReport one = plan.execute(1.0, A, B, 0.0, C);
  EXPECT_EQ(one.products, 1);
  EXPECT_EQ(one.bytes_received > 0.0, ranks > 1);
  const std::size_t intervals = plan.timeline().size();
  EXPECT_GT(intervals, 0U);
  for (int k = 0; k < 3; ++k) plan.enqueue(1.0, A, B, 0.0, C);
  plan.enqueue(0.0, A, B, 1.0, C);
  // A product that is executed meanwhile is not counted as enqueued.
  EXPECT_EQ(plan.execute(1.0, A, B, 0.0, C).products, 1);
  const GemmReport four = plan.report();
  EXPECT_EQ(four.products, 4);
  EXPECT_EQ(four.bytes_received, 3 * one.bytes_received);
  EXPECT_EQ(four.tile, 16);
  EXPECT_EQ(four.arithmetic, Arithmetic::native);
  EXPECT_GT(four.seconds, 0.0);
  EXPECT_DOUBLE_EQ(four.gflops, 4 * 2.0 * 48 * 48 * 48 / four.seconds / 1e9);
  EXPECT_EQ(four.wait_seconds, 0.0);
  EXPECT_EQ(plan.report().products, 0);
  // The timeline has only the products that were executed.
  EXPECT_EQ(plan.timeline().size() > 0, intervals > 0);
  const std::size_t executed = plan.timeline().size();
  plan.enqueue(1.0, A, B, 0.0, C);
  plan.wait();
  EXPECT_EQ(plan.timeline().size(), executed);
}

// Allocations by label, as Kokkos Tools reports them, and the number of fences. On GPUs Kokkos has pools of scratch
// memory, each of which grows when it is first used.
std::vector<std::string> allocations;
long fences = 0;

template <class Work> void watch(const Work& work) {
  namespace tools = Kokkos::Tools::Experimental;
  allocations.clear();
  fences = 0;
  tools::set_allocate_data_callback([](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
    const std::string name(label);
    if (test::on_host || name.rfind("Kokkos::", 0) != 0) allocations.push_back(name);
  });
  tools::set_begin_fence_callback([](const char* name, std::uint32_t, std::uint64_t* id) {
    *id = 0;
    // A host BLAS runs on threads that Kokkos does not know, and an attached tool makes Kokkos fence.
    const std::string of(name);
    if (of != "heddle::blas::before_host_gemm" && of.find("invoke_kokkosp") == std::string::npos) ++fences;
  });
  work();
  tools::set_allocate_data_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
}

TEST(EnqueueOnce, TakesNothingOfTheHostOnOneRank) {
  using T = double;
  const Communicator comm = test::world();
  if (comm.size() > 1) GTEST_SKIP() << "messages take memory and time of the host";
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1);
  const Placement whole = Placement::on_rank(96, 96, 0);
  const auto A = test::random_matrix<T>(comm, whole, 1);
  const auto B = test::random_matrix<T>(comm, whole, 2);
  const DistributedMatrix<T> C(comm, whole);
  for (const GemmOptions& options :
       {GemmOptions{.tile = 96}, GemmOptions{.tile = 40},
        GemmOptions{.tile = 96, .arithmetic = Arithmetic::emulated, .emulation = {.look = false}},
        GemmOptions{.tile = 40, .arithmetic = Arithmetic::emulated, .emulation = {.moduli = 14}}}) {
    GemmPlan<T> plan(comm, none, whole, none, whole, whole, options);
    for (const T beta : {0.0, 0.5}) {
      const auto ten = [&] {
        for (int k = 0; k < 10; ++k) plan.enqueue(instances[0], 1.0, A, B, beta, C);
      };
      ten();
      watch(ten);
      EXPECT_TRUE(allocations.empty()) << ::testing::PrintToString(allocations) << " tile " << options.tile << ", "
                                       << to_string(options.arithmetic) << ", beta " << beta;
      EXPECT_EQ(fences, 0) << "tile " << options.tile << ", " << to_string(options.arithmetic) << ", beta " << beta;
      if (options.arithmetic == Arithmetic::native && beta == 0.0) {
        const long before = news;
        ten();
        EXPECT_EQ(news - before, 0) << "tile " << options.tile;
      }
    }
    EXPECT_EQ(plan.report().products, options.arithmetic == Arithmetic::native ? 50 : 40);
  }
  EXPECT_TRUE(!counts_news || news > 0);
}

}  // namespace
}  // namespace heddle::enqueue_test

// One rank fails at each of many points within the library's collective operations: where memory is taken, and where a
// kernel begins. All ranks must throw, in time, an Error that names the rank, and afterwards the operation must give
// the bits that it gave before.
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::failures_test {
namespace {

enum class Point { allocation, kernel };

// Counts the points that this rank passes, and throws at one of them; where it is an allocation, at all later ones too,
// as memory that is used up stays so: a plan tries a second time.
struct Trap {
  Point point = Point::allocation;
  bool counts = false;
  long passed = 0;
  long throws_at = -1;
  std::map<std::string, long> first_of = {};  // By label: the first point that has it.

  void pass(Point at, std::string_view label) {
    if (!counts || at != point) return;
    const long number = passed++;
    first_of.emplace(label, number);
    if (throws_at < 0 || number < throws_at) return;
    if (at == Point::allocation) throw std::bad_alloc();
    counts = false;
    throw std::runtime_error("a kernel did not start");
  }
};
Trap trap;

void set_trap_callbacks() {
  namespace Tools = Kokkos::Tools::Experimental;
  // An exception at Kokkos's own allocations, within a kernel's launch, ends the process, or leaves the scratch memory
  // of teams taken forever.
  Tools::set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t) {
    if (!std::string_view(label).starts_with("Kokkos::")) trap.pass(Point::allocation, label);
  });
  const auto pass_kernel = [](const char* label, std::uint32_t, std::uint64_t*) { trap.pass(Point::kernel, label); };
  Tools::set_begin_parallel_for_callback(pass_kernel);
  Tools::set_begin_parallel_reduce_callback(pass_kernel);
  Tools::set_begin_parallel_scan_callback(pass_kernel);
}

using Numbers = std::vector<double>;
using Run = std::function<Numbers(const Communicator&)>;

template <Scalar T> Numbers numbers_of(const DistributedMatrix<T>& A) {
  const HostMatrix<T> all = gather(A, 0);
  Numbers numbers;
  for (std::size_t j = 0; j < all.extent(1); ++j) {
    for (std::size_t i = 0; i < all.extent(0); ++i) numbers.push_back(static_cast<double>(all(i, j)));
  }
  return numbers;
}

struct HilbertAndOne {
  KOKKOS_FUNCTION double operator()(Index i, Index j) const {
    return 1.0 / static_cast<double>(1 + i + j) + (i == j ? 1.0 : 0.0);
  }
};

Kokkos::View<double*, MemorySpace> far_apart(const Communicator& comm, int count) {
  const Kokkos::View<double*, MemorySpace> x("x", static_cast<std::size_t>(count));
  const int rank = comm.rank();
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<ExecutionSpace>(comm.space(), 0, count),
      KOKKOS_LAMBDA(int i) { x(i) = test::random_number(i, rank, 1) * (i % 2 == 0 ? 1e200 : 1e-200); });
  return x;
}

struct Outcome {
  bool threw = false;
  std::string message;
  Numbers numbers;
  double seconds = 0.0;
};

Outcome outcome_of(const Communicator& comm, const Run& run) {
  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  try {
    // Matrices are made by each rank alone, and a rank may be done before another fails: together() tells the others.
    outcome.numbers = comm.together([&] {
      Numbers numbers = run(comm);
      comm.barrier();
      return numbers;
    });
  } catch (const Error& error) {
    outcome.threw = true;
    outcome.message = error.what();
  }
  trap.counts = false;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

// Points that `failing` has passed: the first with each label, and the last. The first and the last rank fail at
// alternate labels, and swap them with one rank more: entries of 2 and of 3 ranks cover all labels on both.
std::vector<long> points_of(const Communicator& comm, int failing) {
  std::vector<long> points;
  const bool alone = comm.size() == 1;
  int turn = comm.size() + (failing == 0 ? 0 : 1);
  for (const auto& [label, first] : trap.first_of) {
    if (alone || turn++ % 2 == 0) points.push_back(first);
  }
  points.push_back(trap.passed - 1);
  long count = static_cast<long>(points.size());
  comm.broadcast(std::span<long>(&count, 1), failing);
  points.resize(static_cast<std::size_t>(count));
  comm.broadcast(std::span<long>(points), failing);
  return points;
}

void expect_all_fail_alike(const Run& run) {
  const Communicator comm = test::world();
  trap = {};
  const Outcome expected = outcome_of(comm, run);
  ASSERT_FALSE(expected.threw) << expected.message;
  for (const Point point : {Point::allocation, Point::kernel}) {
    for (const int failing : {0, comm.size() - 1}) {
      trap = {point, true, 0, -1};
      static_cast<void>(outcome_of(comm, run));
      for (const long at : points_of(comm, failing)) {
        SCOPED_TRACE((point == Point::allocation ? "allocation " : "kernel ") + std::to_string(at) + " on rank " +
                     std::to_string(failing));
        trap = {point, comm.rank() == failing, 0, at};
        const Outcome found = outcome_of(comm, run);
        const int threw = comm.all_reduce(found.threw ? 1 : 0, Reduction::sum);
        // A rank's allocations depend a little on what comes first: the last point may not be reached.
        if (threw == 0) {
          EXPECT_LE(trap.passed, at);
          EXPECT_EQ(found.numbers, expected.numbers);
          continue;
        }
        ASSERT_EQ(threw, comm.size()) << "not on all ranks";
        const std::string who = "rank " + std::to_string(failing);
        if (comm.size() > 1) {
          EXPECT_NE(found.message.find(who), std::string::npos) << found.message;
        }
        EXPECT_LT(found.seconds, 8.0);
        trap = {};
        const Outcome again = outcome_of(comm, run);
        ASSERT_FALSE(again.threw) << again.message;
        ASSERT_EQ(again.numbers, expected.numbers);
      }
    }
  }
}

class Failing : public ::testing::Test {
 protected:
  void SetUp() override { set_trap_callbacks(); }
  void TearDown() override { trap = {}; }
};

TEST_F(Failing, Gemm) {
  expect_all_fail_alike([](const Communicator& comm) {
    const Placement bands = Placement::row_bands(96, 96, comm.size());
    const auto A = test::random_matrix<double>(comm, bands, 1);
    const auto B = test::random_matrix<double>(comm, bands, 2);
    const auto C = test::random_matrix<double>(comm, bands, 3);
    GemmPlan<double> plan(comm, Operation::none, bands, Operation::transpose, bands, bands, {.tile = 32});
    plan.execute(1.0, A, B, 0.5, C);
    // One behind the other.
    const DistributedMatrix<double> D(comm, bands);
    plan.enqueue(0.25, C, B, 0.0, D);
    plan.enqueue(1.0, D, A, -1.0, C);
    plan.wait();
    return numbers_of(C);
  });
}

TEST_F(Failing, GemmByIntegers) {
  expect_all_fail_alike([](const Communicator& comm) {
    const Placement blocks = Placement::block_cyclic(80, 80, 16, 16, 1, comm.size());
    const auto A = test::random_matrix<double>(comm, blocks, 1);
    const auto B = test::random_matrix<double>(comm, blocks, 2);
    const DistributedMatrix<double> C(comm, blocks);
    gemm<double>(comm, Operation::none, Operation::none, 1.0, A, B, 0.0, C,
                 {.tile = 40, .arithmetic = Arithmetic::emulated});
    return numbers_of(C);
  });
}

TEST_F(Failing, RedistributeAndTranspose) {
  expect_all_fail_alike([](const Communicator& comm) {
    const auto A = test::random_matrix<double>(comm, Placement::row_bands(70, 50, comm.size()), 1);
    const DistributedMatrix<double> B(comm, Placement::block_cyclic(70, 50, 8, 8, 1, comm.size()));
    redistribute(A, B);
    const DistributedMatrix<double> C(comm, Placement::row_bands(50, 70, comm.size()));
    transpose<double>(comm, 2.0, B, Operation::transpose, C);
    return numbers_of(C);
  });
}

TEST_F(Failing, Expm) {
  expect_all_fail_alike([](const Communicator& comm) {
    const Placement bands = Placement::row_bands(40, 40, comm.size());
    const auto A = test::random_matrix<double>(comm, bands, 1);
    const DistributedMatrix<double> E(comm, bands);
    expm(comm, A, E);
    return numbers_of(E);
  });
}

TEST_F(Failing, Solve) {
  expect_all_fail_alike([](const Communicator& comm) {
    const auto A = test::random_matrix<double>(comm, Placement::row_bands(90, 90, comm.size()), 1);
    const auto B = test::random_matrix<double>(comm, Placement::row_bands(90, 70, comm.size()), 2);
    const DistributedMatrix<double> X(comm, B.placement());
    solve<double>(comm, A, B, X,
                  {.factorization = {.arithmetic = Arithmetic::emulated, .block = 8, .group = 2}, .measure = false});
    return numbers_of(X);
  });
}

TEST_F(Failing, LeastSquares) {
  expect_all_fail_alike([](const Communicator& comm) {
    const auto A = test::random_matrix<double>(comm, Placement::row_bands(90, 50, comm.size()), 1);
    const auto B = test::random_matrix<double>(comm, Placement::row_bands(90, 70, comm.size()), 2);
    const DistributedMatrix<double> X(comm, Placement::row_bands(50, 70, comm.size()));
    least_squares<double>(comm, A, B, X, {.qr = {.arithmetic = Arithmetic::emulated, .block = 8}});
    return numbers_of(X);
  });
}

TEST_F(Failing, Jacobi) {
  expect_all_fail_alike([](const Communicator& comm) {
    const Index n = 30;
    const Placement bands = Placement::row_bands(n, n, comm.size());
    const DistributedMatrix<double> A(comm, bands);
    const DistributedMatrix<double> V(comm, bands);
    fill(A, HilbertAndOne());
    const Kokkos::View<double*, MemorySpace> w("w", n);
    EXPECT_TRUE(eigen::jacobi<double>(comm, A, w, V, {.block = test::on_host ? 4 : 8}).converged);
    return numbers_of(V);
  });
}

TEST_F(Failing, ReproducibleJacobi) {
  expect_all_fail_alike([](const Communicator& comm) {
    const Index n = 50;
    const Placement bands = Placement::row_bands(n, n, comm.size());
    const DistributedMatrix<double> A(comm, bands);
    const DistributedMatrix<double> V(comm, bands);
    fill(A, HilbertAndOne());
    const Kokkos::View<double*, MemorySpace> w("w", n);
    EXPECT_TRUE(eigen::jacobi<double>(comm, A, w, V, {.reproducible = true}).converged);
    return numbers_of(V);
  });
}

TEST_F(Failing, ExternalFaces) {
  expect_all_fail_alike([](const Communicator& comm) {
    const auto mesh = search::tetrahedra_of<std::int32_t>(comm.space(), {4, 4, 4}, {.per_cube = 6});
    const auto found = search::external_faces(comm, mesh);
    return Numbers{static_cast<double>(found.report.external), static_cast<double>(found.report.faces)};
  });
}

TEST_F(Failing, ExactSums) {
  expect_all_fail_alike([](const Communicator& comm) {
    const auto x = far_apart(comm, 3000);
    return Numbers{exact::sum(comm, x), exact::nrm2(comm, x), exact::dot(comm, x, x)};
  });
}

TEST_F(Failing, Simulation) {
  expect_all_fail_alike([](const Communicator& comm) {
    using namespace schrodinger;
    const Grid grid{.xmin = -8.0, .xmax = 8.0, .points = 49, .kinetic = Kinetic::sinc};
    Potential potential;
    potential.kind = PotentialKind::harmonic;
    potential.omega = 1.0;
    const Hamiltonian H(grid, potential);
    Simulation simulation(
        comm, H,
        {.time_step = 0.05, .propagator = {.kind = PropagatorKind::expm, .resumed = {}}, .states = 0, .errors = {}},
        gaussian_packet(grid, 1.0, 0.0, 0.7));
    simulation.step();
    const Observables& seen = simulation.observables();
    return Numbers{seen.position, seen.energy, seen.norm};
  });
}

}  // namespace
}  // namespace heddle::failures_test

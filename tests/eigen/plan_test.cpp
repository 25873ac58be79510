// Plans of eigensystems: first vectors, memory that is kept, and errors.
#include "eigen/systems.hpp"
#include "support/allocations.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle::eigen::plan_test {
namespace {

template <class T> class JacobiPlans : public ::testing::Test {};
TYPED_TEST_SUITE(JacobiPlans, test::AllScalars);

TYPED_TEST(JacobiPlans, BeginAtTheVectorsOfTheLastMatrix) {
  using T = TypeParam;
  constexpr Index n = 90;
  const Host<T> A = random_hermitian<T>(n, 11);
  const Host<T> B = random_hermitian<T>(n, 12);
  const Device<T> V("vectors", n, n);
  const Kokkos::View<Real<T>*, MemorySpace> w("w", n);
  JacobiPlan<T> plan(ExecutionSpace(), n, {.method = JacobiMethod::blocked, .warm_start = true});
  const auto solved = [&](JacobiPlan<T>& by, const Host<T>& matrix) {
    // The content of V on entry does not matter.
    Kokkos::deep_copy(V, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    System<T> system;
    system.report = by.execute(to_device<T>(matrix), w, V);
    system.V = to_host(V);
    const auto values = to_host(w);
    system.w.assign(values.data(), values.data() + values.size());
    expect_good<T>(matrix, system);
    return system;
  };
  const System<T> first = solved(plan, A);
  Host<T> near("near", n, n);
  for (std::size_t at = 0; at < near.size(); ++at) {
    near.data()[at] = A.data()[at] + Real<T>(1e-4) * B.data()[at];
  }
  EXPECT_LT(solved(plan, near).report.rotations, first.report.rotations);
  // From the beginning again: the bits of the first time. A plan moves with what it keeps.
  JacobiPlan<T> moved = std::move(plan);
  moved.restart();
  const System<T> again = solved(moved, A);
  EXPECT_EQ(again.report.rotations, first.report.rotations);
  EXPECT_EQ(again.w, first.w);
  // Vectors of an iteration that did not converge are not kept.
  JacobiPlan<T> short_of(ExecutionSpace(), n, {.method = JacobiMethod::blocked, .sweeps = 1, .warm_start = true});
  EXPECT_FALSE(short_of.execute(to_device<T>(A), w, V).converged);
  const Index rotations = short_of.execute(to_device<T>(A), w, V).rotations;
  EXPECT_EQ(short_of.execute(to_device<T>(A), w, V).rotations, rotations);
}

// A plan's memory serves the next matrix: bits are those of a separate call, for definite and indefinite matrices in
// turn, and methods that need no vectors besides matrices allocate nothing.
TYPED_TEST(JacobiPlans, KeepTheirMemory) {
  using T = TypeParam;
  constexpr Index n = 70;
  const Host<T> indefinite = random_hermitian<T>(n, 15);
  const Host<T> definite("definite", n, n);
  Kokkos::deep_copy(definite, random_hermitian<T>(n, 16));
  for (Index i = 0; i < n; ++i) definite(i, i) += Real<T>(2 * n);
  for (const JacobiMethod method : {JacobiMethod::blocked, JacobiMethod::preconditioned}) {
    SCOPED_TRACE(to_string(method));
    JacobiPlan<T> plan(ExecutionSpace(), n, {.method = method});
    const Device<T> V("V", n, n);
    const Kokkos::View<Real<T>*, MemorySpace> w("w", n);
    for (int round = 0; round < 3; ++round) {
      for (const Host<T>& matrix : {indefinite, definite}) {
        const Device<T> A = to_device<T>(matrix);
        const System<T> alone = solve<T>(matrix, {.method = method});
        JacobiReport report;
        const std::vector<std::string> taken = test::allocations_of([&] { report = plan.execute(A, w, V); });
        EXPECT_EQ(report.rotations, alone.report.rotations);
        const auto values = to_host(w);
        for (Index i = 0; i < n; ++i) EXPECT_EQ(static_cast<double>(values(i)), alone.w[static_cast<std::size_t>(i)]);
        EXPECT_TRUE(test::same_bits<T>(to_host(V), alone.V));
        // The power method, which is not asked where the library has found the norm, has vectors of its own.
        if (round > 0 && method == JacobiMethod::preconditioned) {
          EXPECT_TRUE(taken.empty()) << ::testing::PrintToString(taken);
        }
      }
    }
  }
}

TEST(JacobiPlanErrors, ShapesThatAreNotThePlans) {
  const Device<double> A("A", 4, 4);
  const Kokkos::View<double*, MemorySpace> w("w", 4);
  JacobiPlan<double> plan(ExecutionSpace(), 5);
  test::expect_refusal(ErrorKind::argument, "a plan for n = 5, given A 4 x 4",
                       [&] { static_cast<void>(plan.execute(A, w, A)); });
  test::expect_refusal(ErrorKind::argument, "n = -1", [] { const JacobiPlan<double> none(ExecutionSpace(), -1); });
}

}  // namespace
}  // namespace heddle::eigen::plan_test

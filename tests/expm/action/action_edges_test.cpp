// Actions in edge cases: empty, zero, very large or small blocks, and refused arguments.
#include "expm/action/action_problems.hpp"
#include "support/errors.hpp"
#include "support/labels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace heddle::action_edges_test {
namespace {

using test::block;
using test::Complex;
using test::kind_of;
using test::second_difference;

template <class T> class ActionEdges : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(ActionEdges, test::AllScalars);

TYPED_TEST(ActionEdges, OfNothingIsNothing) {
  using T = TypeParam;
  for (const ExpmActionMethod method :
       {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
    const ExpmActionOptions options{.method = method, .structure = ExpmActionStructure::hermitian};
    ExpmActionPlan<T> plan(this->comm, options);
    for (const Index n : {0, 1, 9}) {
      const auto A = test::random_matrix<T>(this->comm, Placement::row_bands(n, n, this->comm.size()), 1);
      const LocalMatrix<T> none("heddle::test::none", n, 0);
      EXPECT_EQ(plan.execute(1.0, A, none, none).products, 0);
      // Time 0 leaves B unchanged, and columns of zeros stay zero.
      const LocalMatrix<T> B = block<T>(n, 2);
      const LocalMatrix<T> R("heddle::test::R", n, 2);
      EXPECT_EQ(plan.execute(0.0, A, B, R).products, 0);
      const auto as_host = [](const LocalMatrix<T>& view) {
        return HostMatrix<T>(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view));
      };
      EXPECT_TRUE(test::same_bits(as_host(R), as_host(B)));
      const LocalMatrix<T> zeros("heddle::test::zeros", n, 2);
      fill(A, T(1));
      plan.execute(1.0, A, zeros, R);
      EXPECT_TRUE(test::same_bits(as_host(R), as_host(zeros)));
    }
  }
}

// A scale far from 1, where squares leave the range of double, changes no bit.
TYPED_TEST(ActionEdges, ColumnsOfAnySizeGiveTheSameBits) {
  using T = TypeParam;
  const Index n = 30;
  const LocalMatrix<T> B = block<T>(n, 2);
  const LocalMatrix<T> R("heddle::test::R", n, 2);
  const auto times = [](const LocalMatrix<T>& matrix, int exponent) {
    LocalMatrix<T> result("heddle::test::result", matrix.extent(0), matrix.extent(1));
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix);
    const HostMatrix<T> scaled("heddle::test::scaled", matrix.extent(0), matrix.extent(1));
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      for (std::size_t c = 0; c < host.extent(1); ++c) scaled(i, c) = host(i, c) * std::ldexp(Real<T>(1), exponent);
    }
    Kokkos::deep_copy(result, scaled);
    return result;
  };
  const auto as_host = [](const LocalMatrix<T>& view) {
    return HostMatrix<T>(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view));
  };
  const int far = std::is_same_v<Real<T>, double> ? 600 : 60;
  for (const ExpmActionMethod method :
       {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
    const ExpmActionOptions options{.method = method, .structure = ExpmActionStructure::hermitian};
    ExpmActionPlan<T> plan(this->comm, options);
    plan.execute(-1.0, second_difference<T>(n, 1.0), B, R);
    for (const int exponent : {-far, far}) {
      const LocalMatrix<T> found("heddle::test::found", n, 2);
      plan.execute(-1.0, second_difference<T>(n, 1.0), times(B, exponent), found);
      EXPECT_TRUE(test::same_bits(as_host(times(found, -exponent)), as_host(R)))
          << to_string(method) << ' ' << exponent;
    }
  }
}

// diag(x, -x, 1), rotated by 45 degrees in the plane of the first two if `turned`.
template <class T> struct FarApart {
  Real<T> x;
  bool turned;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    if (i == 2 || j == 2) return T(i == j ? Real<T>(1) : Real<T>(0));
    if (turned) return T(i == j ? Real<T>(0) : x);
    return T(i != j ? Real<T>(0) : i == 0 ? x : -x);
  }
};

// Intermediate products, terms or squares out of range do not matter.
TYPED_TEST(ActionEdges, WhatIsInRangeIsReturned) {
  using T = TypeParam;
  using R = Real<T>;
  const R x = std::is_same_v<R, float> ? R(88) : R(709);
  const LocalMatrix<T> B("heddle::test::B", 3, 2);
  Kokkos::deep_copy(B, T(1));
  const LocalMatrix<T> found("heddle::test::found", 3, 2);
  const double most = std::exp(static_cast<double>(x));
  for (const bool turned : {false, true}) {
    const DistributedMatrix<T> A(this->comm, Placement::row_bands(3, 3, this->comm.size()));
    fill(A, FarApart<T>{x, turned});
    for (const ExpmActionMethod method : {ExpmActionMethod::automatic, ExpmActionMethod::taylor,
                                          ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
      for (const ExpmActionStructure structure : {ExpmActionStructure::general, ExpmActionStructure::hermitian}) {
        if (method == ExpmActionMethod::chebyshev && structure == ExpmActionStructure::general) continue;
        ExpmActionPlan<T>(this->comm, {.method = method, .structure = structure}).execute(1.0, A, B, found);
        const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
        // exp of the turned matrix is [[cosh x, sinh x], [sinh x, cosh x]]; its action on ones is exp(x).
        const double tolerance = 40.0 * static_cast<double>(x) * static_cast<double>(unit_roundoff<T>) * most;
        for (std::size_t c = 0; c < 2; ++c) {
          const auto near = [&](std::size_t i, double expected) {
            EXPECT_LE(std::abs(test::widen(host(i, c)) - expected), tolerance)
                << to_string(method) << ", row " << i << ", turned " << turned;
          };
          near(0, most);
          near(1, turned ? most : 0.0);
          near(2, std::exp(1.0));
        }
      }
    }
    EXPECT_EQ(kind_of([&] { ExpmActionPlan<T>(this->comm).execute(1.01, A, B, found); }),
              static_cast<int>(ErrorKind::computation));
  }
}

TEST(ActionErrors, AreThrownOnEveryRank) {
  const Communicator comm = test::world();
  const Index n = 6;
  constexpr int argument = static_cast<int>(ErrorKind::argument);
  constexpr int computation = static_cast<int>(ErrorKind::computation);
  const auto bands = [&](Index rows, Index columns) { return Placement::row_bands(rows, columns, comm.size()); };
  const DistributedMatrix<double> A(comm, bands(n, n));
  fill(A, 1.0);
  const LocalMatrix<double> B = block<double>(n, 2);
  const LocalMatrix<double> R("heddle::test::R", n, 2);
  const auto run = [&](const ExpmActionOptions& options, const DistributedMatrix<double>& matrix,
                       const LocalMatrix<double>& result, Complex time = 1.0) {
    return kind_of([&] { ExpmActionPlan<double>(comm, options).execute(time, matrix, B, result); });
  };
  EXPECT_EQ(run({}, A, R), -1);
  EXPECT_EQ(run({}, DistributedMatrix<double>(comm, bands(n, n - 1)), R), argument);
  EXPECT_EQ(run({}, DistributedMatrix<double>(comm, bands(n + 1, n + 1)), R), argument);
  EXPECT_EQ(run({}, A, LocalMatrix<double>("heddle::test::R", n, 1)), argument);
  EXPECT_EQ(run({}, A, R, Complex(0.0, 1.0)), argument) << "real vectors and an imaginary time";
  EXPECT_EQ(run({.method = ExpmActionMethod::chebyshev}, A, R), argument) << "a general matrix";
  EXPECT_EQ(run({.tolerance = -1.0}, A, R), argument);
  EXPECT_EQ(run({.dimension = 1}, A, R), argument);
  EXPECT_EQ(run({.spectrum = ExpmActionOptions::Interval{1.0, 1.0}}, A, R), argument);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& ends : {ExpmActionOptions::Interval{0.0, infinity}, ExpmActionOptions::Interval{-infinity, 0.0}}) {
    EXPECT_EQ(run({.spectrum = ends}, A, R), argument);
  }
  // A block that does not fit on the last rank alone.
  const bool is_last = comm.rank() == comm.size() - 1;
  const LocalMatrix<double> own = block<double>(is_last ? n - 1 : n, 2);
  const LocalMatrix<double> own_result("heddle::test::R", own.extent(0), 2);
  test::expect_refusal(ErrorKind::argument, "expm_action: B has 5 rows; expected 6",
                       [&] { ExpmActionPlan<double>(comm).execute(1.0, A, own, own_result); });
  test::expect_refusal(ErrorKind::argument, "expm_action: B has 5 rows; expected 6", [&] {
    ExpmActionPlan<double>(comm).execute(1.0, second_difference<double>(n, 1.0), own, own_result);
  });
  // Eigenvalues are 0 and n; an interval without n is detected.
  const ExpmActionOptions narrow_one{.method = ExpmActionMethod::chebyshev,
                                     .structure = ExpmActionStructure::hermitian,
                                     .spectrum = ExpmActionOptions::Interval{-0.5, 0.5}};
  EXPECT_EQ(run(narrow_one, A, R, 10.0), computation);
  ExpmActionOperator<double> without_adjoint = second_difference<double>(n, 1.0);
  EXPECT_EQ(kind_of([&] {
              ExpmActionPlan<double>(comm, {.method = ExpmActionMethod::taylor}).execute(1.0, without_adjoint, B, R);
            }),
            argument);
  EXPECT_EQ(kind_of([&] { ExpmActionPlan<double>(comm).execute(1.0, without_adjoint, B, R); }), -1);
  EXPECT_EQ(kind_of([&] {
              ExpmActionPlan<double>(comm).execute(1.0, ExpmActionOperator<double>{n, {}, {}}, B, R);
            }),
            argument);
  for (const ExpmActionMethod method :
       {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
    const ExpmActionOptions options{.method = method, .structure = ExpmActionStructure::hermitian};
    EXPECT_EQ(run(options, A, R, 1000.0), computation) << "exp(6000) overflows";
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      test::fill_ones_but(A, n - 1, 0, poison);
      EXPECT_EQ(run(options, A, R), computation);
      fill(A, 1.0);
      const ExpmActionOperator<double> poisoned = second_difference<double>(n, poison);
      EXPECT_EQ(kind_of([&] { ExpmActionPlan<double>(comm, options).execute(1.0, poisoned, B, R); }), computation);
      const auto good = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B);
      const LocalMatrix<double> bad("heddle::test::bad", n, 2);
      const auto host = Kokkos::create_mirror_view(bad);
      Kokkos::deep_copy(host, good);
      host(1, 1) = poison;
      Kokkos::deep_copy(bad, host);
      EXPECT_EQ(kind_of([&] { ExpmActionPlan<double>(comm, options).execute(1.0, A, bad, R); }), computation);
    }
  }
  EXPECT_EQ(expm_action_method_from(to_string(ExpmActionMethod::chebyshev)), ExpmActionMethod::chebyshev);
  test::expect_refusal(ErrorKind::argument, "action method 'pade': expected one of automatic, taylor,",
                       [&] { static_cast<void>(expm_action_method_from("pade")); });
}

struct HugeCorner {
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const { return i == j && i == 0 ? -1e100 : 0.0; }
};

// exp(A) is diag(0, 1).
TEST(ActionErrors, MoreStepsThanCanBeTakenAreRefused) {
  const Communicator comm = test::world();
  const DistributedMatrix<double> A(comm, Placement::row_bands(2, 2, comm.size()));
  fill(A, HugeCorner{});
  const LocalMatrix<double> B = block<double>(2, 1);
  for (const ExpmActionMethod method :
       {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
    const ExpmActionOptions options{.method = method, .structure = ExpmActionStructure::hermitian};
    EXPECT_EQ(kind_of([&] { ExpmActionPlan<double>(comm, options).execute(1.0, A, B, B); }),
              static_cast<int>(ErrorKind::computation))
        << to_string(method);
  }
}

TEST(ActionKokkos, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const Communicator comm(MPI_COMM_WORLD, instances[0]);
  const Index n = 50;
  const auto A = test::random_matrix<double>(comm, Placement::on_rank(n, n, 0), 1);
  const LocalMatrix<double> B = block<double>(n, 2);
  test::listen();
  for (const ExpmActionMethod method : {ExpmActionMethod::taylor, ExpmActionMethod::krylov}) {
    const ExpmActionOptions options{.method = method};
    ExpmActionPlan<double>(comm, options).execute(1.0, A, B, B);
  }
  const ExpmActionOptions options{.method = ExpmActionMethod::chebyshev, .structure = ExpmActionStructure::hermitian};
  ExpmActionPlan<double>(comm, options).execute(-1.0, second_difference<double>(n, 1.0), B, B);
  test::stop_listening();
  test::expect_labels(instances[0]);
}

}  // namespace
}  // namespace heddle::action_edges_test

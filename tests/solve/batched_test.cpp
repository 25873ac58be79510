// Batches of systems, inverses and determinants: the bits of the functions for one matrix, labels, errors.
#include "support/errors.hpp"
#include "support/labels.hpp"
#include "support/matrices.hpp"
#include <heddle/solve/batched.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::batched_test {
namespace {

template <Scalar T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;

// Random matrices, of which every third is graded by powers of two.
template <Scalar T> Batch<T> random_batch(Index rows, Index columns, Index count, int seed) {
  const Batch<T> batch("batch", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                       static_cast<std::size_t>(count));
  const auto host = Kokkos::create_mirror_view(batch);
  for (Index b = 0; b < count; ++b) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        const double by = b % 3 == 2 && rows == columns ? std::ldexp(1.0, static_cast<int>(7 * i - 5 * j) % 20) : 1.0;
        host(i, j, b) = test::RandomEntries<T>{seed + static_cast<int>(b)}(i, j) * static_cast<Real<T>>(by);
      }
    }
  }
  Kokkos::deep_copy(batch, host);
  return batch;
}
template <Scalar T> HostMatrix<T> matrix_of(const Batch<T>& batch, Index b) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch);
  return test::host_matrix<T>(static_cast<Index>(host.extent(0)), static_cast<Index>(host.extent(1)),
                              [&](Index i, Index j) { return host(i, j, b); });
}
template <Scalar T> bool same(const HostMatrix<T>& one, const HostMatrix<T>& other) {
  for (std::size_t j = 0; j < one.extent(1); ++j) {
    for (std::size_t i = 0; i < one.extent(0); ++i) {
      if (std::memcmp(&one(i, j), &other(i, j), sizeof(T)) != 0) return false;
    }
  }
  return true;
}

template <class T> class SolveBatched : public ::testing::Test {};
TYPED_TEST_SUITE(SolveBatched, test::AllScalars);

TYPED_TEST(SolveBatched, HasTheBitsOfTheFunctionsForOneMatrix) {
  using T = TypeParam;
  const ExecutionSpace space;
  constexpr Index count = 9;
  for (const Index n :
       {Index{0}, Index{1}, Index{2}, Index{5}, Index{24}, largest_small_system, largest_small_system + 1}) {
    const Batch<T> A = random_batch<T>(n, n, count, 1);
    const Batch<T> B = random_batch<T>(n, 2, count, 50);
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      for (const Index block : {Index{0}, Index{4}, Index{100}}) {
        const SolveOptions options{.factorization = {.arithmetic = arithmetic, .block = block}, .measure = false};
        const Batch<T> X = random_batch<T>(n, 2, count, 90);
        const SolveBatchedReport report = solve_batched(space, A, B, X, options);
        const Batch<T> inverses = random_batch<T>(n, n, count, 1);
        static_cast<void>(inverse_batched(space, inverses, inverses, options.factorization));
        const auto determinants = determinant_batched(space, A, options.factorization);
        ASSERT_EQ(determinants.size(), static_cast<std::size_t>(count));
        for (Index b = 0; b < count; ++b) {
          const auto a = test::padded_on_device<T>(matrix_of(A, b));
          const auto x = test::padded_on_device<T>(matrix_of(B, b));
          const SolveReport one = solve<T>(space, a, test::padded_on_device<T>(matrix_of(B, b)), x, options);
          EXPECT_TRUE(same(matrix_of(X, b), test::to_host<T>(x))) << n << " " << b << " " << one.equilibrated;
          const Determinant<T> determined = determinant<T>(space, a, options.factorization);
          EXPECT_EQ(determinants[static_cast<std::size_t>(b)].mantissa, determined.mantissa);
          EXPECT_EQ(determinants[static_cast<std::size_t>(b)].exponent, determined.exponent);
          static_cast<void>(inverse<T>(space, a, options.factorization));
          EXPECT_TRUE(same(matrix_of(inverses, b), test::to_host<T>(a))) << n << " " << b;
        }
        for (const BatchedSystem& one : report.remarkable) EXPECT_EQ(one.info, 0);
      }
    }
  }
}

TYPED_TEST(SolveBatched, NamesWhatHasNoPivot) {
  using T = TypeParam;
  const ExecutionSpace space;
  const Batch<T> A = random_batch<T>(4, 4, 6, 3);
  const Batch<T> B = random_batch<T>(4, 1, 6, 4);
  const Batch<T> X = random_batch<T>(4, 1, 6, 5);
  for (const std::size_t b : {1U, 4U}) {
    Kokkos::deep_copy(Kokkos::subview(A, Kokkos::ALL, 2, b), T(0));
  }
  Kokkos::deep_copy(Kokkos::subview(A, 0, 0, 3), T(std::numeric_limits<Real<T>>::quiet_NaN()));
  const HostMatrix<T> before = matrix_of(X, 1);
  std::vector<Index> named;
  for (const BatchedSystem& one : solve_batched(space, A, B, X).remarkable) {
    if (one.info == 3) named.push_back(one.matrix);
  }
  EXPECT_EQ(named, (std::vector<Index>{1, 4}));
  EXPECT_TRUE(same(matrix_of(X, 1), before)) << "it is not written";
  EXPECT_EQ(determinant_batched(space, A)[4].mantissa, T(0));
}

TEST(SolveBatchedOnce, InputsMayBeOneMatrixForAll) {
  const ExecutionSpace space;
  const Batch<double> A = random_batch<double>(5, 5, 1, 1);
  const Batch<double> B = random_batch<double>(5, 2, 4, 2);
  const Batch<double> X = random_batch<double>(5, 2, 4, 3);
  const StridedBatch<const double> all(A.data(), Kokkos::LayoutStride(5, 1, 5, 5, 4, 0));
  EXPECT_TRUE(solve_batched(space, all, B, X).remarkable.empty());
  for (Index b = 0; b < 4; ++b) {
    const auto x = test::padded_on_device<double>(matrix_of(B, b));
    solve<double>(space, test::padded_on_device<double>(matrix_of(A, 0)),
                  test::padded_on_device<double>(matrix_of(B, b)), x);
    EXPECT_TRUE(same(matrix_of(X, b), test::to_host<double>(x)));
  }
}

TEST(SolveBatchedOnce, RightHandSidesMayBeOverwritten) {
  const ExecutionSpace space;
  for (const Index n : {Index{4}, Index{70}}) {
    const auto A = random_batch<double>(n, n, 3, 1);
    const auto B = random_batch<double>(n, n, 3, 2);
    const auto X = random_batch<double>(n, n, 3, 3);
    static_cast<void>(solve_batched(space, A, B, X));
    const auto in_place_of_b = random_batch<double>(n, n, 3, 2);
    static_cast<void>(solve_batched(space, A, in_place_of_b, in_place_of_b));
    static_cast<void>(solve_batched(space, A, B, A));
    for (Index b = 0; b < 3; ++b) {
      EXPECT_TRUE(same(matrix_of(in_place_of_b, b), matrix_of(X, b)));
      EXPECT_TRUE(same(matrix_of(A, b), matrix_of(X, b)));
    }
  }
}

TEST(SolveBatchedOnce, ProgressEndsAtOne) {
  const ExecutionSpace space;
  for (const Index n : {Index{4}, Index{70}}) {
    std::vector<double> shares;
    const Batch<double> A = random_batch<double>(n, n, 5, 1);
    const Batch<double> B = random_batch<double>(n, 1, 5, 2);
    SolveOptions options;
    options.factorization.progress = [&](double share) { shares.push_back(share); };
    static_cast<void>(solve_batched(space, A, B, random_batch<double>(n, 1, 5, 3), options));
    ASSERT_FALSE(shares.empty());
    EXPECT_EQ(shares.back(), 1.0);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  }
}

TEST(SolveBatchedOnce, RefusesWhatDoesNotFit) {
  const ExecutionSpace space;
  const auto A = random_batch<double>(4, 4, 3, 1);
  const auto B = random_batch<double>(4, 2, 3, 2);
  const auto kind = ErrorKind::argument;
  test::expect_refusal(kind, "solve_batched: A is 4 x 2 each; expected square matrices",
                       [&] { static_cast<void>(solve_batched(space, B, B, A)); });
  test::expect_refusal(kind, "solve_batched: X is 4 x 4 x 3; expected 4 x 2 x 3",
                       [&] { static_cast<void>(solve_batched(space, A, B, A)); });
  const Batch<double> twice("twice", 4, 2, 4);
  const auto part = [&](std::size_t first) {
    return Kokkos::subview(twice, Kokkos::ALL, Kokkos::ALL, std::make_pair(first, first + 3));
  };
  test::expect_refusal(kind, "solve_batched: X shares storage with B; expected storage of its own",
                       [&] { static_cast<void>(solve_batched(space, A, part(0), part(1))); });
  test::expect_refusal(kind, "solve_batched: -1 refinements; expected 0 or more", [&] {
    static_cast<void>(solve_batched(space, A, B, random_batch<double>(4, 2, 3, 3), {.refinements = -1}));
  });
  test::expect_refusal(kind, "solve_batched: certificate is set; certificates are solve()'s", [&] {
    static_cast<void>(solve_batched(space, A, B, random_batch<double>(4, 2, 3, 3), {.certificate = true}));
  });
  test::expect_refusal(kind, "determinant_batched: group 3; expected a power of two, or 0",
                       [&] { static_cast<void>(determinant_batched(space, A, {.group = 3})); });
}

TEST(SolveBatchedOnce, InversesAreApartFromOtherMatrices) {
  const ExecutionSpace space;
  const auto kind = ErrorKind::argument;
  const auto of_four = random_batch<double>(4, 4, 4, 1);
  const auto part = [&](std::size_t first) {
    return Kokkos::subview(of_four, Kokkos::ALL, Kokkos::ALL, std::make_pair(first, first + 3));
  };
  test::expect_refusal(kind, "inverse_batched: X shares storage with A; expected storage of its own",
                       [&] { static_cast<void>(inverse_batched(space, part(0), part(1))); });
  EXPECT_NO_THROW(static_cast<void>(inverse_batched(space, part(0), part(0))));
  const StridedBatch<double> all_in_one(of_four.data(), Kokkos::LayoutStride(4, 1, 4, 4, 3, 0));
  const auto A = random_batch<double>(4, 4, 3, 2);
  test::expect_refusal(kind, "inverse_batched: X has a stride of 0 along extent 2",
                       [&] { static_cast<void>(inverse_batched(space, A, all_in_one)); });
  test::expect_refusal(kind, "solve_batched: X has a stride of 0 along extent 2",
                       [&] { static_cast<void>(solve_batched(space, A, A, all_in_one)); });
}

TEST(SolveBatchedOnce, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  std::vector<Batch<double>> made;
  for (const Index n : {Index{4}, Index{70}}) {
    for (const Index columns : {n, Index{1}, Index{1}}) made.push_back(random_batch<double>(n, columns, 3, 1));
  }
  Kokkos::fence("heddle::test::made");
  test::listen();
  for (std::size_t k = 0; k < made.size(); k += 3) {
    static_cast<void>(solve_batched(instances[0], made[k], made[k + 1], made[k + 2]));
    static_cast<void>(determinant_batched(instances[0], made[k]));
    static_cast<void>(inverse_batched(instances[0], made[k], made[k]));
  }
  test::stop_listening();
  test::expect_labels(instances[0]);
}

}  // namespace
}  // namespace heddle::batched_test

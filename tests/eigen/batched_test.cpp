// Batched eigensystems against those of single matrices.
#include "eigen/problems.hpp"
#include "support/errors.hpp"
#include <heddle/eigen/batched.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::eigen::batched_test {
namespace {

using Kokkos::complex;

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;

template <class T> class JacobiBatched : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(JacobiBatched, Types);

template <Scalar T, class View> Host<T> slice(const View& batch, Index at) {
  const Host<T> A = host_matrix<T>(static_cast<Index>(batch.extent(0)));
  for (std::size_t j = 0; j < batch.extent(1); ++j) {
    for (std::size_t i = 0; i < batch.extent(0); ++i) {
      A(i, j) = batch(i, j, static_cast<std::size_t>(at));
    }
  }
  return A;
}

TYPED_TEST(JacobiBatched, SolvesEachMatrix) {
  using R = Real<TypeParam>;
  for (const Index n : {1, 2, 5, 8, 16, 31, 32, 33, 64}) {
    const Index count = 37;
    const Batch<TypeParam> A("A", n, n, count);
    const Batch<TypeParam> V("V", n, n, count);
    const Kokkos::View<R**, Kokkos::LayoutLeft, MemorySpace> w("w", n, count);
    const auto mirror = Kokkos::create_mirror_view(A);
    for (Index b = 0; b < count; ++b) {
      // Every third diagonal, every third graded and positive definite.
      const Host<TypeParam> one = b % 3 == 1 && n > 1 ? graded<TypeParam>(n, 1e6, static_cast<int>(b))
                                                      : random_hermitian<TypeParam>(n, static_cast<int>(b));
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          mirror(i, j, b) = b % 3 == 2 && i != j ? TypeParam(0) : one(i, j);
        }
      }
    }
    Kokkos::deep_copy(A, mirror);
    const JacobiBatchedReport report = jacobi_batched(ExecutionSpace(), A, w, V);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.first_failed, -1);
    const auto values = to_host(w);
    const auto vectors = to_host(V);
    for (Index b = 0; b < count; ++b) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", matrix " + std::to_string(b));
      std::vector<double> found;
      for (Index i = 0; i < n; ++i) {
        found.push_back(static_cast<double>(values(i, b)));
      }
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
      const Quality judged = quality<TypeParam>(slice<TypeParam>(mirror, b), slice<TypeParam>(vectors, b), found);
      EXPECT_LE(judged.residual, 10);
      EXPECT_LE(judged.orthogonality, 10);
      // A matrix's bits do not depend on its neighbours.
      if (b % 9 == 0) {
        const auto one = Kokkos::subview(A, Kokkos::ALL, Kokkos::ALL, Kokkos::make_pair(b, b + 1));
        const Kokkos::View<R**, Kokkos::LayoutLeft, MemorySpace> alone("alone", n, 1);
        const Batch<TypeParam> V_alone("V_alone", n, n, 1);
        EXPECT_TRUE(jacobi_batched(ExecutionSpace(), one, alone, V_alone).converged());
        const auto values_alone = to_host(alone);
        const auto vectors_alone = to_host(V_alone);
        for (Index i = 0; i < n; ++i) {
          EXPECT_EQ(values_alone(i, 0), values(i, b));
          for (Index j = 0; j < n; ++j) {
            EXPECT_EQ(vectors_alone(i, j, 0), vectors(i, j, b));
          }
        }
      }
    }
    const Kokkos::View<R**, Kokkos::LayoutRight, MemorySpace> only("only", n, count);
    EXPECT_TRUE(jacobi_batched_values(ExecutionSpace(), A, only).converged());
    const auto values_only = to_host(only);
    for (Index b = 0; b < count; ++b) {
      for (Index i = 0; i < n; ++i) {
        EXPECT_NEAR(static_cast<double>(values_only(i, b)), static_cast<double>(values(i, b)),
                    10 * static_cast<double>(n * n) * static_cast<double>(unit_roundoff<TypeParam>));
      }
    }
  }
}

// Vectors of matrices that decouple into small ones are full of zeros; the signs of these too are the same in every
// place of a batch, whatever the neighbours.
TYPED_TEST(JacobiBatched, SignsOfZerosDoNotDependOnNeighbours) {
  using R = Real<TypeParam>;
  const auto bits_of = [](const TypeParam& x) {
    return std::vector<bool>{std::signbit(static_cast<double>(Kokkos::real(x))),
                             std::signbit(static_cast<double>(Kokkos::imag(x)))};
  };
  for (const Index n : {3, 6, 20, 31, 49, 57, 64}) {
    // Indefinite, positive definite, and nearly diagonal, which ends before its neighbours do; zeros are negative.
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      const Host<TypeParam> parts = random_hermitian<TypeParam>(n, 77 + kind);
      const Host<TypeParam> given = host_matrix<TypeParam>(n);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          const bool together = kind > 1 ? i / 2 == j / 2 && i % 4 < 2 : i % 5 == j % 5;
          given(i, j) = together ? parts(i, j) : TypeParam(R(-0.0));
          if (i == j && kind > 1) {
            given(i, j) = TypeParam(i == n - 1 && kind % 2 == 0 ? R(-2) : R(2) + static_cast<R>((i * kind) % n) / R(8));
          }
          if (i == j && kind == 1) {
            given(i, j) += TypeParam(static_cast<R>(n));
          }
        }
      }
      const auto solved = [&](Index count, Index at) {
        const Batch<TypeParam> A("A", n, n, count);
        const Batch<TypeParam> V("V", n, n, count);
        const Kokkos::View<R**, Kokkos::LayoutLeft, MemorySpace> w("w", n, count);
        const auto mirror = Kokkos::create_mirror_view(A);
        for (Index b = 0; b < count; ++b) {
          const Host<TypeParam> other = random_hermitian<TypeParam>(n, static_cast<int>(b));
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              mirror(i, j, b) = b == at ? given(i, j) : other(i, j);
              if (b != at && b % 2 == 1 && i == j) {
                mirror(i, j, b) += TypeParam(static_cast<R>(n));
              }
            }
          }
        }
        Kokkos::deep_copy(A, mirror);
        EXPECT_TRUE(jacobi_batched(ExecutionSpace(), A, w, V, {.reproducible = true}).converged());
        return std::make_pair(slice<TypeParam>(to_host(V), at), to_host(w));
      };
      const auto [alone, values_alone] = solved(1, 0);
      for (const Index count : {2, 7, 16, 23}) {
        const Index at = count / 2;
        const auto [beside, values] = solved(count, at);
        Index differ = 0;
        for (Index j = 0; j < n; ++j) {
          EXPECT_EQ(values(j, at), values_alone(j, 0));
          EXPECT_EQ(std::signbit(values(j, at)), std::signbit(values_alone(j, 0)));
          for (Index i = 0; i < n; ++i) {
            EXPECT_EQ(beside(i, j), alone(i, j));
            differ += bits_of(beside(i, j)) != bits_of(alone(i, j)) ? 1 : 0;
          }
        }
        EXPECT_EQ(differ, 0) << "n = " << n << ", kind " << kind << ", " << count << " matrices";
      }
    }
  }
}

// Elements off the diagonal of an indefinite matrix whose squares underflow, all or in part: the vectors that rotations
// begin at must stay orthogonal.
TYPED_TEST(JacobiBatched, TinyElementsOffTheDiagonalLeaveItOrthogonal) {
  using R = Real<TypeParam>;
  const int least = std::numeric_limits<R>::min_exponent;
  for (const Index n : {3, 7, 13, 33}) {
    const Index count = 24;
    const Batch<TypeParam> A("A", n, n, count);
    const Batch<TypeParam> V("V", n, n, count);
    const Kokkos::View<R**, Kokkos::LayoutLeft, MemorySpace> w("w", n, count);
    const auto mirror = Kokkos::create_mirror_view(A);
    for (Index b = 0; b < count; ++b) {
      const Host<TypeParam> one = random_hermitian<TypeParam>(n, static_cast<int>(b));
      // From where squares are normal numbers to where they are zero; a few elements, or all.
      const R scale = std::ldexp(R(1), least / 2 + 6 - static_cast<int>(b));
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          const bool there = b % 2 == 0 || (i + j) % 5 == 2;
          mirror(i, j, b) = i == j ? TypeParam(static_cast<R>(i % 3 - 1)) : there ? one(i, j) * scale : TypeParam(0);
        }
      }
    }
    Kokkos::deep_copy(A, mirror);
    EXPECT_TRUE(jacobi_batched(ExecutionSpace(), A, w, V).converged());
    const auto values = to_host(w);
    const auto vectors = to_host(V);
    for (Index b = 0; b < count; ++b) {
      std::vector<double> found;
      for (Index i = 0; i < n; ++i) found.push_back(static_cast<double>(values(i, b)));
      const Quality of = quality(slice<TypeParam>(mirror, b), slice<TypeParam>(vectors, b), found);
      EXPECT_LE(of.residual, 10) << "n = " << n << ", matrix " << b;
      EXPECT_LE(of.orthogonality, 10) << "n = " << n << ", matrix " << b;
    }
  }
}

TEST(JacobiBatch, OfGradedMatricesIsRightToTheLastDigits) {
  constexpr Index n = 24;
  // The last to 10^100, beyond what narrower numbers hold.
  const std::vector<double> powers = {4, 8, 12, 16, 20, 100};
  const auto count = static_cast<Index>(powers.size());
  const Batch<double> A("A", n, n, count);
  const Batch<double> V("V", n, n, count);
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> w("w", n, count);
  const auto mirror = Kokkos::create_mirror_view(A);
  std::vector<std::vector<double>> exact;
  for (Index b = 0; b < count; ++b) {
    const Host<double> one =
        graded<double>(n, std::pow(10.0, powers[static_cast<std::size_t>(b)]), static_cast<int>(b));
    exact.push_back(wide_eigenvalues<double>(one));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        mirror(i, j, b) = one(i, j);
      }
    }
  }
  Kokkos::deep_copy(A, mirror);
  EXPECT_TRUE(jacobi_batched(ExecutionSpace(), A, w, V).converged());
  const auto values = to_host(w);
  for (Index b = 0; b < count; ++b) {
    for (Index i = 0; i < n; ++i) {
      const double expected = exact[static_cast<std::size_t>(b)][static_cast<std::size_t>(i)];
      EXPECT_LE(std::abs(values(i, b) - expected), 10 * n * unit_roundoff<double> * expected) << b << ", " << i;
    }
  }
}

TEST(JacobiBatch, CountsWhatDidNotConverge) {
  const Batch<double> A("A", 20, 20, 6);
  const Batch<double> V("V", 20, 20, 6);
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> w("w", 20, 6);
  const auto mirror = Kokkos::create_mirror_view(A);
  const Host<double> one = random_hermitian<double>(20, 3);
  for (Index b = 0; b < 6; ++b) {
    for (Index j = 0; j < 20; ++j) {
      for (Index i = 0; i < 20; ++i) {
        mirror(i, j, b) = one(i, j);
      }
    }
  }
  mirror(7, 2, 4) = std::numeric_limits<double>::quiet_NaN();
  Kokkos::deep_copy(A, mirror);
  const JacobiBatchedReport report = jacobi_batched(ExecutionSpace(), A, w, V);
  EXPECT_EQ(report.not_converged, 1);
  EXPECT_EQ(report.first_failed, 4);
  // None of them is positive definite.
  EXPECT_EQ(jacobi_batched(ExecutionSpace(), A, w, V, {.accuracy = JacobiAccuracy::relative}).not_converged, 6);
  for (Index b = 0; b < 6; ++b) {
    for (Index i = 0; i < 20; ++i) {
      mirror(i, i, b) += 9;
    }
  }
  Kokkos::deep_copy(A, mirror);
  EXPECT_EQ(jacobi_batched(ExecutionSpace(), A, w, V, {.accuracy = JacobiAccuracy::relative}).not_converged, 1);
  EXPECT_EQ(jacobi_batched(ExecutionSpace(), A, w, V, {.sweeps = 1}).not_converged, 6);
}

TEST(JacobiBatch, RefusesWhatDoesNotFit) {
  const ExecutionSpace space;
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> w("w", 20, 6);
  const auto batch = [](Index rows, Index columns, Index count) {
    return Batch<double>("batch", rows, columns, count);
  };
  test::expect_refusal(ErrorKind::argument, "eigen::jacobi_batched: A is 20 x 19 each; expected square",
                       [&] { static_cast<void>(jacobi_batched(space, batch(20, 19, 6), w, batch(20, 20, 6))); });
  test::expect_refusal(ErrorKind::argument, "eigen::jacobi_batched: V must have the shape of A, 20 x 20 x 6",
                       [&] { static_cast<void>(jacobi_batched(space, batch(20, 20, 6), w, batch(20, 20, 5))); });
  EXPECT_TRUE(jacobi_batched(space, batch(20, 20, 0), Kokkos::subview(w, Kokkos::ALL, Kokkos::make_pair(0, 0)),
                             batch(20, 20, 0))
                  .converged());
}

}  // namespace
}  // namespace heddle::eigen::batched_test

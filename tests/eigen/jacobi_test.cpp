// Eigensystems against their definition, LAPACK and 256 bits.
#include "eigen/systems.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

extern "C" void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*,
                        const int*, int*, std::size_t, std::size_t);

namespace heddle::eigen::jacobi_test {
namespace {

using Kokkos::complex;

std::vector<double> lapack_values(const Host<double>& A) {
  const int n = static_cast<int>(A.extent(0));
  std::vector<double> copy(A.data(), A.data() + A.size());
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<double> work(1 + 2 * static_cast<std::size_t>(n));
  const int length = static_cast<int>(work.size());
  std::vector<int> integers(1);
  const int one = 1;
  int info = 0;
  dsyevd_("N", "L", &n, copy.data(), &n, values.data(), work.data(), &length, integers.data(), &one, &info, 1, 1);
  EXPECT_EQ(info, 0);
  return values;
}

// |w - expected| <= 10 n u |A|_2
void expect_near(const std::vector<double>& w, const std::vector<double>& expected, double u) {
  ASSERT_EQ(w.size(), expected.size());
  double norm = 0;
  for (const double value : expected) {
    norm = std::max(norm, std::abs(value));
  }
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_LE(std::abs(w[i] - expected[i]), 10 * static_cast<double>(w.size()) * u * norm) << i;
  }
}

const std::vector<JacobiMethod>& all_methods() {
  static const std::vector<JacobiMethod> methods = {JacobiMethod::automatic, JacobiMethod::classical,
                                                    JacobiMethod::cyclic,    JacobiMethod::round_robin,
                                                    JacobiMethod::blocked,   JacobiMethod::preconditioned};
  return methods;
}

template <class T> class Jacobi : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(Jacobi, Types);

TYPED_TEST(Jacobi, SolvesAllSizesByAllMethods) {
  for (const JacobiMethod method : all_methods()) {
    for (const Index n : {1, 2, 3, 7, 32, 33, 64, 65, 100, 131}) {
      SCOPED_TRACE(std::string(to_string(method)) + ", n = " + std::to_string(n));
      const Host<TypeParam> A = random_hermitian<TypeParam>(n, static_cast<int>(n));
      const System<TypeParam> system = solve<TypeParam>(A, {.method = method});
      expect_good<TypeParam>(A, system);
      if (method != JacobiMethod::automatic) {
        EXPECT_EQ(system.report.method, method);
      }
      EXPECT_EQ(system.report.accuracy,
                n == 1 && !(A(0, 0) == TypeParam(0)) ? system.report.accuracy : JacobiAccuracy::norm);
    }
  }
}

TYPED_TEST(Jacobi, TakesSpectraOfAllKinds) {
  const double u = static_cast<double>(unit_roundoff<TypeParam>);
  std::vector<std::vector<double>> spectra;
  for (int mode = 1; mode <= 6; ++mode) {
    spectra.push_back(latms_spectrum(mode, 90, 0.01 / u));
  }
  spectra.emplace_back(90, -3.0);  // One value.
  std::vector<double> clustered;   // Three clusters.
  std::vector<double> signs;       // Pairs of opposite signs.
  for (int i = 0; i < 90; ++i) {
    clustered.push_back(i % 3 - 1 + i * u);
    signs.push_back((i % 2 == 0 ? 1 : -1) * (1 + i / 2));
  }
  spectra.push_back(clustered);
  spectra.push_back(signs);
  for (std::size_t at = 0; at < spectra.size(); ++at) {
    const Host<TypeParam> A = with_spectrum<TypeParam>(spectra[at], 3 + static_cast<int>(at));
    std::vector<double> expected = spectra[at];
    std::sort(expected.begin(), expected.end());
    for (const JacobiMethod method :
         {JacobiMethod::cyclic, JacobiMethod::round_robin, JacobiMethod::blocked, JacobiMethod::preconditioned}) {
      SCOPED_TRACE("spectrum " + std::to_string(at) + ", " + std::string(to_string(method)));
      const System<TypeParam> system = solve<TypeParam>(A, {.method = method});
      expect_good<TypeParam>(A, system);
      // The matrix itself was rounded as it was made.
      expect_near(system.w, expected, 4 * u);
    }
  }
}

TYPED_TEST(Jacobi, LeavesDiagonalMatricesAsTheyAre) {
  for (const JacobiMethod method : all_methods()) {
    for (const Index n : {5, 80}) {
      const Host<TypeParam> A = host_matrix<TypeParam>(n);
      std::vector<double> expected;
      for (Index i = 0; i < n; ++i) {
        A(i, i) = TypeParam(static_cast<Real<TypeParam>>(test::random_number(i, 0, 1)));
        expected.push_back(static_cast<double>(static_cast<Real<TypeParam>>(test::random_number(i, 0, 1))));
      }
      std::sort(expected.begin(), expected.end());
      const System<TypeParam> system = solve<TypeParam>(A, {.method = method});
      EXPECT_EQ(system.w, expected);
      EXPECT_EQ(system.report.rotations, 0);
      EXPECT_EQ(system.report.end, JacobiEnd::diagonal);
      double ones = 0;
      for (std::size_t at = 0; at < system.V.size(); ++at) {
        const TypeParam value = system.V.data()[at];
        EXPECT_TRUE(value == TypeParam(0) || value == TypeParam(1));
        ones += value == TypeParam(1) ? 1 : 0;
      }
      EXPECT_EQ(ones, static_cast<double>(n));
    }
  }
  const Host<TypeParam> zero = host_matrix<TypeParam>(70);
  EXPECT_EQ(solve<TypeParam>(zero).w, std::vector<double>(70, 0.0));
}

TYPED_TEST(Jacobi, ReadsOneTriangleOfAnyLayout) {
  using R = Real<TypeParam>;
  for (const Index n : {20, 90}) {
    for (const bool upper : {false, true}) {
      const Host<TypeParam> A = random_hermitian<TypeParam>(n, 4);
      const System<TypeParam> whole = solve<TypeParam>(A, {.reproducible = true});
      const Kokkos::View<TypeParam**, Kokkos::LayoutRight, MemorySpace> rows("rows", 2 * A.extent(0), A.extent(1) + 3);
      const auto mirror = Kokkos::create_mirror_view(rows);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          const bool read = i == j || (upper ? i < j : i > j);
          mirror(2 * i, j + 1) = read ? A(i, j) : TypeParam(std::numeric_limits<R>::quiet_NaN());
        }
      }
      Kokkos::deep_copy(rows, mirror);
      const Kokkos::View<TypeParam**, Kokkos::LayoutStride, MemorySpace> every_other(
          rows.data() + 1, Kokkos::LayoutStride(A.extent(0), 2 * rows.stride(0), A.extent(1), 1));
      const Kokkos::View<TypeParam**, Kokkos::LayoutRight, MemorySpace> V("V", A.extent(0), A.extent(1));
      const Kokkos::View<R*, MemorySpace> w("w", A.extent(0));
      const JacobiReport report = jacobi(ExecutionSpace(), every_other, w, V, {.upper = upper, .reproducible = true});
      EXPECT_TRUE(report.converged);
      const auto vectors = to_host(V);
      const auto values = to_host(w);
      for (Index i = 0; i < n; ++i) {
        EXPECT_EQ(static_cast<double>(values(i)), whole.w[static_cast<std::size_t>(i)]);
        for (Index j = 0; j < n; ++j) {
          EXPECT_EQ(vectors(i, j), whole.V(i, j));
        }
      }
      const Kokkos::View<R*, MemorySpace> alone("alone", A.extent(0));
      EXPECT_TRUE(
          jacobi_values(ExecutionSpace(), every_other, alone, {.upper = upper, .reproducible = true}).converged);
      const auto values_alone = to_host(alone);
      for (Index i = 0; i < n; ++i) {
        EXPECT_EQ(values_alone(i), values(i));
      }
    }
  }
}

TEST(JacobiValues, AreThoseOfLapack) {
  // Wilkinson's matrix, with pairs of values that agree to 14 digits; zeros on the diagonal; indefinite.
  std::vector<Host<double>> matrices;
  const Host<double> wilkinson = host_matrix<double>(81);
  const Host<double> hollow = random_hermitian<double>(90, 8);
  for (Index i = 0; i < 81; ++i) {
    wilkinson(i, i) = std::abs(static_cast<double>(i - 40));
    if (i > 0) {
      wilkinson(i, i - 1) = wilkinson(i - 1, i) = 1;
    }
  }
  for (Index i = 0; i < 90; ++i) {
    hollow(i, i) = 0;
  }
  matrices.push_back(wilkinson);
  matrices.push_back(hollow);
  matrices.push_back(random_hermitian<double>(200, 5));
  for (const Host<double>& A : matrices) {
    const std::vector<double> expected = lapack_values(A);
    for (const JacobiMethod method : all_methods()) {
      SCOPED_TRACE(to_string(method));
      expect_near(solve<double>(A, {.method = method}).w, expected, unit_roundoff<double>);
    }
    expect_near(solve<double>(A, {.method = JacobiMethod::preconditioned, .lower_precision = true}).w, expected,
                unit_roundoff<double>);
  }
}

TEST(JacobiValues, OfGradedMatricesAreRightToTheirLastDigits) {
  constexpr Index n = 24;
  constexpr Index larger = 72;
  for (const Index size : {n, larger}) {
    for (const double condition : {1e8, 1e14, 1e20}) {
      const Host<double> A = graded<double>(size, condition, 2);
      const std::vector<double> exact = wide_eigenvalues<double>(A);
      const auto worst = [&](const std::vector<double>& w) {
        double most = 0;
        for (std::size_t i = 0; i < w.size(); ++i) {
          most = std::max(most, std::abs(w[i] - exact[i]) / exact[i]);
        }
        return most / (static_cast<double>(size) * unit_roundoff<double>);
      };
      for (const JacobiMethod method : {JacobiMethod::automatic, JacobiMethod::cyclic, JacobiMethod::round_robin,
                                        JacobiMethod::blocked, JacobiMethod::preconditioned}) {
        SCOPED_TRACE(std::string(to_string(method)) + ", " + std::to_string(condition));
        const System<double> system = solve<double>(A, {.method = method});
        EXPECT_EQ(system.report.accuracy, JacobiAccuracy::relative);
        EXPECT_LE(worst(system.w), 10);
        expect_good<double>(A, system);
      }
      const System<double> lower = solve<double>(A, {.method = JacobiMethod::preconditioned, .lower_precision = true});
      EXPECT_LE(worst(lower.w), 10);
      // A tridiagonalisation alone loses the small eigenvalues.
      if (condition > 1e16) {
        EXPECT_GT(worst(lapack_values(A)), 1e9);
      }
    }
  }
}

TEST(JacobiScaling, ReachesBothEndsOfTheRange) {
  for (const double scale : {1e-300, 1e300}) {
    for (const Index n : {30, 90}) {
      const Host<double> A = random_hermitian<double>(n, 6);
      const System<double> plain = solve<double>(A, {.reproducible = true});
      const double power = std::ldexp(1.0, std::ilogb(scale));
      for (std::size_t at = 0; at < A.size(); ++at) {
        A.data()[at] *= power;
      }
      const System<double> scaled = solve<double>(A, {.reproducible = true});
      for (std::size_t i = 0; i < plain.w.size(); ++i) {
        EXPECT_EQ(scaled.w[i], plain.w[i] * power);
      }
    }
  }
}

TEST(JacobiWarmStart, CostsLessTheSmallerTheChange) {
  constexpr Index n = 150;
  const Host<double> A = random_hermitian<double>(n, 11);
  const System<double> before = solve<double>(A, {.method = JacobiMethod::blocked});
  const Device<double> V = to_device<double>(before.V);
  Index rotations = before.report.rotations;
  for (const double change : {1e-2, 1e-5, 1e-9, 0.0}) {
    const Host<double> B = random_hermitian<double>(n, 12);
    for (std::size_t at = 0; at < B.size(); ++at) {
      B.data()[at] = A.data()[at] + change * B.data()[at];
    }
    const Device<double> vectors("vectors", V.extent(0), V.extent(1));
    Kokkos::deep_copy(vectors, V);
    const Kokkos::View<double*, MemorySpace> w("w", V.extent(0));
    System<double> system;
    system.report = jacobi(ExecutionSpace(), to_device<double>(B), w, vectors, {.warm_start = true});
    system.V = to_host(vectors);
    const auto values = to_host(w);
    system.w.assign(values.data(), values.data() + values.size());
    expect_good<double>(B, system);
    EXPECT_LT(system.report.rotations, rotations) << change;
    rotations = system.report.rotations;
  }
  EXPECT_LT(rotations, n);
}

TEST(JacobiReports, SayWhatStoppedThem) {
  const Host<double> A = random_hermitian<double>(90, 13);
  for (const JacobiMethod method :
       {JacobiMethod::classical, JacobiMethod::cyclic, JacobiMethod::round_robin, JacobiMethod::blocked}) {
    SCOPED_TRACE(to_string(method));
    const System<double> short_of = solve<double>(A, {.method = method, .sweeps = 2});
    EXPECT_FALSE(short_of.report.converged);
    EXPECT_EQ(short_of.report.end, JacobiEnd::sweep_limit);
    EXPECT_EQ(short_of.report.sweeps, 2);
    const System<double> whole = solve<double>(A, {.method = method});
    EXPECT_TRUE(whole.report.converged);
    EXPECT_GT(whole.report.rotations, 90 * 89 / 2);
    EXPECT_GT(whole.report.off_norms.front(), whole.report.off_norm());
    EXPECT_LT(whole.report.off_norm(), 1e-9);
  }
  // Positive definite, so that rotations begin at its Cholesky factor.
  const Host<double> small = random_hermitian<double>(40, 14);
  for (Index i = 0; i < 40; ++i) {
    small(i, i) += 12;
  }
  EXPECT_FALSE(solve<double>(small, {.sweeps = 1}).report.converged);
  const System<double> limited = solve<double>(A, {.method = JacobiMethod::classical, .rotations = 100});
  EXPECT_EQ(limited.report.rotations, 100);
  EXPECT_EQ(limited.report.end, JacobiEnd::rotation_limit);
  EXPECT_FALSE(limited.report.converged);
}

TEST(JacobiRefusals, NameWhatIsWrong) {
  const ExecutionSpace space;
  const Device<double> A = to_device<double>(random_hermitian<double>(70, 1));
  const Device<double> V("V", 70, 70);
  const Kokkos::View<double*, MemorySpace> w("w", 70);
  const auto refused = [&](const auto& call, const std::string& part) {
    test::expect_refusal(ErrorKind::argument, part, call);
  };
  const auto with = [&](const JacobiOptions& options) {
    return [&, options] { static_cast<void>(jacobi(space, A, w, V, options)); };
  };
  refused([&] { static_cast<void>(jacobi(space, Device<double>("B", 70, 69), w, V)); }, "square");
  refused([&] { static_cast<void>(jacobi(space, A, Kokkos::View<double*, MemorySpace>("w", 69), V)); }, "69 elements");
  refused([&] { static_cast<void>(jacobi(space, A, w, Device<double>("V", 70, 1))); }, "70 x 1");
  refused(with({.accuracy = JacobiAccuracy::relative}), "not positive definite");
  const Host<double> indefinite = host_matrix<double>(2);
  indefinite(0, 0) = indefinite(1, 1) = 1;
  indefinite(0, 1) = indefinite(1, 0) = 2;
  for (const JacobiMethod method : {JacobiMethod::automatic, JacobiMethod::cyclic, JacobiMethod::round_robin,
                                    JacobiMethod::blocked, JacobiMethod::preconditioned}) {
    SCOPED_TRACE(to_string(method));
    refused([&] { solve<double>(indefinite, {.method = method, .accuracy = JacobiAccuracy::relative}); },
            "not positive definite");
    refused(with({.method = method, .accuracy = JacobiAccuracy::relative}), "not positive definite");
  }
  refused(with({.method = JacobiMethod::classical, .accuracy = JacobiAccuracy::relative}), "classical");
  refused(with({.tolerance = -1}), "tolerance");
  refused(with({.sweeps = 0}), "sweeps");
  if (test::on_host) {
    EXPECT_NO_THROW(with({.method = JacobiMethod::blocked, .block = std::numeric_limits<int>::max()})());
  }
  refused(with({.method = JacobiMethod::preconditioned, .reproducible = true}), "blocked");
  refused(with({.method = JacobiMethod::cyclic, .warm_start = true}), "warm start");
  refused([&] { static_cast<void>(jacobi_values(space, A, w, {.warm_start = true})); }, "vectors in V");
  for (const Index n : {40, 70}) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const Host<double> B = random_hermitian<double>(n, 1);
      B(n - 1, 3) = bad;
      refused([&] { solve<double>(B); }, "NaN or infinite");
    }
  }
  refused([] { static_cast<void>(jacobi_method_from("fast")); }, "expected one of");
  const System<double> nothing = solve<double>(host_matrix<double>(0));
  EXPECT_TRUE(nothing.report.converged);
}

}  // namespace
}  // namespace heddle::eigen::jacobi_test

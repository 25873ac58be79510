// H C = S C diag(w) against its definition, LAPACK, closed forms and 256 bits.
#include "eigen/pencils.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

extern "C" void dsygv_(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*,
                       double*, double*, const int*, int*, std::size_t, std::size_t);

namespace heddle::eigen::generalised_test {
namespace {

using Kokkos::complex;

const std::vector<JacobiMethod>& all_methods() {
  static const std::vector<JacobiMethod> methods = {JacobiMethod::automatic, JacobiMethod::classical,
                                                    JacobiMethod::cyclic,    JacobiMethod::round_robin,
                                                    JacobiMethod::blocked,   JacobiMethod::preconditioned};
  return methods;
}

template <class T> class Generalised : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(Generalised, Types);

TYPED_TEST(Generalised, SolvesAllSizesByAllMethods) {
  for (const JacobiMethod method : all_methods()) {
    for (const Index n : {1, 2, 3, 7, 31, 32, 33, 64, 65, 100}) {
      SCOPED_TRACE(std::string(to_string(method)) + ", n = " + std::to_string(n));
      const Host<TypeParam> H = random_hermitian<TypeParam>(n, static_cast<int>(n));
      const Host<TypeParam> S = overlap<TypeParam>(n, 0.5, 1, 3);
      const Solution<TypeParam> found = solve<TypeParam>(H, S, {.method = method});
      expect_good<TypeParam>(H, S, found);
      EXPECT_GT(found.report.least_pivot, 0.01);
      EXPECT_LE(found.report.least_pivot, 1);
      // A definite pencil, too.
      const Host<TypeParam> definite = graded<TypeParam>(std::max<Index>(n, 2), 100, 4);
      const Host<TypeParam> other = overlap<TypeParam>(std::max<Index>(n, 2), 0.5, 1, 3);
      expect_good<TypeParam>(definite, other, solve<TypeParam>(definite, other, {.method = method}));
    }
  }
}

TYPED_TEST(Generalised, OfOneRowIsAQuotient) {
  using R = Real<TypeParam>;
  for (const double h : {3.0, -3.0, 0.0}) {
    const Host<TypeParam> H = host_matrix<TypeParam>(1);
    const Host<TypeParam> S = host_matrix<TypeParam>(1);
    H(0, 0) = TypeParam(static_cast<R>(h));
    S(0, 0) = TypeParam(7);
    const Solution<TypeParam> found = solve<TypeParam>(H, S);
    const auto u = static_cast<double>(unit_roundoff<TypeParam>);
    EXPECT_NEAR(found.w[0], h / 7, 8 * u) << h;
    EXPECT_NEAR(static_cast<double>(Kokkos::abs(found.C(0, 0))), 1 / std::sqrt(7.0), 8 * u) << h;
    EXPECT_EQ(found.report.rotations, 0);
  }
}

TYPED_TEST(Generalised, OfNothingIsNothing) {
  const Device<TypeParam> none("none", 0, 0);
  const Kokkos::View<Real<TypeParam>*, MemorySpace> w("w", 0);
  EXPECT_TRUE(jacobi(ExecutionSpace(), none, none, w, none).converged);
  EXPECT_TRUE(jacobi_values(ExecutionSpace(), none, none, w).converged);
}

// The identity for S gives what jacobi() gives, to its errors.
TYPED_TEST(Generalised, OfTheIdentityIsTheStandardProblem) {
  for (const Index n : {5, 40, 90}) {
    const Host<TypeParam> H = random_hermitian<TypeParam>(n, 2);
    const Host<TypeParam> I = host_matrix<TypeParam>(n);
    for (Index i = 0; i < n; ++i) {
      I(i, i) = TypeParam(1);
    }
    const Solution<TypeParam> found = solve<TypeParam>(H, I);
    const Quality judged = quality<TypeParam>(H, found.C, found.w);
    EXPECT_LE(judged.residual, 10);
    EXPECT_LE(judged.orthogonality, 10);
    EXPECT_EQ(found.report.least_pivot, 1);
  }
}

// Every eigenvalue of a definite pencil to its own size, however S and H are graded.
TYPED_TEST(Generalised, DefinitePencilsAreSolvedToRelativeAccuracy) {
  const auto u = static_cast<double>(unit_roundoff<TypeParam>);
  const bool wide = std::is_same_v<Real<TypeParam>, double>;
  const std::vector<std::pair<double, double>> gradings =
      wide
          ? std::vector<std::pair<double, double>>{{1, 1}, {1e8, 1}, {1e20, 1e-6}, {1, 1e-40}, {1e60, 1e30}, {1e200, 1}}
          : std::vector<std::pair<double, double>>{{1, 1}, {1e4, 1}, {1e12, 1e-4}, {1e20, 1}, {1e20, 1e4}};
  for (const auto& [condition, low] : gradings) {
    for (const Index n : {2, 17, 40, 70}) {
      if (n == 70 && is_complex<TypeParam>) {
        continue;
      }
      SCOPED_TRACE(std::to_string(condition) + ", " + std::to_string(low) + ", n = " + std::to_string(n));
      const Host<TypeParam> H = graded<TypeParam>(n, condition, 3);
      const Host<TypeParam> S = overlap<TypeParam>(n, 0.3, low, 7);
      const std::vector<double> exact = wide_values<TypeParam>(H, S);
      const Solution<TypeParam> found = solve<TypeParam>(H, S);
      EXPECT_EQ(found.report.accuracy, JacobiAccuracy::relative);
      EXPECT_EQ(found.report.method, JacobiMethod::blocked);
      expect_good<TypeParam>(H, S, found);
      // kappa(H) <= 3 and kappa(S) <= (1 + 0.3 n) 1.3
      const double bound = 10 * static_cast<double>(n) * u * (3 + 1.3 * (1 + 0.3 * static_cast<double>(n)));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        ASSERT_GT(exact[i], 0);
        EXPECT_LE(std::abs(found.w[i] / exact[i] - 1), bound) << i;
      }
    }
  }
}

TYPED_TEST(Generalised, IllConditionedOverlapsHaveSmallBackwardErrors) {
  const bool wide = std::is_same_v<Real<TypeParam>, double>;
  for (const Index n : {10, 24, 60, 90}) {
    for (const double exponent : wide ? std::vector<double>{2, 0.3, 0.085} : std::vector<double>{2, 0.6, 0.3}) {
      const Host<TypeParam> S = gaussians<TypeParam>(n, exponent);
      for (const bool definite : {false, true}) {
        SCOPED_TRACE("n = " + std::to_string(n) + ", " + std::to_string(exponent) + (definite ? ", definite" : ""));
        const Host<TypeParam> H = definite ? graded<TypeParam>(n, 1000, 3) : random_hermitian<TypeParam>(n, 5);
        for (const JacobiMethod method : {JacobiMethod::automatic, JacobiMethod::cyclic}) {
          SCOPED_TRACE(to_string(method));
          const Solution<TypeParam> found = solve<TypeParam>(H, S, {.method = method});
          expect_good<TypeParam>(H, S, found);
        }
      }
    }
  }
}

std::vector<double> lapack_values(const Host<double>& H, const Host<double>& S) {
  const int n = static_cast<int>(H.extent(0));
  std::vector<double> a(H.data(), H.data() + H.size());
  std::vector<double> b(S.data(), S.data() + S.size());
  std::vector<double> w(static_cast<std::size_t>(n));
  std::vector<double> work(40 * w.size());
  const int length = static_cast<int>(work.size());
  const int kind = 1;
  int info = 0;
  dsygv_(&kind, "N", "L", &n, a.data(), &n, b.data(), &n, w.data(), work.data(), &length, &info, 1, 1);
  EXPECT_EQ(info, 0);
  return w;
}
// The largest |found - exact| / |exact|.
double relative_error(const std::vector<double>& found, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(found[i] - exact[i]) / std::abs(exact[i]);
    worst = error <= worst ? worst : error;
  }
  return worst;
}

TEST(GeneralisedAccuracy, IsLapacksWhereSIsWellConditioned) {
  for (const Index n : {20, 90}) {
    const Host<double> H = random_hermitian<double>(n, 9);
    const Host<double> S = overlap<double>(n, 0.5, 1, 3);
    const std::vector<double> expected = lapack_values(H, S);
    const std::vector<double> found = solve<double>(H, S).w;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-13 * std::abs(expected.back())) << i;
    }
  }
}

// Eigenvalues from 1 to 1e11, as an ill-conditioned overlap makes them: each to its own size, where LAPACK's share the
// error of the largest.
TEST(GeneralisedAccuracy, IsFullWhereSIsIllConditioned) {
  const Index n = 30;
  const Host<double> S = gaussians<double>(n, 0.085);
  for (const bool definite : {false, true}) {
    const Host<double> H = definite ? graded<double>(n, 10, 3) : random_hermitian<double>(n, 9);
    const std::vector<double> exact = wide_values<double>(H, S);
    const Solution<double> found = solve<double>(H, S);
    EXPECT_LT(found.report.least_pivot, 1e-8);
    const double error = relative_error(found.w, exact);
    EXPECT_LT(error, 1e-14);
    EXPECT_GT(relative_error(lapack_values(H, S), exact), 1e4 * error);
  }
}

TYPED_TEST(Generalised, OfTwoRowsHasItsClosedForm) {
  // H = diag(1, 2), S = [2 1; 1 2]: 3 w^2 - 6 w + 2 = 0.
  const Host<TypeParam> H = host_matrix<TypeParam>(2);
  const Host<TypeParam> S = host_matrix<TypeParam>(2);
  H(0, 0) = TypeParam(1);
  H(1, 1) = TypeParam(2);
  S(0, 0) = S(1, 1) = TypeParam(2);
  if constexpr (is_complex<TypeParam>) {
    S(1, 0) = TypeParam(0, 1);
  } else {
    S(1, 0) = 1;
  }
  S(0, 1) = conjugate(S(1, 0));
  const Solution<TypeParam> found = solve<TypeParam>(H, S);
  const double u = static_cast<double>(unit_roundoff<TypeParam>);
  EXPECT_NEAR(found.w[0], 1 - std::sqrt(1.0 / 3), 8 * u);
  EXPECT_NEAR(found.w[1], 1 + std::sqrt(1.0 / 3), 8 * u);
}

TYPED_TEST(Generalised, RepeatedEigenvaluesHaveOrthonormalVectors) {
  for (const Index n : {6, 50, 80}) {
    const Host<TypeParam> S = overlap<TypeParam>(n, 0.5, 1, 3);
    // H = 3 S: one eigenvalue n times; and H of rank one, all but one of them 0.
    const Host<TypeParam> H = host_matrix<TypeParam>(n);
    const Host<TypeParam> one = host_matrix<TypeParam>(n);
    for (std::size_t at = 0; at < H.size(); ++at) {
      H.data()[at] = S.data()[at] * Real<TypeParam>(-3);
      one.data()[at] = TypeParam(1);
    }
    const Solution<TypeParam> found = solve<TypeParam>(H, S);
    expect_good<TypeParam>(H, S, found);
    for (const double w : found.w) {
      EXPECT_NEAR(w, -3, 1000 * static_cast<double>(n) * static_cast<double>(unit_roundoff<TypeParam>));
    }
    expect_good<TypeParam>(one, S, solve<TypeParam>(one, S));
    const Host<TypeParam> zero = host_matrix<TypeParam>(n);
    const Solution<TypeParam> nothing = solve<TypeParam>(zero, S);
    expect_good<TypeParam>(zero, S, nothing);
    for (const double w : nothing.w) {
      EXPECT_EQ(w, 0);
    }
  }
}

TYPED_TEST(Generalised, WarmStartsAreShorter) {
  const Index n = 90;
  const Host<TypeParam> S = overlap<TypeParam>(n, 0.5, 0.1, 3);
  const Host<TypeParam> H = random_hermitian<TypeParam>(n, 4);
  const Solution<TypeParam> cold = solve<TypeParam>(H, S, {.method = JacobiMethod::blocked});
  H(3, 3) += TypeParam(1e-3);
  const Device<TypeParam> C = to_device<TypeParam>(cold.C);
  const Kokkos::View<Real<TypeParam>*, MemorySpace> w("w", H.extent(0));
  Solution<TypeParam> warm;
  warm.report = jacobi(ExecutionSpace(), to_device<TypeParam>(H), to_device<TypeParam>(S), w, C, {.warm_start = true});
  warm.C = to_host(C);
  const auto values = to_host(w);
  for (Index i = 0; i < n; ++i) {
    warm.w.push_back(static_cast<double>(values(i)));
  }
  expect_good<TypeParam>(H, S, warm);
  EXPECT_LT(warm.report.rotations, cold.report.rotations / 2);
}

TYPED_TEST(Generalised, TakesTrianglesStridesAndValuesAlone) {
  using R = Real<TypeParam>;
  const Index n = 37;
  const Host<TypeParam> H = random_hermitian<TypeParam>(n, 4);
  const Host<TypeParam> S = overlap<TypeParam>(n, 0.4, 0.01, 3);
  const Solution<TypeParam> expected = solve<TypeParam>(H, S);
  const auto size = static_cast<std::size_t>(n);
  for (const bool upper : {false, true}) {
    const Host<TypeParam> half_H = host_matrix<TypeParam>(n);
    const Host<TypeParam> half_S = host_matrix<TypeParam>(n);
    const auto nan = TypeParam(std::numeric_limits<R>::quiet_NaN());
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const bool read = upper ? i <= j : i >= j;
        half_H(i, j) = read ? H(i, j) : nan;
        half_S(i, j) = read ? S(i, j) : nan;
      }
    }
    const Kokkos::View<TypeParam**, Kokkos::LayoutRight, MemorySpace> by_rows("by_rows", size, size);
    Kokkos::deep_copy(by_rows, to_device<TypeParam>(half_H));
    const Device<TypeParam> padded("padded", size + 3, size + 5);
    const auto part = Kokkos::subview(padded, std::pair<std::size_t, std::size_t>(2, 2 + size),
                                      std::pair<std::size_t, std::size_t>(1, 1 + size));
    const Kokkos::View<R*, MemorySpace> w("w", size);
    const auto report = jacobi(ExecutionSpace(), by_rows, to_device<TypeParam>(half_S), w, part, {.upper = upper});
    EXPECT_TRUE(report.converged);
    const auto values = to_host(w);
    const Kokkos::View<R*, MemorySpace> alone("alone", size);
    EXPECT_TRUE(
        jacobi_values(ExecutionSpace(), by_rows, to_device<TypeParam>(half_S), alone, {.upper = upper}).converged);
    const auto values_alone = to_host(alone);
    for (std::size_t i = 0; i < size; ++i) {
      const double allowed = 1000 * static_cast<double>(unit_roundoff<TypeParam>) * std::abs(expected.w.back());
      EXPECT_NEAR(static_cast<double>(values(i)), expected.w[i], allowed);
      EXPECT_NEAR(static_cast<double>(values_alone(i)), expected.w[i], allowed);
    }
    const auto host = to_host(padded);
    EXPECT_EQ(host(0, 0), TypeParam(0));
    EXPECT_EQ(host(size + 2, size + 1), TypeParam(0));
    EXPECT_NE(host(2, 1), TypeParam(0));
  }
}

TYPED_TEST(Generalised, RefusesWhatIsNoPencil) {
  using R = Real<TypeParam>;
  const Index n = 9;
  const Host<TypeParam> H = random_hermitian<TypeParam>(n, 4);
  const Host<TypeParam> S = overlap<TypeParam>(n, 0.4, 1, 3);
  const auto refuse = [&](const Host<TypeParam>& one, const Host<TypeParam>& other, const std::string& message,
                          const JacobiOptions& options = {}) {
    test::expect_refusal(ErrorKind::argument, message,
                         [&] { static_cast<void>(solve<TypeParam>(one, other, options)); });
  };
  const auto copy = [&](const Host<TypeParam>& A) {
    const Host<TypeParam> B = host_matrix<TypeParam>(n);
    Kokkos::deep_copy(B, A);
    return B;
  };
  Host<TypeParam> bad = copy(S);
  bad(4, 4) = TypeParam(-1);
  refuse(H, bad, "S is not positive definite: its diagonal element in row 4 (counted from 0) is -1; expected");
  bad = copy(S);
  bad(4, 4) = TypeParam(0);
  refuse(H, bad, "row 4 (counted from 0) is 0; expected a positive number");
  // A row that is another's: singular; larger than that: indefinite.
  for (const double more : {1.0, 1.5}) {
    bad = host_matrix<TypeParam>(n);
    for (Index i = 0; i < n; ++i) {
      bad(i, i) = TypeParam(1);
    }
    bad(6, 2) = bad(2, 6) = TypeParam(static_cast<R>(more));
    refuse(H, bad, "S is not positive definite: pivot 8 of its Cholesky factorization, in row ");
  }
  bad = copy(S);
  bad(5, 2) = TypeParam(std::numeric_limits<R>::quiet_NaN());
  refuse(H, bad, "S has 1 elements that are NaN or infinite");
  refuse(bad, S, "H has 1 elements that are NaN or infinite");
  refuse(H, host_matrix<TypeParam>(8), "S is 8 x 8; expected 9 x 9 as H");
  refuse(H, S, "H is not positive definite; accuracy \"relative\" needs that", {.accuracy = JacobiAccuracy::relative});
  refuse(H, S, "0 sweeps", {.sweeps = 0});
  const Kokkos::View<R*, MemorySpace> w("w", 9);
  test::expect_refusal(ErrorKind::argument, "a warm start begins at the vectors in C", [&] {
    static_cast<void>(
        jacobi_values(ExecutionSpace(), to_device<TypeParam>(H), to_device<TypeParam>(S), w, {.warm_start = true}));
  });
}

TEST(GeneralisedBits, AreReproducible) {
  const Host<double> S = overlap<double>(80, 0.5, 0.1, 3);
  for (const bool definite : {false, true}) {
    const Host<double> H = definite ? graded<double>(80, 100, 2) : random_hermitian<double>(80, 4);
    const Solution<double> first = solve<double>(H, S, {.reproducible = true});
    const Solution<double> second = solve<double>(H, S, {.reproducible = true});
    EXPECT_EQ(first.w, second.w);
    EXPECT_TRUE(std::equal(first.C.data(), first.C.data() + first.C.size(), second.C.data()));
  }
}

}  // namespace
}  // namespace heddle::eigen::generalised_test

// Reported errors of actions against exact ones: wide spectra, nilpotent and other non-normal matrices, small
// subspaces.
#include "expm/action/action_problems.hpp"
#include "support/errors.hpp"
#include "support/multiprecision.hpp"
#include "support/on_host.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::action_bounds_test {
namespace {

using test::Complex;
using test::narrow;
using test::widen;
using WideComplex = std::complex<long double>;

template <class T> class ActionBounds : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(ActionBounds, test::AllScalars);

template <Scalar T> LocalMatrix<T> vector_of(const std::vector<Complex>& entries) {
  const LocalMatrix<T> B("heddle::test::B", entries.size(), 1);
  const auto host = Kokkos::create_mirror_view(B);
  for (std::size_t i = 0; i < entries.size(); ++i) host(i, 0) = narrow<T>(entries[i]);
  Kokkos::deep_copy(B, host);
  return B;
}

// ||found - expected||_2 / ||found||_2.
template <Scalar T> double distance(const LocalMatrix<T>& found, const std::vector<WideComplex>& expected) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  long double error = 0.0L;
  long double size = 0.0L;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Complex x = widen(host(i, 0));
    error += std::norm(WideComplex(x.real(), x.imag()) - expected[i]);
    size += std::norm(WideComplex(x.real(), x.imag()));
  }
  return error > 0.0L ? static_cast<double>(std::sqrt(error / size)) : 0.0;
}

template <class T> struct DiagonalEntries {
  double first, step;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    return T(i == j ? static_cast<Real<T>>(first + step * static_cast<double>(i)) : Real<T>(0));
  }
};

// exp(time diag(0 ... -R, or 0 ... R)) of ones, whose elements range from 1 to exp(-R), or grow: only one end matters.
TYPED_TEST(ActionBounds, OfWideSpectra) {
  using T = TypeParam;
  const Index n = 50;
  const double u = unit_roundoff<T>;
  const LocalMatrix<T> B = vector_of<T>(std::vector<Complex>(static_cast<std::size_t>(n), 1.0));
  const LocalMatrix<T> R("heddle::test::R", n, 1);
  for (const double width : {1.0, 30.0, 2e3, 1e5, 1e8}) {
    // Every rank computes the same, in a hundred thousand products; on a GPU each product waits for a launch.
    if (width > 1e4 && (this->comm.size() > 1 || (!test::on_host && width < 1e7))) continue;
    for (const double sign : {-1.0, 1.0}) {
      // A multiple of the units of T, so that the matrix agrees with the reference.
      const double step = std::ldexp(std::round(std::ldexp(width / 49.0, 10)), -10);
      const DistributedMatrix<T> A(this->comm, Placement::row_bands(n, n, this->comm.size()));
      fill(A, DiagonalEntries<T>{0.0, sign * step});
      std::vector<Complex> times = {-sign, 0.5 * -sign};
      if (width <= 60.0) times.push_back(sign);
      if (is_complex<T>) {
        times.insert(times.end(), {Complex(0.0, 1.0), Complex(0.0, -0.25), Complex(-sign, 0.5)});
      }
      for (const Complex& time : times) {
        std::vector<WideComplex> expected;
        for (Index i = 0; i < n; ++i) {
          const auto eigenvalue = static_cast<long double>(static_cast<Real<T>>(sign * step * static_cast<double>(i)));
          expected.push_back(std::exp(WideComplex(time.real() * eigenvalue, time.imag() * eigenvalue)));
        }
        for (const ExpmActionMethod method :
             {ExpmActionMethod::automatic, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
          if (width > 1e7 && time.imag() != 0.0) continue;  // This would take a hundred million products.
          SCOPED_TRACE(std::string(to_string(method)) + ", width " + std::to_string(sign * width) + ", time " +
                       std::to_string(time.real()) + " + " + std::to_string(time.imag()) + " i");
          ExpmActionPlan<T> plan(this->comm, {.method = method, .structure = ExpmActionStructure::hermitian});
          if (width * u > 0.1) {
            test::expect_refusal(ErrorKind::computation, "no digit", [&] { plan.execute(time, A, B, R); });
            continue;
          }
          const ExpmActionReport report = plan.execute(time, A, B, R);
          const double error = distance<T>(R, expected);
          EXPECT_TRUE(report.error_is_bound);
          EXPECT_LE(error, report.error);
          // Thousands of steps whose lengths were rounded differences came to the bound itself.
          if (report.steps > 1000) {
            EXPECT_LE(error, 0.25 * report.error) << report.steps << " steps";
          }
          // A useful bound: u time A, sums over 50 elements, and the 50 elements of B of which one remains.
          EXPECT_LE(report.error, 1000.0 * u * (1.0 + width)) << to_string(report.method);
          EXPECT_LE(error, 20.0 * u * (1.0 + width)) << to_string(report.method);
        }
      }
    }
  }
}

// A matrix without a declared structure, whose Taylor steps would take minutes.
TYPED_TEST(ActionBounds, OfAWideSpectrumWithoutStructure) {
  using T = TypeParam;
  const Index n = 12;
  const double width = std::is_same_v<Real<T>, float> ? 300.0 : 1e8;
  const LocalMatrix<T> B = vector_of<T>(std::vector<Complex>(static_cast<std::size_t>(n), 1.0));
  const LocalMatrix<T> R("heddle::test::R", n, 1);
  const DistributedMatrix<T> A(this->comm, Placement::row_bands(n, n, this->comm.size()));
  fill(A, DiagonalEntries<T>{0.0, -width});
  std::vector<WideComplex> expected(static_cast<std::size_t>(n), 0.0L);
  expected[0] = 1.0L;
  const ExpmActionReport report = ExpmActionPlan<T>(this->comm).execute(1.0, A, B, R);
  if (std::is_same_v<Real<T>, double>) {
    EXPECT_EQ(report.method, ExpmActionMethod::krylov);
    EXPECT_LE(report.products, 100);
  }
  EXPECT_LE(distance<T>(R, expected), report.error);
  EXPECT_LE(report.error, 1000.0 * static_cast<double>(unit_roundoff<T>) * width);
  if (std::is_same_v<Real<T>, float>) {
    fill(A, DiagonalEntries<T>{0.0, -1e9});
    test::expect_refusal(ErrorKind::computation, "a Taylor series takes more than",
                         [&] { ExpmActionPlan<T>(this->comm).execute(1.0, A, B, R); });
  }
}

// Given intervals may be wide, such as Gershgorin's circles.
TYPED_TEST(ActionBounds, OfAnIntervalThatIsTooWide) {
  using T = TypeParam;
  const Index n = 40;
  const LocalMatrix<T> B = vector_of<T>(std::vector<Complex>(static_cast<std::size_t>(n), 1.0));
  const LocalMatrix<T> R("heddle::test::R", n, 1);
  const DistributedMatrix<T> A(this->comm, Placement::row_bands(n, n, this->comm.size()));
  fill(A, DiagonalEntries<T>{0.0, -16.0});
  std::vector<WideComplex> expected;
  for (Index i = 0; i < n; ++i) expected.push_back(std::exp(-16.0L * static_cast<long double>(i)));
  for (const double beyond : {0.0, 10.0, 400.0}) {
    const ExpmActionOptions options{.method = ExpmActionMethod::chebyshev,
                                    .structure = ExpmActionStructure::hermitian,
                                    .spectrum = ExpmActionOptions::Interval{-640.0, beyond}};
    const ExpmActionReport report = ExpmActionPlan<T>(this->comm, options).execute(1.0, A, B, R);
    EXPECT_LE(distance<T>(R, expected), report.error) << beyond;
    EXPECT_LE(distance<T>(R, expected), 1e4 * static_cast<double>(unit_roundoff<T>)) << beyond;
  }
}

// exp(time A) B in 256 bits.
template <Scalar T>
std::vector<WideComplex> reference_of(std::size_t n, const std::vector<Complex>& A, const std::vector<Complex>& b,
                                      double time) {
  test::WideMatrix wide(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) wide.set(i, j, widen(narrow<T>(A[i * n + j])) * time);
  }
  const test::WideMatrix E = test::wide_exponential(wide);
  std::vector<WideComplex> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      const Complex e = E.get(i, k);
      const Complex x = widen(narrow<T>(b[k]));
      result[i] += WideComplex(e.real(), e.imag()) * WideComplex(x.real(), x.imag());
    }
  }
  return result;
}

template <Scalar T>
DistributedMatrix<T> matrix_of(const Communicator& comm, std::size_t n, const std::vector<Complex>& entries) {
  const HostMatrix<T> whole = test::host_matrix<T>(static_cast<Index>(n), static_cast<Index>(n), [&](Index i, Index j) {
    return narrow<T>(entries[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)]);
  });
  DistributedMatrix<T> A(comm, Placement::row_bands(static_cast<Index>(n), static_cast<Index>(n), comm.size()));
  scatter(comm.rank() == 0 ? whole : HostMatrix<T>(), 0, A);
  return A;
}

struct NonNormal {
  std::string name;
  std::size_t n;
  std::vector<Complex> A;
};
std::vector<NonNormal> non_normal_matrices() {
  std::vector<NonNormal> found = {
      {"four nilpotent rows", 4, {0, 3e6, 0, -4e6, 0, 0, -8e6, -9e6, 0, 0, 0, 8e6, 0, 0, 0, 0}},
      {"its transpose", 4, {0, 0, 0, 0, 3e6, 0, 0, 0, 0, -8e6, 0, 0, -4e6, -9e6, 8e6, 0}},
      // Two small terms come before a large one.
      {"a chain of small and large steps", 4, {0, 0x1p60, 0, 0, 0, 0, 0x1p-30, 0, 0, 0, 0, 0x1p-30, 0, 0, 0, 0}},
  };
  const auto add = [&](const std::string& name, std::size_t n, const auto& entry) {
    NonNormal one{name, n, {}};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) one.A.emplace_back(entry(i, j));
    }
    found.push_back(one);
  };
  add("Grcar's", 30, [](std::size_t i, std::size_t j) { return i == j + 1 ? -1.0 : j >= i && j <= i + 3 ? 1.0 : 0.0; });
  add("a Jordan block", 8, [](std::size_t i, std::size_t j) { return i == j ? -1.0 : j == i + 1 ? 1e3 : 0.0; });
  add("graded triangular", 8, [](std::size_t i, std::size_t j) {
    return j < i ? 0.0 : test::uniform(i, j, 3) * std::pow(4.0, static_cast<double>(j - i));
  });
  add("nilpotent", 9,
      [](std::size_t i, std::size_t j) { return j <= i ? 0.0 : std::round(9e4 * test::uniform(i, j, 5)); });
  return found;
}

TYPED_TEST(ActionBounds, OfNonNormalMatrices) {
  using T = TypeParam;
  const double u = unit_roundoff<T>;
  for (const NonNormal& one : non_normal_matrices()) {
    std::vector<Complex> b;
    for (std::size_t i = 0; i < one.n; ++i) b.emplace_back(i + 1 == one.n ? 8.0 : 5.0 + static_cast<double>(i % 2));
    const auto A = matrix_of<T>(this->comm, one.n, one.A);
    const LocalMatrix<T> B = vector_of<T>(b);
    const LocalMatrix<T> R("heddle::test::R", one.n, 1);
    for (const double time : {1.0, -1.0}) {
      const std::vector<WideComplex> expected = reference_of<T>(one.n, one.A, b, time);
      for (const ExpmActionMethod method : {ExpmActionMethod::automatic, ExpmActionMethod::krylov}) {
        for (const int dimension : {2, 3, 40}) {
          const ExpmActionReport report =
              ExpmActionPlan<T>(this->comm, {.method = method, .dimension = dimension}).execute(time, A, B, R);
          SCOPED_TRACE(one.name + " by " + std::string(to_string(report.method)) + ", dimension " +
                       std::to_string(dimension) + ", time " + std::to_string(time));
          EXPECT_FALSE(report.error_is_bound);
          EXPECT_LE(distance<T>(R, expected), report.error);
          EXPECT_LE(report.error, std::cbrt(u));
          if (method == ExpmActionMethod::automatic) {
            EXPECT_LE(distance<T>(R, expected), 1e4 * u);
          }
          EXPECT_LE(report.products, 20000);
        }
      }
    }
  }
}

// Most of the result, and of the truncation error, may come from an eigenvector that B hardly contains.
TYPED_TEST(ActionBounds, OfEigenvectorsThatAreHardlyThere) {
  using T = TypeParam;
  const LocalMatrix<T> B = vector_of<T>({1.0, 0.0});
  const LocalMatrix<T> R("heddle::test::R", 2, 1);
  for (const double coupling : {0x1.d8p-24, 0x1.e8p-4}) {
    for (const double apart : {1.0, 8.0, 23.0}) {
      const std::vector<Complex> entries = {0.0, coupling, coupling, apart};
      const auto A = matrix_of<T>(this->comm, 2, entries);
      for (const double time : {1.0, 0.5, -1.0}) {
        const std::vector<WideComplex> expected = reference_of<T>(2, entries, {1.0, 0.0}, time);
        for (const ExpmActionStructure structure : {ExpmActionStructure::general, ExpmActionStructure::hermitian}) {
          for (const ExpmActionMethod method :
               {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
            if (method == ExpmActionMethod::chebyshev && structure == ExpmActionStructure::general) continue;
            for (const double tolerance : {0.0, 1e-5, 0.1}) {
              const ExpmActionReport report =
                  ExpmActionPlan<T>(this->comm, {.method = method, .structure = structure, .tolerance = tolerance})
                      .execute(time, A, B, R);
              EXPECT_LE(distance<T>(R, expected), report.error)
                  << to_string(method) << ", structure " << static_cast<int>(structure) << ", tolerance " << tolerance
                  << ", elements " << coupling << " and " << apart << ", time " << time;
            }
          }
        }
      }
    }
  }
}

// A remainder that cannot be told from rounding beside A ends a subspace, but is large beside exp(A).
TYPED_TEST(ActionBounds, OfSubspacesThatRoundingEnds) {
  using T = TypeParam;
  const double u = unit_roundoff<T>;
  const double size = std::is_same_v<Real<T>, float> ? 16.0 : 32.0;
  for (const double coupling : {u, 8 * u, 32 * u, 200 * u}) {
    const std::vector<Complex> A = {size, 1, 0, 0, size, 0, coupling, 0, 0};
    const LocalMatrix<T> R("heddle::test::R", 3, 1);
    const std::vector<WideComplex> expected = reference_of<T>(3, A, {0, 1, 0}, -1.0);
    for (const ExpmActionMethod method : {ExpmActionMethod::krylov, ExpmActionMethod::taylor}) {
      const ExpmActionReport report = ExpmActionPlan<T>(this->comm, {.method = method})
                                          .execute(-1.0, matrix_of<T>(this->comm, 3, A), vector_of<T>({0, 1, 0}), R);
      EXPECT_LE(distance<T>(R, expected), report.error) << to_string(method) << ", " << coupling / u << " u";
    }
  }
}

// Bounds hold for any gaps between eigenvalues: at gaps of a thousandth of the norm, vectors by inverse iteration alone
// would be orthogonal only to a thousand units.
TYPED_TEST(ActionBounds, OfEigenvaluesNearEachOther) {
  using T = TypeParam;
  for (int seed = 0; seed < 60; ++seed) {
    const std::size_t n = 4 + static_cast<std::size_t>(seed) % 6;
    std::vector<Complex> A;
    const double coupling = std::ldexp(1.0, -4 - seed % 12);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double x = test::uniform(std::min(i, j), std::max(i, j), seed + 1);
        A.emplace_back(i == j ? (i % 2 == 0 ? 1.0 : 0.5) + 0.01 * x : coupling * x);
      }
    }
    std::vector<Complex> b;
    for (std::size_t i = 0; i < n; ++i) b.emplace_back(std::round(9.0 * test::uniform(i, 77, seed)));
    const LocalMatrix<T> R("heddle::test::R", n, 1);
    for (const double time : {0.5, -2.0}) {
      const std::vector<WideComplex> expected = reference_of<T>(n, A, b, time);
      for (const ExpmActionMethod method : {ExpmActionMethod::krylov, ExpmActionMethod::chebyshev}) {
        const ExpmActionReport report =
            ExpmActionPlan<T>(this->comm, {.method = method, .structure = ExpmActionStructure::hermitian})
                .execute(time, matrix_of<T>(this->comm, n, A), vector_of<T>(b), R);
        EXPECT_LE(distance<T>(R, expected), report.error) << to_string(method) << ", seed " << seed;
      }
    }
  }
}

// If a subspace is too small, a method without a subspace takes over.
TYPED_TEST(ActionBounds, OfSmallSubspaces) {
  using T = TypeParam;
  const Index n = 50;
  const LocalMatrix<T> B = vector_of<T>(std::vector<Complex>(static_cast<std::size_t>(n), 1.0));
  const LocalMatrix<T> R("heddle::test::R", n, 1);
  const DistributedMatrix<T> A(this->comm, Placement::row_bands(n, n, this->comm.size()));
  fill(A, DiagonalEntries<T>{2.0, -0.25});
  std::vector<WideComplex> expected;
  for (Index i = 0; i < n; ++i) expected.push_back(std::exp(2.0L * (2.0L - 0.25L * static_cast<long double>(i))));
  for (const ExpmActionStructure structure : {ExpmActionStructure::general, ExpmActionStructure::hermitian}) {
    for (const int dimension : {2, 3, 4, 6}) {
      const ExpmActionReport report =
          ExpmActionPlan<T>(this->comm,
                            {.method = ExpmActionMethod::krylov, .structure = structure, .dimension = dimension})
              .execute(2.0, A, B, R);
      SCOPED_TRACE(std::to_string(dimension) + ", by " + std::string(to_string(report.method)));
      EXPECT_LE(report.products, 2000);
      EXPECT_LE(distance<T>(R, expected), report.error);
      EXPECT_LE(report.error, 1e5 * static_cast<double>(unit_roundoff<T>));
    }
  }
}

// Rotations over a long time: the reported error includes the rounding of the angle.
TYPED_TEST(ActionBounds, OfLongTimes) {
  using T = TypeParam;
  const double u = unit_roundoff<T>;
  const std::vector<Complex> A = {0, 3, -2, -3, 0, 1, 2, -1, 0};
  const std::vector<Complex> b = {1, 2, -1};
  const double time = std::is_same_v<Real<T>, float> ? 30.0 : 1000.0;
  // exp(t A) = I + sin(w t) / w A + (1 - cos(w t)) / w^2 A^2, w^2 = 14.
  const long double w = std::sqrt(14.0L);
  const long double sine = std::sin(w * time) / w;
  const long double versed = (1.0L - std::cos(w * time)) / 14.0L;
  std::vector<WideComplex> expected;
  for (std::size_t i = 0; i < 3; ++i) {
    long double sum = b[i].real();
    for (std::size_t j = 0; j < 3; ++j) {
      long double square = 0.0L;
      for (std::size_t k = 0; k < 3; ++k) square += A[3 * i + k].real() * A[3 * k + j].real();
      sum += (sine * A[3 * i + j].real() + versed * square) * b[j].real();
    }
    expected.emplace_back(sum);
  }
  const auto matrix = matrix_of<T>(this->comm, 3, A);
  const LocalMatrix<T> R("heddle::test::R", 3, 1);
  for (const ExpmActionStructure structure : {ExpmActionStructure::general, ExpmActionStructure::skew_hermitian}) {
    for (const ExpmActionMethod method :
         {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
      if (method == ExpmActionMethod::chebyshev && structure == ExpmActionStructure::general) continue;
      const ExpmActionReport report = ExpmActionPlan<T>(this->comm, {.method = method, .structure = structure})
                                          .execute(time, matrix, vector_of<T>(b), R);
      EXPECT_LE(distance<T>(R, expected), report.error) << to_string(method);
      EXPECT_GE(report.error, u * time) << to_string(method);
      EXPECT_LE(report.error, 1000.0 * u * time) << to_string(method);
    }
  }
}

// Terms of a series whose products cancel: earlier rounding errors weigh correspondingly more.
TYPED_TEST(ActionBounds, OfProductsThatCancel) {
  using T = TypeParam;
  constexpr int n = 7;
  const int rows[n][n] = {
      {}, {1000}, {0, 4000}, {0, -9000}, {-9000, 1000}, {0, 0, 2000, 0, -9000}, {0, 0, 0, 7000, 0, -2000}};
  std::vector<Complex> entries;
  for (const auto& row : rows) entries.insert(entries.end(), row, row + n);
  std::vector<Complex> b(n);
  b[0] = 0x1.808488p-3;
  std::vector<WideComplex> term(n);
  term[0] = 0x1.808488p-3L;
  std::vector<WideComplex> expected = term;
  for (int k = 1; k < n; ++k) {
    std::vector<WideComplex> next(n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        next[static_cast<std::size_t>(i)] +=
            static_cast<long double>(rows[i][j]) * term[static_cast<std::size_t>(j)] / (2.0L * k);
      }
    }
    term = next;
    for (std::size_t i = 0; i < n; ++i) expected[i] += term[i];
  }
  const LocalMatrix<T> R("heddle::test::R", n, 1);
  for (const ExpmActionMethod method : {ExpmActionMethod::taylor, ExpmActionMethod::krylov}) {
    const ExpmActionReport report = ExpmActionPlan<T>(this->comm, {.method = method})
                                        .execute(0.5, matrix_of<T>(this->comm, n, entries), vector_of<T>(b), R);
    EXPECT_LE(distance<T>(R, expected), report.error) << to_string(method);
    EXPECT_LE(report.error, 1000.0 * unit_roundoff<T>) << to_string(method);
  }
}

// 2^600 A over a time of 2^-600 gives the same bits as A over 1.
TYPED_TEST(ActionBounds, OfMatricesFarFromOneOverTimesThatMakeUpForIt) {
  using T = TypeParam;
  const int far = std::is_same_v<Real<T>, double> ? 900 : 110;
  const std::vector<Complex> b = {1, -2, 3, 0.5};
  const LocalMatrix<T> B = vector_of<T>(b);
  const auto entries = [](double scale) {
    std::vector<Complex> found;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        found.emplace_back(scale * test::uniform(std::min(i, j), std::max(i, j), 5));
      }
    }
    return found;
  };
  const auto compute = [&](double scale, ExpmActionMethod method, ExpmActionStructure structure) {
    const LocalMatrix<T> R("heddle::test::R", 4, 1);
    ExpmActionPlan<T>(this->comm, {.method = method, .structure = structure})
        .execute(1.0 / scale, matrix_of<T>(this->comm, 4, entries(scale)), B, R);
    return HostMatrix<T>(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R));
  };
  for (const ExpmActionStructure structure : {ExpmActionStructure::general, ExpmActionStructure::hermitian}) {
    for (const ExpmActionMethod method :
         {ExpmActionMethod::taylor, ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
      if (method == ExpmActionMethod::chebyshev && structure == ExpmActionStructure::general) continue;
      const auto expected = compute(1.0, method, structure);
      for (const int exponent : {far, -far}) {
        EXPECT_TRUE(test::same_bits(compute(std::ldexp(1.0, exponent), method, structure), expected))
            << to_string(method) << ' ' << exponent;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::action_bounds_test

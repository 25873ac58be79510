// exp(t A) B against 256 bits, closed forms and the whole exponential.
#include "expm/action/action_problems.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/action.hpp>
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numbers>
#include <string>

namespace heddle::action_test {
namespace {

using test::block;
using test::Complex;
using test::narrow;
using test::second_difference;
using test::uniform;
using test::widen;

struct Problem {
  std::string name;
  std::size_t n;
  ExpmActionStructure structure;
  Complex time;
  double condition;  // Relative condition number of exp at time A, upper bound: ||time A||_2 for normal matrices,
                     // otherwise by hand.
  std::function<Complex(std::size_t, std::size_t)> entry;
};

std::vector<Problem> problems() {
  using enum ExpmActionStructure;
  const auto complex_hermitian = [](double size) {
    return [size](std::size_t i, std::size_t j) {
      const double imaginary = i == j ? 0.0 : (i < j ? 1.0 : -1.0) * uniform(std::min(i, j), std::max(i, j), 8);
      return size / 6.0 * Complex(uniform(std::min(i, j), std::max(i, j), 9), imaginary);
    };
  };
  const auto symmetric = [](double size) {
    return [size](std::size_t i, std::size_t j) {
      return Complex(size / 5.0 * uniform(std::min(i, j), std::max(i, j), 7), 0.0);
    };
  };
  const auto antisymmetric = [](double size) {
    return [size](std::size_t i, std::size_t j) {
      return Complex(i == j ? 0.0 : (i < j ? size : -size) / 5.0 * uniform(std::min(i, j), std::max(i, j), 7), 0.0);
    };
  };
  return {
      {"zero", 5, hermitian, 1.0, 1.0, [](std::size_t, std::size_t) { return Complex(0.0); }},
      {"one by one", 1, general, -1.0, 3.0, [](std::size_t, std::size_t) { return Complex(-2.5, 1.25); }},
      {"real one by one", 1, hermitian, -1.0, 3.0, [](std::size_t, std::size_t) { return Complex(-2.5); }},
      {"rotation", 2, skew_hermitian, 10.0, 10.0,
       [](std::size_t i, std::size_t j) {
         return Complex(i == j ? 0.0 : i < j ? -1.0 : 1.0);
       }},
      {"multiple of I", 6, hermitian, 2.0, 2.0,
       [](std::size_t i, std::size_t j) { return Complex(i == j ? 1.5 : 0.0); }},
      {"symmetric", 24, hermitian, 1.0, 3.0, symmetric(1.0)},
      {"symmetric, decaying", 24, hermitian, -8.0, 20.0, symmetric(1.0)},
      {"symmetric, real beside imaginary", 24, hermitian, Complex(0.0, -30.0), 60.0, symmetric(1.0)},
      {"symmetric, complex time", 24, hermitian, Complex(-1.0, -3.0), 10.0, symmetric(1.0)},
      {"Hermitian", 24, hermitian, Complex(0.0, -1.0), 3.0, complex_hermitian(1.0)},
      {"Hermitian, norm 1000", 16, hermitian, Complex(0.0, -1000.0), 2000.0, complex_hermitian(1.0)},
      {"antisymmetric, norm 100", 23, skew_hermitian, 100.0, 200.0, antisymmetric(1.0)},
      {"random", 24, general, 1.0, 20.0, [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 1)); }},
      {"random complex", 20, general, 1.0, 100.0,
       [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 2), uniform(i, j, 3)); }},
      {"nilpotent", 12, general, 1.0, 100.0,
       [](std::size_t i, std::size_t j) { return Complex(j > i ? 1.0 + uniform(i, j, 4) : 0.0); }},
      {"triangular", 10, general, 1.0, 1e4,
       [](std::size_t i, std::size_t j) {
         return Complex(j > i ? 4.0 : j == i ? -0.5 * static_cast<double>(i) : 0.0);
       }},
      {"triangular, far from normal", 10, general, 1.0, 1e6,
       [](std::size_t i, std::size_t j) {
         return Complex(j == i + 1 ? 1e3 : j == i ? 1.0 : 0.0) * (j == 5 ? 1.0 : 0.1);
       }},
      {"Jordan block", 30, general, 3.0, 60.0,
       [](std::size_t i, std::size_t j) {
         return Complex(i == j ? -0.5 : j == i + 1 ? 1.0 : 0.0);
       }},
  };
}

template <Scalar T> bool fits(const Problem& problem) {
  if (is_complex<T>) {
    return true;
  }
  bool real = problem.time.imag() == 0.0;
  for (std::size_t i = 0; i < problem.n; ++i) {
    for (std::size_t j = 0; j < problem.n; ++j) real = real && problem.entry(i, j).imag() == 0.0;
  }
  return real;
}

template <Scalar T> DistributedMatrix<T> matrix_of(const Communicator& comm, const Problem& problem) {
  const auto n = static_cast<Index>(problem.n);
  const std::size_t extent = comm.rank() == 0 ? problem.n : 0;
  const HostMatrix<T> whole("heddle::test::whole", extent, extent);
  for (std::size_t i = 0; i < extent; ++i) {
    for (std::size_t j = 0; j < extent; ++j) whole(i, j) = narrow<T>(problem.entry(i, j));
  }
  DistributedMatrix<T> A(comm, Placement::column_bands(n, n, comm.size()));
  scatter(whole, 0, A);
  return A;
}

// exp(time A) B for A as rounded to T, in 256 bits.
template <Scalar T> std::vector<Complex> reference(const Problem& problem, const LocalMatrix<T>& B, double& norm) {
  test::WideMatrix wide(problem.n);
  for (std::size_t i = 0; i < problem.n; ++i) {
    for (std::size_t j = 0; j < problem.n; ++j) wide.set(i, j, widen(narrow<T>(problem.entry(i, j))));
  }
  // The product with the time is in 256 bits too.
  test::WideMatrix time(problem.n);
  for (std::size_t i = 0; i < problem.n; ++i) time.set(i, i, problem.time);
  const test::WideMatrix exponential = test::wide_exponential(wide * time);
  norm = exponential.norm1();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B);
  std::vector<Complex> result(problem.n * B.extent(1));
  for (std::size_t c = 0; c < B.extent(1); ++c) {
    for (std::size_t i = 0; i < problem.n; ++i) {
      Complex sum = 0.0;
      for (std::size_t k = 0; k < problem.n; ++k) sum += exponential.get(i, k) * widen(host(k, c));
      result[i + problem.n * c] = sum;
    }
  }
  return result;
}

// The largest error of a column, relative to norm ||column of B||_1.
template <Scalar T>
double error_of(const LocalMatrix<T>& found, const std::vector<Complex>& expected, double norm,
                const LocalMatrix<T>& B) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  const auto given = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B);
  double largest = 0.0;
  for (std::size_t c = 0; c < B.extent(1); ++c) {
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < B.extent(0); ++i) {
      error += std::abs(widen(host(i, c)) - expected[i + B.extent(0) * c]);
      size += std::abs(widen(given(i, c)));
    }
    largest = std::max(largest, error / (norm * size));
  }
  return largest;
}

// The largest error of a column relative to its size, in the 2-norm.
template <Scalar T> double relative_error_of(const LocalMatrix<T>& found, const std::vector<Complex>& expected) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  double largest = 0.0;
  for (std::size_t c = 0; c < found.extent(1); ++c) {
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < found.extent(0); ++i) {
      error += std::norm(widen(host(i, c)) - expected[i + found.extent(0) * c]);
      size += std::norm(widen(host(i, c)));
    }
    if (error > 0.0) largest = std::max(largest, std::sqrt(error / size));
  }
  return largest;
}

std::vector<ExpmActionMethod> methods_for(const Problem& problem) {
  using enum ExpmActionMethod;
  if (problem.condition >= 1e6) {
    // Arnoldi's vectors mix elements of all sizes, so their error is backward stable in the norm alone.
    return {automatic, taylor};
  }
  if (problem.structure == ExpmActionStructure::general) {
    return {automatic, taylor, krylov};
  }
  if (problem.time.real() != 0.0 && problem.time.imag() != 0.0) {
    return {automatic, taylor, krylov};
  }
  return {automatic, taylor, chebyshev, krylov};
}

template <class T> class Action : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Action, test::AllScalars);

TYPED_TEST(Action, AgreesWith256BitsForAnyToleranceByAnyMethod) {
  using T = TypeParam;
  if (this->comm.size() > 2) {
    GTEST_SKIP() << "the bits are those of one rank, as the next test sees";
  }
  for (const Problem& problem : problems()) {
    if (!fits<T>(problem)) {
      continue;
    }
    const auto A = matrix_of<T>(this->comm, problem);
    const auto n = static_cast<Index>(problem.n);
    const LocalMatrix<T> B = block<T>(n, 5);
    const LocalMatrix<T> R("heddle::test::R", B.extent(0), B.extent(1));
    double norm = 0.0;
    const std::vector<Complex> expected = reference<T>(problem, B, norm);
    for (const ExpmActionMethod method : methods_for(problem)) {
      Index last = std::numeric_limits<Index>::max() / 2;
      for (const double tolerance : {0.0, 1e-10, 1e-6, 1e-3}) {
        SCOPED_TRACE(problem.name + ", " + std::string(to_string(method)) + ", " + std::to_string(tolerance));
        ExpmActionPlan<T> plan(this->comm, {.method = method, .structure = problem.structure, .tolerance = tolerance});
        const ExpmActionReport report = plan.execute(problem.time, A, B, R);
        const double cond = std::max(problem.condition, 1.0);
        const double rounding = 50.0 * static_cast<double>(n * unit_roundoff<T>) * cond;
        EXPECT_LE(error_of<T>(R, expected, norm, B), tolerance * cond + rounding)
            << "degree " << report.degree << ", " << report.steps << " steps, by " << to_string(report.method);
        EXPECT_LE(report.truncation, 1.001 * std::max(tolerance, static_cast<double>(unit_roundoff<T>)));
        EXPECT_LE(relative_error_of<T>(R, expected), report.error);
        EXPECT_EQ(report.error_is_bound,
                  problem.structure != ExpmActionStructure::general && report.method != ExpmActionMethod::taylor);
        // Estimates of norms affect `taylor`'s count, and invariant subspaces that rounding leaves affect `krylov`'s.
        EXPECT_LE(report.products, last + last / 2) << "a looser tolerance costs more";
        last = std::max<Index>(report.products, 8);
        if (method != ExpmActionMethod::automatic) {
          EXPECT_EQ(report.method, method);
        }
      }
    }
  }
}

TYPED_TEST(Action, HasTheSameBitsOnAnyNumberOfRanksAndForAnyPlacement) {
  using T = TypeParam;
  const Communicator alone(MPI_COMM_SELF);
  for (const Problem& problem : problems()) {
    if (!fits<T>(problem) || problem.n < 20) {
      continue;
    }
    const auto n = static_cast<Index>(problem.n);
    const LocalMatrix<T> B = block<T>(n, 3);
    for (const ExpmActionMethod method : methods_for(problem)) {
      const auto of = [&](const Communicator& ranks, const DistributedMatrix<T>& A) {
        const LocalMatrix<T> R("heddle::test::R", B.extent(0), B.extent(1));
        Kokkos::deep_copy(R, B);
        const ExpmActionOptions options{.method = method, .structure = problem.structure};
        ExpmActionPlan<T>(ranks, options).execute(problem.time, A, R, R);
        return HostMatrix<T>(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R));
      };
      const HostMatrix<T> whole = gather(matrix_of<T>(this->comm, problem), 0);
      const HostMatrix<T> everywhere("heddle::test::everywhere", problem.n, problem.n);
      if (this->comm.rank() == 0) Kokkos::deep_copy(everywhere, whole);
      this->comm.broadcast(std::span<T>(everywhere.data(), everywhere.size()), 0);
      DistributedMatrix<T> mine(alone, Placement::on_rank(n, n, 0));
      scatter(everywhere, 0, mine);
      const HostMatrix<T> expected = of(alone, mine);
      for (const Placement& placement :
           {Placement::row_bands(n, n, this->comm.size()), Placement::on_rank(n, n, this->comm.size() - 1)}) {
        DistributedMatrix<T> A(this->comm, placement);
        scatter(everywhere, 0, A);
        EXPECT_TRUE(test::same_bits(of(this->comm, A), expected))
            << problem.name << " by " << to_string(method) << ", " << placement.describe();
      }
    }
  }
}

TYPED_TEST(Action, IsTheWholeExponentialTimesTheBlock) {
  using T = TypeParam;
  const Index n = 70;
  const auto A = test::random_matrix<T>(this->comm, Placement::block_cyclic(n, n, 16, 16, 1, this->comm.size()), 3);
  const auto B = test::random_matrix<T>(this->comm, Placement::on_rank(n, 4, this->comm.size() - 1), 4);
  DistributedMatrix<T> R(this->comm, Placement::row_bands(n, 4, this->comm.size()));
  DistributedMatrix<T> E(this->comm, A.placement());
  DistributedMatrix<T> product(this->comm, R.placement());
  expm_action(this->comm, 1.0, A, B, R);
  expm(this->comm, A, E, {.gemm = {.tile = 32}});
  gemm(this->comm, Operation::none, Operation::none, T(1), E, B, T(0), product, {.tile = 32});
  const double size = norm(product, Norm::one);
  add(T(-1), product, R);
  // A random matrix: ||A|| is about n / 2, the condition number is less.
  EXPECT_LE(norm(R, Norm::one), 50.0 * static_cast<double>(n * unit_roundoff<T>) * 20.0 * size);
}

double sine(Index n, Index k, Index i) {
  // Angle reduced below 2 pi, which rounds less.
  return std::sin(std::numbers::pi * static_cast<double>((k + 1) * (i + 1) % (2 * (n + 1))) /
                  static_cast<double>(n + 1));
}
double eigenvalue(Index n, Index k) {
  const double s = std::sin(std::numbers::pi * static_cast<double>(k + 1) / (2.0 * static_cast<double>(n + 1)));
  return 4.0 * s * s;
}

TYPED_TEST(Action, OfAnOperatorFollowsItsEigenvectors) {
  using T = TypeParam;
  const Index n = 300;
  const double factor = 5.0;
  const std::vector<Index> modes = {0, 17, n / 2, n - 1};
  // Each column is a sum of three sines.
  const LocalMatrix<T> B("heddle::test::B", n, modes.size());
  const auto host = Kokkos::create_mirror_view(B);
  const auto modes_of = [&](std::size_t c) { return std::array{modes[c], modes[(c + 1) % modes.size()], Index{60}}; };
  for (std::size_t c = 0; c < modes.size(); ++c) {
    for (Index i = 0; i < n; ++i) {
      double sum = 0.0;
      for (const Index k : modes_of(c)) sum += sine(n, k, i);
      host(i, c) = narrow<T>(sum);
    }
  }
  Kokkos::deep_copy(B, host);
  std::vector<Complex> times = {-0.3, -20.0};
  if (is_complex<T>) times = {-0.3, Complex(0.0, -0.5), Complex(0.0, 60.0)};
  for (const Complex& time : times) {
    for (const ExpmActionMethod method : {ExpmActionMethod::automatic, ExpmActionMethod::taylor,
                                          ExpmActionMethod::chebyshev, ExpmActionMethod::krylov}) {
      const LocalMatrix<T> R("heddle::test::R", n, modes.size());
      ExpmActionPlan<T> plan(this->comm, {.method = method, .structure = ExpmActionStructure::hermitian});
      const ExpmActionReport report = plan.execute(time, second_difference<T>(n, factor), B, R);
      const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R);
      double largest = 0.0;
      for (std::size_t c = 0; c < modes.size(); ++c) {
        for (Index i = 0; i < n; ++i) {
          Complex sum = 0.0;
          for (const Index k : modes_of(c)) sum += std::exp(time * factor * eigenvalue(n, k)) * sine(n, k, i);
          largest = std::max(largest, std::abs(widen(found(i, c)) - sum));
        }
      }
      // ||time A||_2 = 20 |time|; Taylor's terms grow to e^10 at most.
      const double bound = (method == ExpmActionMethod::taylor ? 2000.0 : 40.0) * (20.0 * std::abs(time) + 10.0);
      EXPECT_LE(largest, bound * unit_roundoff<T>)
          << to_string(method) << ", time " << time << ", degree " << report.degree << ", " << report.steps << " steps";
      // At most the products of a series for the half length 10 |time| of the spectrum.
      if (method == ExpmActionMethod::automatic) {
        EXPECT_LE(report.products, 15.0 * std::abs(time) + 60.0) << time;
      }
    }
  }
}

TEST(ActionChoice, TakesLanczosForShortTimesAndChebyshevForLongOnes) {
  using T = Kokkos::complex<double>;
  const Communicator comm = test::world();
  const Index n = 600;
  const LocalMatrix<T> B = block<T>(n, 2);
  const LocalMatrix<T> R("heddle::test::R", n, 2);
  // The spectrum is 0 ... 4, given or found.
  for (const auto& spectrum :
       {std::optional<ExpmActionOptions::Interval>(), std::optional(ExpmActionOptions::Interval{0.0, 4.0})}) {
    ExpmActionPlan<T> plan(comm, {.structure = ExpmActionStructure::hermitian, .spectrum = spectrum});
    const ExpmActionReport brief = plan.execute({0.0, -3.0}, second_difference<T>(n, 1.0), B, R);
    EXPECT_EQ(brief.method, ExpmActionMethod::krylov);
    EXPECT_EQ(brief.steps, 1);
    EXPECT_LE(brief.products, 30);
    const ExpmActionReport lengthy = plan.execute({0.0, -500.0}, second_difference<T>(n, 1.0), B, R);
    EXPECT_EQ(lengthy.method, ExpmActionMethod::chebyshev);
    EXPECT_EQ(lengthy.steps, spectrum ? 1 : 2);
    // Half its length times the time is 1000; a series takes that and about ten cube roots of it; found ends are 1%
    // wider.
    EXPECT_LE(lengthy.products, 1200);
  }
}

TEST(ActionOfRealMatrices, OnComplexVectorsIsThatOfComplexOnes) {
  using T = Kokkos::complex<double>;
  const Communicator comm = test::world();
  for (const Problem& problem : problems()) {
    if (problem.n < 10 || !fits<double>({"", problem.n, problem.structure, 1.0, 1.0, problem.entry})) {
      continue;
    }
    const auto n = static_cast<Index>(problem.n);
    const LocalMatrix<T> B = block<T>(n, 2);
    const LocalMatrix<T> R("heddle::test::R", n, 2);
    double norm = 0.0;
    const std::vector<Complex> expected = reference<T>(problem, B, norm);
    const ExpmActionOptions options{.structure = problem.structure};
    ExpmActionPlan<T>(comm, options).execute(problem.time, matrix_of<double>(comm, problem), B, R);
    EXPECT_LE(error_of<T>(R, expected, norm, B),
              50.0 * static_cast<double>(n) * unit_roundoff<double> * std::max(problem.condition, 1.0))
        << problem.name;
  }
}

}  // namespace
}  // namespace heddle::action_test

// Tests of trsv against MPFR, element by element, and of the quotients that it uses on GPUs.
#include "exact/products/divisor.hpp"
#include "matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/exact/matrix.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace heddle::exact::triangle_test {
namespace {

using Kokkos::complex;

template <class T> class ExactTriangles : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactTriangles, Types);

/// The same system by LayoutLeft or LayoutRight; elements that must not be read are NaN.
template <class T, class Layout> struct System {
  Triangle triangle;
  Operation op;
  Diagonal diagonal;
  Matrix<T, Layout> A;
  Matrix<T> b;

  System(std::size_t n, Triangle which, Operation operation, Diagonal kind)
      : triangle(which), op(operation), diagonal(kind), A(n, n), b(n, 1) {}
  [[nodiscard]] bool lower() const { return (triangle == Triangle::lower) == (op == Operation::none); }
  [[nodiscard]] bool reads(std::size_t i, std::size_t j) const {
    return i == j ? diagonal == Diagonal::stored : (triangle == Triangle::lower) == (j < i);
  }
  template <class F> void fill(const F& element) {
    for (std::size_t i = 0; i < A.host.extent(0); ++i) {
      for (std::size_t j = 0; j < A.host.extent(1); ++j) {
        A.host(i, j) = reads(i, j) ? element(i, j) : T(std::numeric_limits<Real<T>>::quiet_NaN());
      }
    }
    Kokkos::deep_copy(A.device, A.host);
  }
};

/// Checks the definition element by element: one rounding of the inner product, one of the quotient. Divisors are real.
template <class T, class Layout> void expect_right(const System<T, Layout>& system, const std::string& what) {
  const std::size_t n = system.b.host.extent(0);
  Matrix<T> x(n, 1);
  Kokkos::deep_copy(x.device, system.b.host);
  trsv(ExecutionSpace(), system.triangle, system.op, system.diagonal, system.A.device,
       Kokkos::subview(x.device, Kokkos::ALL, 0));
  x.read();
  const bool lower = system.lower();
  for (std::size_t i = 0; i < n; ++i) {
    Expected<T> expected;
    expected.add(system.b.host(i, 0), T(1));
    for (std::size_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) {
      const T element = system.op == Operation::none ? system.A.host(i, j) : system.A.host(j, i);
      expected.add(taken(system.op, element), -x.host(j, 0));
    }
    T quotient = expected.value();
    if (system.diagonal == Diagonal::stored) {
      if constexpr (is_complex<T>) {
        const Real<T> divisor = system.A.host(i, i).real();
        quotient = T(quotient.real() / divisor, quotient.imag() / divisor);
      } else {
        quotient = quotient / system.A.host(i, i);
      }
    }
    ASSERT_EQ(text_of(x.host(i, 0)), text_of(quotient)) << what << ": " << i << " of " << n;
  }
}

/// Calls f(system) for every kind of triangle. Sizes lie below, at and above the blocks of hosts and devices.
template <class T, class Layout, class F> void for_each_system(std::initializer_list<std::size_t> sizes, const F& f) {
  for (const std::size_t n : sizes) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
        for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
          System<T, Layout> system(n, triangle, op, diagonal);
          f(system);
        }
      }
    }
  }
}

TYPED_TEST(ExactTriangles, OfEveryKind) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(2);
  const auto check = [&](auto& system) {
    Matrix<T> off(system.A.host.extent(0), system.A.host.extent(0));
    off.fill(random, Data::tame);
    system.fill([&](std::size_t i, std::size_t j) { return i == j ? T(R(2) + R(i)) : off.host(i, j); });
    system.b.fill(random, Data::tame);
    expect_right(system, "tame");
  };
  for_each_system<T, Kokkos::LayoutLeft>({1, 2, 15, 16, 31, 33, 63, 64, 65, 150}, check);
  for_each_system<T, Kokkos::LayoutRight>({40, 129}, check);
}

// Small integers: sums are exact, many are 0, and many are not after a division by three.
TYPED_TEST(ExactTriangles, WhereSumsAreZero) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(5);
  for_each_system<T, Kokkos::LayoutLeft>({5, 64, 100, 200}, [&](auto& system) {
    system.fill([&](std::size_t i, std::size_t j) {
      return i == j ? T(3) : T(R(static_cast<int>(random() % 3) - 1) * (random() % 8 == 0 ? R(1) : R(0)));
    });
    const std::size_t n = system.b.host.extent(0);
    for (std::size_t i = 0; i < n; ++i) system.b.host(i, 0) = T(0);
    Kokkos::deep_copy(system.b.device, system.b.host);
    expect_right(system, "nothing");
    for (const std::size_t one : {std::size_t{0}, n / 2, n - 1}) {
      system.b.host(one, 0) = T(one % 2 == 0 ? 1 : -1);
      Kokkos::deep_copy(system.b.device, system.b.host);
      expect_right(system, "integers");
    }
  });
}

// Rows that halve the one before: b_i less the sum lies at or beside the midpoint of two numbers.
TYPED_TEST(ExactTriangles, WhereSumsAreTies) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(6);
  const R half_unit = std::numeric_limits<R>::epsilon() / 2;
  for_each_system<T, Kokkos::LayoutLeft>({64, 65, 140}, [&](auto& system) {
    const std::size_t n = system.b.host.extent(0);
    const bool lower = system.lower();
    const std::size_t first = lower ? 0 : n - 1;
    // The first element found is half a unit of 1; others subtract it once, or once and a tiny amount.
    system.fill([&](std::size_t i, std::size_t j) {
      const bool in_first = (system.op == Operation::none ? j : i) == first;
      if (i == j) return T(1);
      if (!in_first) return T(0);
      const int kind = static_cast<int>(random() % 4);
      return T(kind == 0 ? R(1) : kind == 1 ? R(-1) : kind == 2 ? R(1) + half_unit * 2 : R(-1) - half_unit * 2);
    });
    for (std::size_t i = 0; i < n; ++i) {
      system.b.host(i, 0) = i == first ? T(half_unit) : T(R(1) + (random() % 2 == 0 ? R(0) : half_unit * 2));
    }
    Kokkos::deep_copy(system.b.device, system.b.host);
    expect_right(system, "ties");
  });
}

// Quotients over- and underflow; divisors and sums are denormal.
TYPED_TEST(ExactTriangles, AtTheEndsOfTheRange) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(7);
  const int range = std::numeric_limits<R>::max_exponent;
  for_each_system<T, Kokkos::LayoutLeft>({64, 130}, [&](auto& system) {
    // Few elements off the diagonal, so that x does not soon become infinite.
    system.fill([&](std::size_t i, std::size_t j) {
      const R number = std::ldexp(R(1) + std::ldexp(static_cast<R>(random() >> 44), -20),
                                  static_cast<int>(random() % (2 * range)) - range - (i == j ? 20 : 0));
      return i == j || random() % 40 == 0 ? T(random() % 2 == 0 ? number : -number) : T(0);
    });
    system.b.fill(random, Data::any);
    for (std::size_t i = 0; i < system.b.host.extent(0); ++i) {
      if (!std::isfinite(Kokkos::abs(system.b.host(i, 0)))) system.b.host(i, 0) = T(1);
    }
    Kokkos::deep_copy(system.b.device, system.b.host);
    expect_right(system, "any size");
  });
}

TEST(ExactTriangleQuotients, AreThoseOfDivisions) {
  std::mt19937_64 random(8);
  const auto number = [&](int powers) {
    const int kind = static_cast<int>(random() % 4);
    double fraction = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
    // Near a power of two, where quotients have fewest bits to spare, and with few bits, where they are ties or exact.
    if (kind == 0) fraction = 2 - std::ldexp(static_cast<double>(random() % 64 + 1), -52);
    if (kind == 1) fraction = 1 + std::ldexp(static_cast<double>(random() % 64), -52);
    if (kind == 2) fraction = static_cast<double>(random() % 4096 + 1);
    const double value = std::ldexp(fraction, static_cast<int>(random() % (2 * powers)) - powers);
    return random() % 2 == 0 ? value : -value;
  };
  int right = 0;
  for (int trial = 0; trial < 3'000'000; ++trial) {
    const int powers = trial % 3 == 0 ? 1000 : trial % 3 == 1 ? 380 : 2;
    const double divisor = number(powers);
    const double x = number(powers);
    const impl::Divisor by(divisor);
    if (by.is_right(x)) {
      ++right;
      ASSERT_EQ(by.quotient(x), x / divisor) << std::hexfloat << x << " by " << divisor;
    }
  }
  EXPECT_GT(right, 2'000'000);
  // Numbers outside the range are reported.
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double wild : {0.0, -0.0, tiny, 1e-300, 1e300, infinity, std::nan("")}) {
    EXPECT_FALSE(impl::Divisor(1.0).is_right(wild)) << wild;
    EXPECT_FALSE(impl::Divisor(wild).is_right(1.0)) << wild;
  }
}

TEST(ExactTriangleRefinement, FindsTheNearestNumbers) {
  // Diagonally dominant: after refinement every element is within two units of the exact solution's last place.
  std::mt19937_64 random(3);
  const std::size_t n = 200;
  Matrix<double> A(n, n);
  A.fill(random, Data::tame);
  for (std::size_t i = 0; i < n; ++i) {
    A.host(i, i) = 30;
  }
  Kokkos::deep_copy(A.device, A.host);
  Matrix<double> b(n, 1);
  b.fill(random, Data::tame);
  Matrix<double> x(n, 1);
  Kokkos::deep_copy(x.device, b.host);
  trsv(ExecutionSpace(), Triangle::lower, Operation::none, Diagonal::stored, A.device,
       Kokkos::subview(x.device, Kokkos::ALL, 0), 1);
  x.read();
  struct Number {
    mpfr_t value;
  };
  std::vector<Number> exact(n);
  mpfr_t term;
  mpfr_init2(term, 400);
  for (std::size_t i = 0; i < n; ++i) {
    mpfr_init2(exact[i].value, 400);
    mpfr_set_d(exact[i].value, b.host(i, 0), MPFR_RNDN);
    for (std::size_t j = 0; j < i; ++j) {
      mpfr_mul_d(term, exact[j].value, A.host(i, j), MPFR_RNDN);
      mpfr_sub(exact[i].value, exact[i].value, term, MPFR_RNDN);
    }
    mpfr_div_d(exact[i].value, exact[i].value, A.host(i, i), MPFR_RNDN);
    const double nearest = mpfr_get_d(exact[i].value, MPFR_RNDN);
    ASSERT_LE(std::abs(x.host(i, 0) - nearest), std::ldexp(std::abs(nearest), -52)) << i;
  }
  for (Number& number : exact) {
    mpfr_clear(number.value);
  }
  mpfr_clear(term);
}

// Returns x corrected block by block, computed by accumulators.
std::vector<double> blocks_refined(const Matrix<double>& A, const std::vector<double>& b, bool lower, int rounds) {
  const auto n = static_cast<Index>(b.size());
  const auto row = [&](Index position) { return static_cast<std::size_t>(lower ? position : n - 1 - position); };
  std::vector<double> x(b.size());
  // Subtracts the products of row i with the elements of `by` at positions [first, last).
  const auto take = [&](Accumulator<double>& sum, std::size_t i, const std::vector<double>& by, Index first,
                        Index last) {
    for (Index k = first; k < last; ++k) {
      sum.add_product(-A.host(i, row(k)), by[row(k)]);
    }
  };
  for (Index begin = 0; begin < n; begin += trsv_block) {
    const Index end = std::min(n, begin + trsv_block);
    for (Index k = begin; k < end; ++k) {
      Accumulator<double> sum;
      sum.add(b[row(k)]);
      take(sum, row(k), x, 0, k);
      x[row(k)] = sum.value<double>() / A.host(row(k), row(k));
    }
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> correction(b.size());
      for (Index k = begin; k < end; ++k) {
        Accumulator<double> rest;
        rest.add(b[row(k)]);
        take(rest, row(k), x, 0, k + 1);
        Accumulator<double> sum;
        sum.add(rest.value<double>());
        take(sum, row(k), correction, begin, k);
        correction[row(k)] = sum.value<double>() / A.host(row(k), row(k));
      }
      for (Index k = begin; k < end; ++k) {
        x[row(k)] += correction[row(k)];
      }
    }
  }
  return x;
}

TEST(ExactTriangleRefinement, OfBlocksIsThatOfEachBlockBeforeTheNext) {
  if (!test::on_host) {
    GTEST_SKIP() << "blocks are refined on CPUs alone";
  }
  std::mt19937_64 random(5);
  for (const std::size_t n : {1U, 2U, 63U, 64U, 65U, 150U}) {
    for (const bool lower : {true, false}) {
      Matrix<double> A(n, n);
      A.fill(random, Data::tame);
      Matrix<double> b(n, 1);
      b.fill(random, Data::tame);
      const std::vector<double> right(b.host.data(), b.host.data() + n);
      const auto solved = [&](int refinements, int block_refinements, bool by_rows) {
        const Kokkos::View<double**, Kokkos::LayoutRight> rows("rows", n, n);
        Kokkos::deep_copy(rows, A.device);
        Matrix<double> x(n, 1);
        Kokkos::deep_copy(x.device, b.host);
        const auto column = Kokkos::subview(x.device, Kokkos::ALL, 0);
        const auto solve = [&](const auto& matrix) {
          trsv(ExecutionSpace(), lower ? Triangle::lower : Triangle::upper, Operation::none, Diagonal::stored, matrix,
               column, refinements, Algorithm::automatic, block_refinements);
        };
        by_rows ? solve(rows) : solve(A.device);
        x.read();
        return std::vector<double>(x.host.data(), x.host.data() + n);
      };
      for (const int rounds : {0, 1, 2}) {
        const std::vector<double> expected = blocks_refined(A, right, lower, rounds);
        EXPECT_EQ(solved(0, rounds, false), expected) << n << ", " << rounds << (lower ? ", lower" : ", upper");
        EXPECT_EQ(solved(0, rounds, true), expected) << n << ", " << rounds << ", by rows";
        if (static_cast<Index>(n) <= trsv_block) {
          EXPECT_EQ(solved(rounds, 0, false), expected) << n << ", " << rounds << ", of the whole";
        }
      }
    }
  }
}

TEST(ExactTriangleRefinement, OfBlocksRefusesWhatHasNone) {
  Matrix<double> A(2, 2);
  Matrix<double> x(2, 1);
  const auto column = Kokkos::subview(x.device, Kokkos::ALL, 0);
  const auto solve = [&](Algorithm algorithm, int refinements, int block_refinements) {
    trsv(ExecutionSpace(), Triangle::lower, Operation::none, Diagonal::unit, A.device, column, refinements, algorithm,
         block_refinements);
  };
  EXPECT_THROW(solve(Algorithm::plain, 0, 1), Error);
  EXPECT_THROW(solve(Algorithm::automatic, 0, -1), Error);
  EXPECT_THROW(solve(Algorithm::automatic, -1, 0), Error);
}

}  // namespace
}  // namespace heddle::exact::triangle_test

// Tests of elementwise operations and complex quotients against MPFR.
#include "matrices.hpp"
#include "support/errors.hpp"
#include <heddle/exact/vector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace heddle::exact::vector_test {
namespace {

using Kokkos::complex;

template <class T> class ExactVectors : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactVectors, Types);

template <class T> auto column(const Matrix<T>& x) {
  return Kokkos::subview(x.device, Kokkos::ALL, 0);
}

TYPED_TEST(ExactVectors, ProductsAndSumsAreRoundedOnce) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (const Data data : {Data::tame, Data::spread, Data::any}) {
    for (const std::size_t n : {0U, 1U, 9000U}) {
      Matrix<T> x(n, 1);
      Matrix<T> y(n, 1);
      Matrix<T> z(n, 1);
      x.fill(random, data);
      y.fill(random, data);
      const T alpha = number<T>(random, data);
      for (std::size_t i = 0; i < n; i += 3) {
        // Sums that cancel except for a rounding.
        y.host(i, 0) = -(alpha * x.host(i, 0));
        if (!std::isfinite(static_cast<double>(Kokkos::abs(y.host(i, 0))))) {
          y.host(i, 0) = T(1);
        }
      }
      Kokkos::deep_copy(y.device, y.host);
      Kokkos::deep_copy(z.device, y.device);
      axpy(ExecutionSpace(), alpha, column(x), column(z));
      z.read();
      Matrix<T> scaled(n, 1);
      Kokkos::deep_copy(scaled.device, x.device);
      scal(ExecutionSpace(), alpha, column(scaled));
      scaled.read();
      for (std::size_t i = 0; i < n; ++i) {
        Expected<T> product;
        product.add(alpha, x.host(i, 0));
        ASSERT_EQ(text_of(scaled.host(i, 0)), product.text()) << i;
        product.add(y.host(i, 0), T(1));
        ASSERT_EQ(text_of(z.host(i, 0)), product.text()) << i;
      }
    }
  }
  Matrix<T> two(2, 1);
  Matrix<T> three(3, 1);
  test::expect_refusal(ErrorKind::argument, "exact::axpy: vectors of 2 and 3 elements",
                       [&] { axpy(ExecutionSpace(), T(1), column(two), column(three)); });
}

// Each element is the quotient of the parts, rounded once; for real numbers it is IEEE's.
template <class T> void check_quotients(const Matrix<T>& x, const T& alpha) {
  const std::size_t n = x.host.extent(0);
  Matrix<T> y(n, 1);
  Kokkos::deep_copy(y.device, x.device);
  invscal(ExecutionSpace(), alpha, column(y));
  y.read();
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (is_complex<T>) {
      ASSERT_EQ(text_of(y.host(i, 0)), expected_quotient(x.host(i, 0), alpha)) << x.host(i, 0) << " / " << alpha;
    } else {
      ASSERT_EQ(shown(y.host(i, 0)), shown(x.host(i, 0) / alpha)) << x.host(i, 0) << " / " << alpha;
    }
  }
}

TYPED_TEST(ExactVectors, QuotientsAreRoundedOnce) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  const std::array kinds = {Data::tame, Data::spread, Data::any, Data::denormal, Data::huge};
  for (const Data above : kinds) {
    Matrix<T> x(100, 1);
    x.fill(random, above);
    for (const Data below : kinds) {
      for (int run = 0; run < 8; ++run) {
        check_quotients(x, number<T>(random, below));
      }
    }
  }
}

template <class T> class ExactQuotients : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExactQuotients, Reals);

template <class R> struct Limits {
  static constexpr int smallest = sizeof(R) == 8 ? -1074 : -149;
  static constexpr int most = sizeof(R) == 8 ? 1023 : 127;
  static R power(int exponent) { return static_cast<R>(std::ldexp(1.0, exponent)); }
};

// All critical numbers as parts, in every combination.
TYPED_TEST(ExactQuotients, OfNumbersFromOneEndToTheOther) {
  using R = TypeParam;
  using L = Limits<R>;
  const R max = largest<R>();
  const R tiny = smallest<R>();
  const R near_one = R(1) + std::numeric_limits<R>::epsilon();
  std::vector<R> parts = {R(0), R(1), R(3), near_one, tiny, 3 * tiny, 7 * tiny, max, max / 2};
  parts.push_back(L::power(L::smallest + 5) + tiny);
  parts.push_back(std::numeric_limits<R>::min());
  parts.push_back(std::numeric_limits<R>::min() - tiny);
  parts.push_back(near_one * L::power(L::most));
  parts.push_back(near_one * L::power(L::most / 2));
  parts.push_back(near_one * L::power(-L::most / 2));
  const std::size_t count = parts.size();
  for (std::size_t k = 0; k < count; ++k) {
    parts.push_back(-parts[k]);
  }
  Matrix<complex<R>> x(parts.size() * count, 1);
  for (std::size_t k = 0; k < parts.size() * count; ++k) {
    x.host(k, 0) = complex<R>(parts[k % parts.size()], parts[k / parts.size()]);
  }
  Kokkos::deep_copy(x.device, x.host);
  // One quotient in seven, which covers every part.
  for (std::size_t k = 0; k < parts.size() * count; k += 7) {
    const complex<R> alpha(parts[k % parts.size()], parts[k / parts.size()]);
    if (alpha != complex<R>(0)) {
      check_quotients(x, alpha);
    }
  }
}

// Quotients halfway between two numbers, denormal or normal, or next to that.
TYPED_TEST(ExactQuotients, AtTies) {
  using R = TypeParam;
  using L = Limits<R>;
  std::mt19937_64 random(3);
  const auto whole = [&](int bits) { return static_cast<R>(static_cast<double>(random() >> (64 - bits))); };
  constexpr int bits = (std::numeric_limits<R>::digits - 6) / 2;
  for (int run = 0; run < 15; ++run) {
    // x = q y in integers, so that x / y is q; scaled to halves, quarters and eighths of the smallest number.
    const R c = whole(3) + 1;
    const R d = whole(3) + 1;
    for (const int y_power : {30, L::most - 8}) {
      for (int places = 0; places < 4; ++places) {
        const R by = L::power(L::smallest - places + y_power);
        Matrix<complex<R>> x(64, 1);
        for (std::size_t k = 0; k < 64; ++k) {
          const R re = whole(bits);
          const R im = whole(bits) - whole(bits);
          x.host(k, 0) = complex<R>((re * c - im * d) * by, (re * d + im * c) * by);
        }
        Kokkos::deep_copy(x.device, x.host);
        check_quotients(x, complex<R>(c * L::power(y_power), d * L::power(y_power)));
      }
    }
  }
  // Divided by 1 + i: half the sums of the parts, which have a bit too many.
  Matrix<complex<R>> x(1000, 1);
  for (std::size_t k = 0; k < 1000; ++k) {
    x.host(k, 0) = complex<R>(R(1) + whole(20) * std::numeric_limits<R>::epsilon(),
                              R(0.5) + whole(20) * std::numeric_limits<R>::epsilon() / 2);
  }
  Kokkos::deep_copy(x.device, x.host);
  check_quotients(x, complex<R>(1, 1));
  check_quotients(x, complex<R>(L::power(L::most), -L::power(L::most)));
  check_quotients(x, complex<R>(L::power(L::smallest), L::power(L::smallest)));
}

// One part of the numerator is zero, or nearly: ac + bd or bc - ad.
TYPED_TEST(ExactQuotients, WherePartsCancel) {
  using R = TypeParam;
  using L = Limits<R>;
  std::mt19937_64 random(4);
  for (int run = 0; run < 400; ++run) {
    const R c = real_number<R>(random, Data::tame);
    const R d = real_number<R>(random, Data::tame);
    const int power = static_cast<int>(random() % static_cast<unsigned>(2 * L::most)) - L::most;
    const R by = L::power(power);
    Matrix<complex<R>> x(6, 1);
    // i and -1 times y, times a power of two, and their neighbours.
    x.host(0, 0) = complex<R>(-d * by, c * by);
    x.host(1, 0) = complex<R>(-c * by, -d * by);
    x.host(2, 0) = complex<R>(std::nextafter(-d * by, R(0)), c * by);
    x.host(3, 0) = complex<R>(-d * by, std::nextafter(c * by, R(0)));
    x.host(4, 0) = complex<R>(std::nextafter(c * by, R(0)), d * by);
    x.host(5, 0) = complex<R>(c * by, std::nextafter(d * by, R(0)));
    Kokkos::deep_copy(x.device, x.host);
    check_quotients(x, complex<R>(c, d));
    check_quotients(x, complex<R>(c * L::power(L::most), d * L::power(L::most)));
    check_quotients(x, complex<R>(c * L::power(L::smallest + 30), d * L::power(L::smallest + 30)));
  }
}

TYPED_TEST(ExactQuotients, ZerosInfinitiesAndNaNs) {
  using R = TypeParam;
  using C = complex<R>;
  const R inf = infinite<R>();
  const R nan = std::numeric_limits<R>::quiet_NaN();
  const auto text = [](const C& x) { return shown(x.real()) + ' ' + shown(x.imag()); };
  const auto quotient = [&](const C& x, const C& y) {
    Matrix<C> one(1, 1);
    one.host(0, 0) = x;
    Kokkos::deep_copy(one.device, one.host);
    invscal(ExecutionSpace(), y, column(one));
    one.read();
    return text(one.host(0, 0));
  };
  // Divided by real and by imaginary numbers.
  EXPECT_EQ(quotient(C(-1, 0), C(0, 0)), text(C(-inf, nan)));
  EXPECT_EQ(quotient(C(1, 2), C(-R(0), 0)), text(C(-inf, -inf)));
  EXPECT_EQ(quotient(C(0, -0.0F), C(-2, 0)), text(C(-R(0), 0)));
  EXPECT_EQ(quotient(C(1, 2), C(0, 2)), text(C(1, -R(0.5))));
  EXPECT_EQ(quotient(C(1, 2), C(inf, 0)), text(C(0, 0)));
  // Zeros with the signs of the sums.
  EXPECT_EQ(quotient(C(0, 0), C(1, 1)), text(C(0, 0)));
  EXPECT_EQ(quotient(C(-R(0), -R(0)), C(1, 1)), text(C(-R(0), 0)));
  EXPECT_EQ(quotient(C(1, 1), C(1, -1)), text(C(0, 1)));
  EXPECT_EQ(quotient(C(smallest<R>(), 0), C(-largest<R>(), 1)), text(C(-R(0), -R(0))));
  // Infinite numbers.
  EXPECT_EQ(quotient(C(inf, 1), C(1, 1)), text(C(inf, -inf)));
  EXPECT_EQ(quotient(C(largest<R>(), -inf), C(2, largest<R>())), text(C(-inf, -inf)));
  EXPECT_EQ(quotient(C(inf, inf), C(1, 1)), text(C(inf, nan)));
  EXPECT_EQ(quotient(C(3, -4), C(inf, 1)), text(C(0, -R(0))));
  EXPECT_EQ(quotient(C(largest<R>(), largest<R>()), C(inf, inf)), text(C(0, 0)));
  EXPECT_EQ(quotient(C(inf, 1), C(inf, 1)), text(C(nan, nan)));
  EXPECT_EQ(quotient(C(inf, 1), C(1, -inf)), text(C(nan, nan)));
  // NaNs give NaNs.
  EXPECT_EQ(quotient(C(nan, 1), C(1, 1)), text(C(nan, nan)));
  EXPECT_EQ(quotient(C(1, 1), C(nan, inf)), text(C(nan, nan)));
  EXPECT_EQ(quotient(C(1, 1), C(1, nan)), text(C(nan, nan)));
}

}  // namespace
}  // namespace heddle::exact::vector_test

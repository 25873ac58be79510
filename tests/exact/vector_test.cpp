#include "matrices.hpp"
#include <heddle/exact/vector.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heddle::exact {
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
        // What cancels but for its rounding.
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
  EXPECT_THROW(axpy(ExecutionSpace(), T(1), column(two), column(three)), Error);
}

// A quotient's product with the divisor is within a few roundings of the dividend; of real numbers it is IEEE's.
TYPED_TEST(ExactVectors, QuotientsAreDivisions) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(2);
  const std::size_t n = 5000;
  Matrix<T> x(n, 1);
  x.fill(random, Data::spread);
  for (int run = 0; run < 5; ++run) {
    const T alpha = number<T>(random, Data::spread);
    Matrix<T> y(n, 1);
    Kokkos::deep_copy(y.device, x.device);
    invscal(ExecutionSpace(), alpha, column(y));
    y.read();
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (is_complex<T>) {
        // In long double, each part to two units of its last place.
        const auto re = static_cast<long double>(alpha.real());
        const auto im = static_cast<long double>(alpha.imag());
        const long double size = re * re + im * im;
        const T value = x.host(i, 0);
        const auto expected_re = static_cast<R>((value.real() * re + value.imag() * im) / size);
        const auto expected_im = static_cast<R>((value.imag() * re - value.real() * im) / size);
        if constexpr (sizeof(R) == 4) {
          ASSERT_LE(std::abs(y.host(i, 0).real() - expected_re),
                    2 * std::numeric_limits<R>::epsilon() * std::abs(expected_re));
          ASSERT_LE(std::abs(y.host(i, 0).imag() - expected_im),
                    2 * std::numeric_limits<R>::epsilon() * std::abs(expected_im));
        } else {
          ASSERT_LE(std::abs(y.host(i, 0).real() - expected_re),
                    1e-14 * std::abs(expected_re) + 1e-18 * std::abs(expected_im));
        }
      } else {
        ASSERT_EQ(shown(y.host(i, 0)), shown(x.host(i, 0) / alpha));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::exact

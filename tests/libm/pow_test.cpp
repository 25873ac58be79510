// pow and powf against MPFR: random arguments, results near 1 and at the ends of the range, and exact cases and ties.
#include "libm/oracle.hpp"

namespace heddle::libm::test {
namespace {

template <class Real> class PowTest : public ::testing::Test {
 protected:
  void check(Real x, Real y) {
    const Real found = libm::pow(x, y);
    const Real expected = oracle_(mpfr_pow, x, y);
    ++checked_;
    if (same(found, expected)) return;
    if (++wrong_ < 10)
      ADD_FAILURE() << "pow(" << hex(x) << ", " << hex(y) << ") = " << hex(found) << ", not " << hex(expected);
  }
  Real any(std::mt19937_64& random) { return std::bit_cast<Real>(static_cast<BitsOf<Real>>(random())); }
  Oracle<Real> oracle_;
  int checked_ = 0;
  int wrong_ = 0;
};

using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(PowTest, Reals);

TYPED_TEST(PowTest, RandomArguments) {
  using Real = TypeParam;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  constexpr double widest = sizeof(Real) == 8 ? 745 : 103;
  for (int i = 0; i < 30000; ++i) {
    this->check(this->any(random), this->any(random));
    // x of any exponent, and y for a result in the range.
    const Real x = std::abs(this->any(random));
    const double log = std::log(static_cast<double>(x));
    this->check(x, static_cast<Real>((unit(random) * 2 - 1) * widest * 1.01 / log));
    this->check(x, static_cast<Real>((unit(random) * 2 - 1) / log));
    this->check(static_cast<Real>(unit(random) * 10), static_cast<Real>(unit(random) * 20 - 10));
    const Real near = static_cast<Real>(1 + (unit(random) - 0.5) * std::exp2(-50 * unit(random)));
    this->check(near, static_cast<Real>((unit(random) * 2 - 1) * widest / std::log(static_cast<double>(near))));
    this->check(-x, static_cast<Real>(static_cast<int>(unit(random) * 100) - 50));
  }
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

TYPED_TEST(PowTest, ExactCasesAndTies) {
  using Real = TypeParam;
  for (int m = 1; m < 3000; m += m < 200 ? 1 : 7) {
    for (int n = -8; n <= 40; ++n) {
      for (const int power : {0, 1, -3, 16, -120}) {
        const Real x = static_cast<Real>(std::ldexp(m, power));
        this->check(x, static_cast<Real>(n));
        this->check(-x, static_cast<Real>(n));
        const Real square = x * x;
        this->check(square, static_cast<Real>(n) / 2);
        this->check(std::nextafter(square, Real(0)), static_cast<Real>(n) / 2);
        this->check(square * square, static_cast<Real>(n) / 4);
        this->check(x, static_cast<Real>(n) / 3);
      }
    }
  }
  std::mt19937_64 random(4);
  constexpr int digits = std::numeric_limits<Real>::digits;
  for (int i = 0; i < 20000; ++i) {  // squares of digits + 1 bits are ties
    const auto root = static_cast<Real>((random() >> (64 - (digits / 2 + 1))) | 1);
    this->check(root, Real(2));
    this->check(root / 64, Real(2));
    this->check(root * root, Real(0.5));
    this->check(root * root, Real(-0.5));
    this->check(std::ldexp(root, -digits * 10), Real(3));
  }
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

TYPED_TEST(PowTest, EndsOfTheRange) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  const int least = Limits::min_exponent - Limits::digits;
  for (int k = -3000; k <= 3000; ++k) this->check(Real(2), static_cast<Real>(k) / 2);
  for (int k = -6000; k <= 6000; ++k) this->check(Real(0.25), static_cast<Real>(k) / 8);
  for (int root : {1, 3, 5, 7, 9, 11, 13, 15}) {
    for (int power = least / 2 - 40; power < least / 2 + 40; ++power) {
      this->check(std::ldexp(static_cast<Real>(root), power), Real(2));  // ties of subnormals
      this->check(std::ldexp(static_cast<Real>(root), power + 1), Real(2));
    }
  }
  for (const Real x : {Limits::denorm_min(), Limits::min(), Limits::max(), Real(3) * Limits::denorm_min()}) {
    for (const double y : {1.0, -1.0, 0.5, -0.5, 0.25, 2.0, 1 / 3.0, 0.999, 1.001, 1e-30, -1e-40}) {
      this->check(x, static_cast<Real>(y));
    }
  }
  const Real above = std::nextafter(Real(1), Real(2));
  const Real below = std::nextafter(Real(1), Real(0));
  for (const Real x : {above, below, -above, -below}) {
    for (int k = 0; k < 1000; ++k) this->check(x, std::ldexp(Real(1) + static_cast<Real>(k) / 1024, k % 130));
  }
  EXPECT_EQ(this->wrong_, 0) << this->checked_;
}

}  // namespace
}  // namespace heddle::libm::test

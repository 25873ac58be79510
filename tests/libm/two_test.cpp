// atan2 and hypot against MPFR, and sincos against sin and cos.
#include "libm/oracle.hpp"

#include <cerrno>
#include <cfenv>

namespace heddle::libm::test {
namespace {

template <class Real> class TwoTest : public ::testing::Test {
 protected:
  void check(Real x, Real y) {
    compare("atan2", libm::atan2(x, y), oracle_(mpfr_atan2, x, y), x, y);
    compare("hypot", libm::hypot(x, y), oracle_(mpfr_hypot, x, y), x, y);
  }
  void check_signs(Real x, Real y) {
    check(x, y);
    check(y, x);
    check(-x, y);
    check(x, -y);
    check(-y, -x);
  }
  void compare(const char* name, Real found, Real expected, Real x, Real y) {
    if (same(found, expected)) return;
    if (++wrong_ < 10) {
      ADD_FAILURE() << name << "(" << hex(x) << ", " << hex(y) << ") = " << hex(found) << ", not " << hex(expected);
    }
  }
  Real any(std::mt19937_64& random) { return std::bit_cast<Real>(static_cast<BitsOf<Real>>(random())); }
  Oracle<Real> oracle_;
  int wrong_ = 0;
};

using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(TwoTest, Reals);

TYPED_TEST(TwoTest, RandomArguments) {
  using Real = TypeParam;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    this->check(this->any(random), this->any(random));
    this->check(static_cast<Real>(unit(random)), static_cast<Real>(unit(random)));
    const Real x = this->any(random);
    if (!std::isfinite(x)) continue;
    this->check(x, std::ldexp(x * static_cast<Real>(unit(random)), static_cast<int>(random() % 140) - 70));
  }
  EXPECT_EQ(this->wrong_, 0);
}

TYPED_TEST(TwoTest, ExactCasesAndTies) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  for (int a = 1; a < 60; ++a) {
    for (int b = 1; b < a; ++b) {
      const Real legs[2] = {static_cast<Real>(a * a - b * b), static_cast<Real>(2 * a * b)};
      for (const int power :
           {0, Limits::min_exponent - Limits::digits, Limits::min_exponent - 8, Limits::max_exponent - 12}) {
        this->check_signs(std::ldexp(legs[0], power), std::ldexp(legs[1], power));
        this->check_signs(std::nextafter(std::ldexp(legs[0], power), Real(0)), std::ldexp(legs[1], power));
      }
      this->check_signs(std::ldexp(static_cast<Real>(a), Limits::min_exponent - Limits::digits), static_cast<Real>(b));
      this->check_signs(std::ldexp(static_cast<Real>(a), Limits::min_exponent), std::ldexp(static_cast<Real>(1), b));
    }
  }
  // Hypotenuses of digits + 1 bits: m^2 + n^2 odd, legs of at most digits bits.
  std::mt19937_64 random(6);
  const int half = Limits::digits / 2;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t m = (random() >> (64 - half)) | (std::uint64_t{1} << half);
    const std::uint64_t n = (random() >> (64 - half - 1)) | 1;
    if (m == n) continue;
    const std::uint64_t large = m > n ? m : n;
    const std::uint64_t small = m > n ? n : m;
    this->check(static_cast<Real>(large * large - small * small), static_cast<Real>(2 * large * small));
  }
  EXPECT_EQ(this->wrong_, 0);
}

TYPED_TEST(TwoTest, SpecialValues) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  const Real values[] = {0, 1, Limits::infinity(), Limits::max(), Limits::min(), Limits::denorm_min(), Real(0.7)};
  for (const Real x : values) {
    for (const Real y : values) this->check_signs(x, y);
    this->check_signs(x, Limits::quiet_NaN());
  }
  const auto flags = [](auto call) {
    std::feclearexcept(FE_ALL_EXCEPT);
    errno = 0;
    volatile Real value = call();
    static_cast<void>(value);
    return std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW) + 1000 * errno;
  };
  const Real least = Limits::denorm_min();
  const Real most = Limits::max();
  EXPECT_EQ(flags([&] { return libm::hypot(most, most); }), FE_OVERFLOW + 1000 * ERANGE);
  EXPECT_EQ(flags([&] { return libm::hypot(3 * least, 4 * least); }), 0);
  EXPECT_EQ(flags([&] { return libm::hypot(3 * least, 5 * least); }), FE_UNDERFLOW);
  EXPECT_EQ(flags([&] { return libm::hypot(most / 4, least); }), 0);
  EXPECT_EQ(flags([&] { return libm::hypot(Limits::quiet_NaN(), most); }), 0);
  EXPECT_EQ(flags([&] { return libm::atan2(least, most); }), FE_UNDERFLOW + 1000 * ERANGE);
  EXPECT_EQ(flags([&] { return libm::atan2(least, Real(1)); }), FE_UNDERFLOW);
  EXPECT_EQ(flags([&] { return libm::atan2(least, Real(-1)); }), 0);
  EXPECT_EQ(flags([&] { return libm::atan2(most, least); }), 0);
  EXPECT_EQ(flags([&] { return libm::atan2(Real(0), Real(0)); }), 0);
  EXPECT_EQ(flags([&] { return libm::atan2(Real(1), Limits::infinity()); }), 0);
  EXPECT_EQ(flags([&] { return libm::atan2(Limits::quiet_NaN(), Real(1)); }), 0);
  EXPECT_EQ(this->wrong_, 0);
}

TYPED_TEST(TwoTest, SinesAndCosinesTogether) {
  using Real = TypeParam;
  std::mt19937_64 random(8);
  for (int i = 0; i < 200000; ++i) {
    const Real x = i % 2 == 0 ? this->any(random) : std::ldexp(this->any(random), -1000);
    Real sine = 0;
    Real cosine = 0;
    libm::sincos(x, &sine, &cosine);
    this->compare("sine", sine, libm::sin(x), x, x);
    this->compare("cosine", cosine, libm::cos(x), x, x);
  }
  EXPECT_EQ(this->wrong_, 0);
}

}  // namespace
}  // namespace heddle::libm::test

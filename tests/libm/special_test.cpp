// Special values, flags and errno, as C23's Annex F and the GNU C library have them.
#include "libm/oracle.hpp"

#include <cerrno>
#include <cfenv>
#include <stdexcept>

namespace heddle::libm::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least = std::numeric_limits<double>::denorm_min();
constexpr int none = 0;

struct Outcome {
  double value;
  int flags;  // but for inexact
  int error;
};

template <class Real, class... Arguments>
Outcome observe(Real (*function)(Arguments...), std::type_identity_t<Arguments>... arguments) {
  std::feclearexcept(FE_ALL_EXCEPT);
  errno = 0;
  volatile Real value = function(arguments...);
  const int flags = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
  return {static_cast<double>(value), flags, errno};
}

void expect(const std::string& what, const Outcome& found, double value, int flags, int error) {
  EXPECT_TRUE(same(found.value, value)) << what << " = " << hex(found.value) << ", not " << hex(value);
  EXPECT_EQ(found.flags, flags) << what;
  EXPECT_EQ(found.error, error) << what;
}

using Double = double (*)(double);
using Float = float (*)(float);
using DoubleTwo = double (*)(double, double);
using FloatTwo = float (*)(float, float);

struct Case {
  const char* name;
  double x;
  double value;
  int flags;
  int error;
};

const One& function_named(const std::string& name) {
  static const std::vector<One> all = functions_of_one();
  for (const One& f : all) {
    if (f.name == name) return f;
  }
  throw std::runtime_error(name);
}

TEST(Special, ValuesOfBothTypes) {
  const Case cases[] = {
#include "libm/special_cases.inc"
  };
  for (const Case& one : cases) {
    const One& f = function_named(one.name);
    const std::string call = std::string(one.name) + "(" + hex(one.x) + ")";
    expect(call, observe(f.wide, one.x), one.value, one.flags, one.error);
    expect(call + "f", observe(f.narrow, static_cast<float>(one.x)), one.value, one.flags, one.error);
  }
}

// NaN stays NaN without a flag, unless it is a signalling one.
TEST(Special, NotANumber) {
  const double signalling = std::bit_cast<double>(0x7ff0000000000001ULL);
  for (const One& f : functions_of_one()) {
    for (const double x : {nan, -nan}) {
      expect(f.name, observe(f.wide, x), nan, none, 0);
      expect(f.name, observe(f.narrow, static_cast<float>(x)), nan, none, 0);
    }
    expect(f.name, observe(f.wide, signalling), nan, FE_INVALID, 0);
    expect(f.name, observe(f.narrow, std::bit_cast<float>(0x7f800001U)), nan, FE_INVALID, 0);
  }
}

// Overflow is raised if the result is infinite (at a pole, division by zero), underflow if it is subnormal or zero and
// not exact, nothing else for finite arguments in the domain; errno is ERANGE if the result is infinite or an underflow
// to zero.
template <class Real> void check_flags(const One& f, Real (*function)(Real), Real x, Oracle<Real>& oracle) {
  const Outcome found = observe(function, x);
  const double magnitude = std::abs(found.value);
  if (std::isnan(found.value) || x == 0 || std::isinf(x)) return;
  const std::string call = std::string(f.name) + "(" + hex(x) + ")";
  const bool tiny = magnitude < static_cast<double>(std::numeric_limits<Real>::min()) && !oracle.exact();
  const bool pole = std::string(f.name) == "lgamma" && x < 0 && x == std::floor(x);
  const int infinite = pole ? FE_DIVBYZERO : FE_OVERFLOW;
  EXPECT_EQ(found.flags & ~FE_UNDERFLOW, std::isinf(found.value) ? infinite : none) << call;
  if (magnitude != static_cast<double>(std::numeric_limits<Real>::min())) {
    EXPECT_EQ((found.flags & FE_UNDERFLOW) != 0, tiny) << call;
  }
  EXPECT_EQ(found.error, std::isinf(found.value) || (tiny && magnitude == 0) ? ERANGE : 0) << call;
}

TEST(Special, FlagsOfRandomArguments) {
  std::mt19937_64 random(7);
  Oracle<double> oracle;
  Oracle<float> narrow_oracle;
  for (const One& f : functions_of_one()) {
    std::uniform_real_distribution<double> usual(f.lowest, f.highest);
    for (int i = 0; i < 4000; ++i) {
      for (const double x : {std::bit_cast<double>(random()), usual(random), std::ldexp(usual(random), -1040)}) {
        oracle(f.exact, x);
        check_flags<double>(f, f.wide, x, oracle);
      }
      for (const float x : {std::bit_cast<float>(static_cast<std::uint32_t>(random())),
                            static_cast<float>(std::ldexp(usual(random), -130)), static_cast<float>(usual(random))}) {
        narrow_oracle(f.exact, x);
        check_flags<float>(f, f.narrow, x, narrow_oracle);
      }
    }
  }
}

struct CaseTwo {
  double x;
  double y;
  double value;
  int flags;
  int error;
};

TEST(Special, Powers) {
  const CaseTwo cases[] = {
      {0, 3, 0, none, 0},
      {-0.0, 3, -0.0, none, 0},
      {-0.0, 2, 0, none, 0},
      {-0.0, 0.5, 0, none, 0},
      {0, -3, inf, FE_DIVBYZERO, ERANGE},
      {-0.0, -3, -inf, FE_DIVBYZERO, ERANGE},
      {-0.0, -2, inf, FE_DIVBYZERO, ERANGE},
      {-0.0, -0.5, inf, FE_DIVBYZERO, ERANGE},
      {0, inf, 0, none, 0},
      {-1, inf, 1, none, 0},
      {-1, -inf, 1, none, 0},
      {1, nan, 1, none, 0},
      {nan, 0, 1, none, 0},
      {nan, -0.0, 1, none, 0},
      {1, inf, 1, none, 0},
      {nan, 1, nan, none, 0},
      {2, nan, nan, none, 0},
      {-2, 0.5, nan, FE_INVALID, EDOM},
      {0.5, -inf, inf, none, 0},
      {2, -inf, 0, none, 0},
      {0.5, inf, 0, none, 0},
      {2, inf, inf, none, 0},
      {-2, inf, inf, none, 0},
      {-0.5, inf, 0, none, 0},
      {-inf, -3, -0.0, none, 0},
      {-inf, -2, 0, none, 0},
      {-inf, -0.5, 0, none, 0},
      {-inf, 3, -inf, none, 0},
      {-inf, 2, inf, none, 0},
      {-inf, 0.5, inf, none, 0},
      {inf, -1, 0, none, 0},
      {inf, 1, inf, none, 0},
      {0, -inf, inf, none, 0},
      {-3, 3, -27, none, 0},
      {1e30, 1e30, inf, FE_OVERFLOW, ERANGE},
      {1e30, -1e30, 0, FE_UNDERFLOW, ERANGE},
      {-1e30, 1e30, inf, FE_OVERFLOW, ERANGE},
      {-2, 20001, -inf, FE_OVERFLOW, ERANGE},
      {-2, -20001, -0.0, FE_UNDERFLOW, ERANGE},
      {-1, 1e30, 1, none, 0},
      {-1, 3, -1, none, 0},
      {2, -0.0, 1, none, 0},
      {-2, -3, -0.125, none, 0},
  };
  for (const CaseTwo& one : cases) {
    const std::string call = "pow(" + hex(one.x) + ", " + hex(one.y) + ")";
    expect(call, observe(static_cast<DoubleTwo>(libm::pow), one.x, one.y), one.value, one.flags, one.error);
    expect(call + "f", observe(static_cast<FloatTwo>(libm::pow), static_cast<float>(one.x), static_cast<float>(one.y)),
           one.value, one.flags, one.error);
  }
  const auto power = static_cast<DoubleTwo>(libm::pow);
  expect("subnormal", observe(power, 2, -1074), least, none, 0);
  expect("rounded subnormal", observe(power, 3, -676), std::pow(3.0, -676), FE_UNDERFLOW, 0);
  expect("tie", observe(power, 2, -1075), 0, FE_UNDERFLOW, ERANGE);
}

}  // namespace
}  // namespace heddle::libm::test

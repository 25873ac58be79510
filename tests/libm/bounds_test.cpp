// Errors of the fast paths, as pairs of doubles, against the bounds that their rounding tests rely on.
#include "libm/arctangent.hpp"
#include "libm/exponentials.hpp"
#include "libm/logarithms.hpp"
#include "libm/oracle.hpp"
#include "libm/trigonometric.hpp"

#include <algorithm>

namespace heddle::libm::test {
namespace {

/// The largest error of pairs, relative to the exact value, as a power of two.
class Largest {
 public:
  Largest() {
    mpfr_init2(x_, 300);
    mpfr_init2(exact_, 300);
    mpfr_init2(found_, 300);
  }
  Largest(const Largest&) = delete;
  Largest& operator=(const Largest&) = delete;
  ~Largest() {
    mpfr_clear(x_);
    mpfr_clear(exact_);
    mpfr_clear(found_);
  }
  void add(Compute compute, double x, Pair found, std::int64_t power = 0) {
    mpfr_set_emin(-5000);
    mpfr_set_emax(5000);
    mpfr_set_d(x_, x, MPFR_RNDN);
    compute(exact_, x_, MPFR_RNDN);
    mpfr_set_d(found_, found.high, MPFR_RNDN);
    mpfr_add_d(found_, found_, found.low, MPFR_RNDN);
    mpfr_mul_2si(found_, found_, power, MPFR_RNDN);
    mpfr_sub(found_, found_, exact_, MPFR_RNDN);
    mpfr_div(found_, found_, exact_, MPFR_RNDN);
    largest_ = std::max(largest_, std::abs(mpfr_get_d(found_, MPFR_RNDN)));
  }
  [[nodiscard]] double power() const { return std::log2(largest_); }

 private:
  mpfr_t x_;
  mpfr_t exact_;
  mpfr_t found_;
  double largest_ = 0;
};

constexpr int count = 100000;

template <bool fused> void check_all() {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  Largest exponentials;
  Largest logarithms;
  Largest near_one;
  Largest sines;
  Largest long_sines;
  Largest arctangents;
  Largest arcs;
  for (int i = 0; i < count; ++i) {
    const double x = (unit(random) * 2 - 1) * (i % 2 == 0 ? 700 : 1);
    const Exponential e = exponential<fused>(x, 0.0);
    exponentials.add(mpfr_exp, x, e.value, e.power);

    const double y = std::ldexp(1 + unit(random), static_cast<int>(random() % 2000) - 1000);
    logarithms.add(mpfr_log, y, logarithm<fused>(split<fused>(bits_of(y), 0)));
    const double z = 1 + (unit(random) - 0.5) * std::exp2(-1 - 40 * unit(random));
    if (z != 1) near_one.add(mpfr_log, z, logarithm<fused>(split<fused>(bits_of(z), 0)));

    const double t = (unit(random) * 2 - 1) * (i % 2 == 0 ? 8000 : 4);
    const Reduced reduced = reduce_short(t);
    // The bound excludes the absolute error near multiples of pi.
    if (std::abs(std::sin(t)) > 1e-6) sines.add(mpfr_sin, t, sine<fused>(reduced.k, reduced.r));
    const double u = std::ldexp(1 + unit(random), 13 + static_cast<int>(random() % 1010));
    const Reduced far = reduce_long(u);
    if (std::abs(std::sin(u)) > 1e-6) long_sines.add(mpfr_sin, u, sine<fused>(far.k, far.r));

    const double v = i % 2 == 0 ? unit(random) : std::exp2(-26 * unit(random));
    arctangents.add(mpfr_atan, v, arctangent<fused>({v, 0}, {1, 0}, v));
    const double w = v * 0.7071;
    const Pair square = product<fused>(fast_sum(1.0, -w), fast_sum(1.0, w));
    const double root = std::sqrt(square.high);
    const Pair back = exact_product<fused>(root, root);
    const Pair side{root, ((square.high - back.high) - back.low + square.low) / (2 * root)};
    arcs.add(mpfr_asin, w, arc_of<fused>({w, 0}, side));
  }
  const auto expect = [](const char* name, double found, double bound) {
    EXPECT_LT(found, bound) << name;
    ::testing::Test::RecordProperty(name, std::to_string(found));
  };
  expect("exponential", exponentials.power(), -67.6);
  expect("logarithm", logarithms.power(), -77);
  expect("near_one", near_one.power(), -70);
  expect("sine", sines.power(), -67.5);
  expect("long_sine", long_sines.power(), -67.5);
  expect("arctangent", arctangents.power(), -67.9);
  expect("arc", arcs.power(), -69);
}

class Bounds : public ::testing::Test {};

TEST_F(Bounds, WithFusedOperations) {
  check_all<true>();
}
TEST_F(Bounds, WithoutFusedOperations) {
  check_all<false>();
}

}  // namespace
}  // namespace heddle::libm::test

// Errors of the fast paths, as pairs of doubles, against the bounds that their rounding tests rely on.
#include "libm/arctangent.hpp"
#include "libm/areas.hpp"
#include "libm/errors.hpp"
#include "libm/exponentials.hpp"
#include "libm/gammas.hpp"
#include "libm/logarithms.hpp"
#include "libm/oracle.hpp"
#include "libm/trigonometric.hpp"

#include <algorithm>
#include <cstdlib>

namespace heddle::libm::test {
namespace {

/// An exact value by MPFR.
class Exact {
 protected:
  explicit Exact(mpfr_prec_t bits) {
    mpfr_init2(x_, 53);
    mpfr_init2(exact_, bits);
  }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() {
    mpfr_clear(x_);
    mpfr_clear(exact_);
  }
  void set(Compute compute, double x) {
    mpfr_set_emin(-5000);
    mpfr_set_emax(5000);
    mpfr_set_d(x_, x, MPFR_RNDN);
    compute(exact_, x_, MPFR_RNDN);
  }

  mpfr_t x_;
  mpfr_t exact_;
};

/// The largest error of pairs, relative to the exact value, as a power of two.
class Largest : Exact {
 public:
  Largest() : Exact(300) { mpfr_init2(found_, 300); }
  ~Largest() { mpfr_clear(found_); }
  void add(Compute compute, double x, Pair found, std::int64_t power = 0, double weight = 1) {
    set(compute, x);
    mpfr_set_d(found_, found.high, MPFR_RNDN);
    mpfr_add_d(found_, found_, found.low, MPFR_RNDN);
    mpfr_mul_2si(found_, found_, power, MPFR_RNDN);
    mpfr_sub(found_, found_, exact_, MPFR_RNDN);
    mpfr_div(found_, found_, exact_, MPFR_RNDN);
    largest_ = std::max(largest_, weight * std::abs(mpfr_get_d(found_, MPFR_RNDN)));
  }
  [[nodiscard]] double power() const { return std::log2(largest_); }

 private:
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

/// The largest ratio of a pair's error to the bound that its rounding test takes.
class Ratio : Exact {
 public:
  Ratio() : Exact(180) {}
  void add(Compute compute, double x, Pair found, double bound, std::int64_t power = 0) {
    set(compute, x);
    mpfr_abs(exact_, exact_, MPFR_RNDN);
    mpfr_div_2si(exact_, exact_, power, MPFR_RNDN);
    mpfr_sub_d(exact_, exact_, found.high, MPFR_RNDN);
    mpfr_sub_d(exact_, exact_, found.low, MPFR_RNDN);
    const double ratio = std::abs(mpfr_get_d(exact_, MPFR_RNDN)) / bound;
    if (ratio > largest_) {
      largest_ = ratio;
      worst_ = x;
    }
  }
  void expect(const char* name) const {
    EXPECT_LT(largest_, 1) << name << " at " << hex(worst_);
    ::testing::Test::RecordProperty(name, std::to_string(largest_));
  }

 private:
  double largest_ = 0;
  double worst_ = 0;
};

template <bool fused> void check_errors_and_gammas() {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  Ratio small_errors;
  Ratio errors;
  Ratio complements;
  Ratio gammas;
  Ratio small_gammas;
  Ratio reflected_gammas;
  Ratio logarithms;
  Ratio large_logarithms;
  Ratio small_logarithms;
  Ratio reflected_logarithms;
  // MPFR takes a millisecond or more for some of these.
  const char* effort = std::getenv("HEDDLE_LIBM_EFFORT");
  const int several = 1500 * (effort == nullptr ? 1 : std::atoi(effort));
  for (int i = 0; i < several; ++i) {
    const double tiny = std::exp2(-3 - 30 * unit(random) * unit(random));
    small_errors.add(mpfr_erf, tiny, erf_pair<fused>(tiny), std::erf(tiny) * erf_small_error);
    const double x = 0.125 + (i % 2 == 0 ? 5.87 : 1) * unit(random);
    errors.add(mpfr_erf, x, erf_pair<fused>(x), erf_error);
    const double y = 1.25 + 25.9 * std::pow(unit(random), 3);
    const Complement complement = erfc_large<fused>(y);
    complements.add(mpfr_erfc, y, complement.value, complement.error, complement.power);

    const auto add = [&](Ratio& gamma, Ratio& logarithm, double z) {
      const Found found = log_gamma_found<fused>(z);
      logarithm.add(logarithm_of_gamma, z,
                    std::signbit(found.value.high) ? Pair{-found.value.high, -found.value.low} : found.value,
                    found.error);
      if (z < -170 || z > 171) return;
      const Found value = gamma_found<fused>(z);
      gamma.add(mpfr_gamma, z, value.value, value.error, value.power);
    };
    add(gammas, large_logarithms, 8 + unit(random) * (i % 2 == 0 ? 160 : 3));
    const Found far = log_gamma_found<fused>(1 / tiny);
    large_logarithms.add(logarithm_of_gamma, 1 / tiny, far.value, far.error);
    add(small_gammas, small_logarithms, 0.5 + unit(random) * (i % 2 == 0 ? 7.5 : 2));
    add(small_gammas, logarithms, tiny * (i % 2 == 0 ? 4 : -4) * 0.999);
    const double below = -0.5 - unit(random) * (i % 2 == 0 ? 160 : 8);
    if (below != std::floor(below)) add(reflected_gammas, reflected_logarithms, below);
  }
  small_errors.expect("small_erf");
  errors.expect("erf");
  complements.expect("erfc");
  gammas.expect("tgamma");
  small_gammas.expect("small_tgamma");
  reflected_gammas.expect("reflected_tgamma");
  logarithms.expect("lgamma_near_0");
  large_logarithms.expect("lgamma");
  small_logarithms.expect("small_lgamma");
  reflected_logarithms.expect("reflected_lgamma");
}

/// The first steps of functions that have two.
template <bool fused> void check_quick() {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  Largest arctangents;
  Largest arcs;
  Largest exponentials;
  Largest cosines;
  Largest tangents;
  Largest logarithms;
  Largest areas;
  for (int i = 0; i < count / 5; ++i) {
    const double v = i % 2 == 0 ? unit(random) : std::exp2(-26 * unit(random));
    arctangents.add(mpfr_atan, v, quick_arctangent<fused>(v, 1));
    // Steep angles too, the edges of rows, and the arcsine's last row.
    const double steep = std::exp2(60 * unit(random));
    arctangents.add(mpfr_atan, steep, turned_angle(1, -1, quick_arctangent<fused>(1, steep)));
    const double edge = (std::floor(32 * v) + 0.5) / 32 * (1 + (unit(random) - 0.5) * 0x1p-44);
    if (edge <= 1) arctangents.add(mpfr_atan, edge, quick_arctangent<fused>(edge, 1));
    for (const double y : {v, 1 - v, edge, 1 - nearest_to_one * (1 + v)}) {
      if (y <= 0 || y > 1 - nearest_to_one) continue;
      const Pair arc = in_row<fused>(arcsine_row(y), y, 0);
      arcs.add(mpfr_asin, y, arc);
      arcs.add(mpfr_acos, y, turned_angle(1, -1, arc));
      arcs.add(mpfr_acos, -y, turned_angle(1, 1, arc));
    }

    const double x = (unit(random) * 2 - 1) * (i % 2 == 0 ? 700 : 1);
    const Exponential e = quick_exponential<fused>(x);
    exponentials.add(mpfr_exp, x, e.value, e.power);
    const double fraction = unit(random) * 2 - 1;
    std::int64_t k = 0;
    const double rest = fraction - nearest_integer(fraction * 128, k) * 0x1p-7;
    const Exponential two = quick_exponential_of<fused>(k, rest * log_two);
    exponentials.add(mpfr_exp2, fraction, two.value, two.power);
    const Exponential cosh = quick_cosh<fused>(std::abs(x));
    cosines.add(mpfr_cosh, x, cosh.value, cosh.power);
    const double t = 0.125 + unit(random) * (i % 2 == 0 ? 21 : 1);
    const QuickTanh tanh = quick_tanh<fused>(t);
    tangents.add(mpfr_tanh, t, tanh.value, 0, std::tanh(t) / (tanh.q + 0x1p-45));

    const double y = std::ldexp(1 + unit(random), static_cast<int>(random() % 2000) - 1000);
    const double z = 1 + (unit(random) - 0.5) * std::exp2(-1 - 40 * unit(random));
    for (const double argument : {y, z}) {
      if (argument != 1) logarithms.add(mpfr_log, argument, quick_logarithm<fused>(split<fused>(bits_of(argument), 0)));
    }
    const double wide = std::exp2(unit(random) * 34 - 8);
    areas.add(mpfr_asinh, wide, logarithm_of_pair<fused, true>(asinh_argument<fused>(wide)));
    areas.add(mpfr_acosh, 1 + wide, logarithm_of_pair<fused, true>(acosh_argument<fused, true>(1 + wide)));
    const double part = i % 2 == 0 ? 0x1p-8 + (1 - 0x1p-8) * unit(random) : 1 - std::exp2(-53 * unit(random));
    if (part < 0x1p-8 || part == 1) continue;
    const Pair twice = logarithm_of_pair<fused, true>(atanh_argument<fused>(part));
    areas.add(mpfr_atanh, part, {0.5 * twice.high, 0.5 * twice.low});
  }
  const auto expect = [](const char* name, const Largest& found, double bound) {
    EXPECT_LT(found.power(), bound) << name;
    ::testing::Test::RecordProperty(name, std::to_string(found.power()));
  };
  expect("quick_arctangent", arctangents, -61.2);
  expect("quick_arc", arcs, -60.6);
  expect("quick_exponential", exponentials, -59.6);
  expect("quick_cosh", cosines, -59.2);
  expect("quick_tanh", tangents, -59.5);
  expect("quick_logarithm", logarithms, -59.8);
  expect("quick_area", areas, -59.5);
}

class Bounds : public ::testing::Test {};

TEST_F(Bounds, WithFusedOperations) {
  check_all<true>();
  check_errors_and_gammas<true>();
  check_quick<true>();
}
TEST_F(Bounds, WithoutFusedOperations) {
  check_all<false>();
  check_errors_and_gammas<false>();
  check_quick<false>();
}

}  // namespace
}  // namespace heddle::libm::test

// Search for arguments whose results lie nearest to ties: prints, for each function, the hardest of COUNT random ones
// (hard_cases.inc has those of 2^25). The distance comes from the fast paths' pairs; for the error and gamma functions
// MPFR measures that of arguments which the pairs find near a tie.
#include "libm/arctangent.hpp"
#include "libm/errors.hpp"
#include "libm/exponentials.hpp"
#include "libm/gammas.hpp"
#include "libm/logarithms.hpp"
#include "libm/oracle.hpp"
#include "libm/trigonometric.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

using namespace heddle::libm;

#if defined(__FMA__)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

// Distance from the nearest tie in units of the last place.
double distance(Pair sum) {
  const Pair value = fast_sum(sum.high, sum.low);
  const double unit = from_bits((bits_of(value.high) & (Word{0x7ff} << 52))) * 0x1p-52;
  return std::abs(std::abs(value.low) - 0.5 * unit) / unit;
}

// The same by MPFR.
double exact_distance(test::Compute exact, double x) {
  mpfr_t z;
  mpfr_t rounded;
  mpfr_init2(z, 200);
  mpfr_init2(rounded, 54);
  mpfr_set_d(z, x, MPFR_RNDN);
  exact(z, z, MPFR_RNDN);
  // The nearest number of 54 bits, a tie unless its last bit is 0.
  mpfr_set(rounded, z, MPFR_RNDN);
  mpfr_sub(z, z, rounded, MPFR_RNDN);
  const double unit = std::ldexp(1.0, static_cast<int>(mpfr_get_exp(rounded)) - 53);
  const double found = std::abs(mpfr_get_d(z, MPFR_RNDN)) / unit;
  const bool tie = mpfr_min_prec(rounded) == 54;
  mpfr_clear(z);
  mpfr_clear(rounded);
  return tie ? found : 0.5 - found;
}

template <class Function>
void search(const char* name, long count, double lowest, double highest, const Function& pair,
            test::Compute exact = nullptr) {
  std::mt19937_64 random(17);
  constexpr int kept = 3;
  double best[kept] = {1, 1, 1};
  double found[kept] = {};
  for (long i = 0; i < count; ++i) {
    const double x = lowest + (highest - lowest) * static_cast<double>(random() >> 11) * 0x1p-53;
    double d = distance(pair(x));
    if (exact != nullptr && d < 0x1p-11) d = exact_distance(exact, x);
    if (d >= best[kept - 1]) continue;
    int place = kept - 1;
    for (; place > 0 && d < best[place - 1]; --place) {
      best[place] = best[place - 1];
      found[place] = found[place - 1];
    }
    best[place] = d;
    found[place] = x;
  }
  std::printf("// %s, 2^%.0f, 2^%.0f and 2^%.0f units from a tie\n", name, std::log2(best[0]), std::log2(best[1]),
              std::log2(best[2]));
  std::printf("%a,\n%a,\n%a,\n", found[0], found[1], found[2]);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 1L << 25;
  search("exp", count, -20, 20, [](double x) { return exponential<fused>(x, 0).value; });
  search("log", count, 0.01, 100, [](double x) { return logarithm<fused>(split<fused>(bits_of(x), 0)); });
  search("sin", count, -100, 100, [](double x) {
    const Reduced reduced = reduce_short(x);
    return sine<fused>(reduced.k, reduced.r);
  });
  search("cos", count, -100, 100, [](double x) {
    const Reduced reduced = reduce_short(x);
    return sine<fused>(reduced.k + 256, reduced.r);
  });
  search("atan", count, 0, 1, [](double x) { return arctangent<fused>({x, 0}, {1, 0}, x); });
  search("tan", count, 0, 1.5, [](double x) {
    const Reduced reduced = reduce_short(x);
    const Pair s = sine<fused>(reduced.k, reduced.r);
    const Pair c = sine<fused>(reduced.k + 256, reduced.r);
    return quotient<fused>(fast_sum(s.high, s.low), fast_sum(c.high, c.low));
  });
  search(
      "erf", count, 0, 4, [](double x) { return erf_pair<fused>(x); }, mpfr_erf);
  search(
      "erfc", count, 1.25, 20, [](double x) { return erfc_large<fused>(x).value; }, mpfr_erfc);
  search(
      "tgamma", count, 0.5, 170, [](double x) { return gamma_found<fused>(x).value; }, mpfr_gamma);
  search(
      "tgamma", count, -20, -0.5, [](double x) { return gamma_found<fused>(x).value; }, mpfr_gamma);
  search(
      "lgamma", count, 0.5, 100, [](double x) { return log_gamma_found<fused>(x).value; }, test::logarithm_of_gamma);
  search(
      "lgamma", count, -20, -0.5, [](double x) { return log_gamma_found<fused>(x).value; }, test::logarithm_of_gamma);
}

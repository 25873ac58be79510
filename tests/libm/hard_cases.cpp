// Search for arguments whose results lie nearest to ties: prints, for each function, the hardest of COUNT random ones
// (hard_cases.inc has those of 2^25). The distance comes from the fast paths' pairs.
#include "libm/arctangent.hpp"
#include "libm/exponentials.hpp"
#include "libm/logarithms.hpp"
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

template <class Function>
void search(const char* name, long count, double lowest, double highest, const Function& pair) {
  std::mt19937_64 random(17);
  constexpr int kept = 3;
  double best[kept] = {1, 1, 1};
  double found[kept] = {};
  for (long i = 0; i < count; ++i) {
    const double x = lowest + (highest - lowest) * static_cast<double>(random() >> 11) * 0x1p-53;
    double d = distance(pair(x));
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
}

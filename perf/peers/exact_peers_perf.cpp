// Benchmarks of exact::sum and dot against ReproBLAS (reproducible, not correctly rounded) and xsum (correctly
// rounded), in turn. Run it on one thread: the peers use no more.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/reduce.hpp>

#include <functional>
#include <string>

// Both headers are C without extern "C".
#ifdef HEDDLE_REPROBLAS
extern "C" {
#include <reproBLAS.h>
}
#endif
#ifdef HEDDLE_XSUM
extern "C" {
#define restrict
#include <xsum.h>
#undef restrict
}
#endif

namespace heddle::perf {
namespace {

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

Vector numbers(Index n, int range, bool cancels, int seed) {
  const Vector x("heddle::perf::x", static_cast<std::size_t>(n));
  const RandomEntries random{seed};
  for (Index k = 0; k < n; ++k) {
    const bool negated = cancels && k >= n / 2;
    const Index i = negated ? k - n / 2 : k;
    const double power = range == 0 ? 1.0 : Kokkos::exp2(Kokkos::floor(range * random(i, 1)));
    x(k) = (negated ? -1.0 : 1.0) * power * random(i, 0);
  }
  return x;
}

void beside(benchmark::State& state, int range, bool cancels, bool is_dot, bool same,
            const std::function<double(const Vector&, const Vector&)>& peer) {
  const Index n = is_dry_run() ? 1000 : 10000000;
  const Vector x = numbers(n, range, cancels, 1);
  const Vector y = numbers(n, range, false, 2);
  double ours = 0;
  double theirs = 0;
  compare(
      state, (is_dot ? 16.0 : 8.0) * static_cast<double>(n),
      {"heddle",
       [&] {
         return seconds_of([&] { ours = is_dot ? exact::dot(world().space(), x, y) : exact::sum(world().space(), x); });
       }},
      {"peer", [&] { return seconds_of([&] { theirs = peer(x, y); }); }}, "gbytes");
  if (same && ours != theirs) {
    fail(state, "both are correctly rounded, and differ");
  }
}

[[maybe_unused]] const bool added = [] {
  struct Peer {
    const char* name;
    bool is_dot;
    bool correctly_rounded;
    double (*run)(const Vector&, const Vector&);
  };
  const Peer peers[] = {
#ifdef HEDDLE_REPROBLAS
      {"sum/reproblas", false, false,
       [](const Vector& x, const Vector&) { return reproBLAS_dsum(static_cast<int>(x.extent(0)), x.data(), 1); }},
      {"dot/reproblas", true, false,
       [](const Vector& x, const Vector& y) {
         return reproBLAS_ddot(static_cast<int>(x.extent(0)), x.data(), 1, y.data(), 1);
       }},
#endif
#ifdef HEDDLE_XSUM
      {"sum/xsum", false, true,
       [](const Vector& x, const Vector&) {
         static xsum_large_accumulator sum;
         xsum_large_init(&sum);
         xsum_large_addv(&sum, x.data(), static_cast<xsum_length>(x.extent(0)));
         return xsum_large_round(&sum);
       }},
#endif
  };
  struct Data {
    const char* name;
    int range;
    bool cancels;
  };
  for (const Peer& peer : peers) {
    for (const Data& data : {Data{"benign", 0, false}, Data{"range_100", 100, false}, Data{"cancelling", 0, true}}) {
      benchmark::RegisterBenchmark(("exact/double/" + std::string(peer.name) + '/' + data.name).c_str(),
                                   [peer, data](benchmark::State& state) {
                                     beside(state, data.range, data.cancels, peer.is_dot, peer.correctly_rounded,
                                            peer.run);
                                   })
          ->Iterations(7)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf

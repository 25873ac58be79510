// Benchmarks of the elementary functions beside the system's: time per call over 1024 arguments.
#include "libm/functions.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int count = 1024;

template <class Real> std::vector<Real> arguments(double lowest, double highest, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(lowest, highest);
  std::vector<Real> values(count);
  for (Real& value : values) value = static_cast<Real>(uniform(random));
  return values;
}

template <class Real> void one(benchmark::State& state, Real (*function)(Real), double lowest, double highest) {
  const std::vector<Real> values = arguments<Real>(lowest, highest, 1);
  for (auto _ : state) {
    Real sum = 0;
    for (const Real x : values) sum += function(x);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * count);
}

template <class Real> void two(benchmark::State& state, Real (*function)(Real, Real), double lowest, double highest) {
  const std::vector<Real> values = arguments<Real>(lowest, highest, 1);
  const std::vector<Real> seconds = arguments<Real>(-10, 10, 2);
  for (auto _ : state) {
    Real sum = 0;
    for (int i = 0; i < count; ++i) sum += function(values[i], seconds[i]);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * count);
}

template <class Real>
void add_one(const std::string& name, Real (*ours)(Real), Real (*system)(Real), double lowest, double highest) {
  benchmark::RegisterBenchmark((name + "/heddle").c_str(), one<Real>, ours, lowest, highest);
  benchmark::RegisterBenchmark((name + "/system").c_str(), one<Real>, system, lowest, highest);
}

template <class Real>
void add_two(const std::string& name, Real (*ours)(Real, Real), Real (*system)(Real, Real), double lowest,
             double highest) {
  benchmark::RegisterBenchmark((name + "/heddle").c_str(), two<Real>, ours, lowest, highest);
  benchmark::RegisterBenchmark((name + "/system").c_str(), two<Real>, system, lowest, highest);
}

#define HEDDLE_LIBM_ADD(kind, name, lowest, highest)                      \
  add_##kind<double>(#name, heddle::libm::name, ::name, lowest, highest); \
  add_##kind<float>(#name "f", heddle::libm::name, ::name##f, lowest, highest);

void add_all() {
  HEDDLE_LIBM_ADD(one, exp, -10, 10)
  HEDDLE_LIBM_ADD(one, log, 0, 10)
  HEDDLE_LIBM_ADD(two, pow, 0, 10)
  HEDDLE_LIBM_ADD(one, sin, -10, 10)
  HEDDLE_LIBM_ADD(one, cos, -10, 10)
  HEDDLE_LIBM_ADD(one, tan, -10, 10)
  HEDDLE_LIBM_ADD(one, cbrt, -10, 10)
  HEDDLE_LIBM_ADD(one, exp2, -10, 10)
  HEDDLE_LIBM_ADD(one, expm1, -2, 2)
  HEDDLE_LIBM_ADD(one, log2, 0, 10)
  HEDDLE_LIBM_ADD(one, log10, 0, 10)
  HEDDLE_LIBM_ADD(one, log1p, -0.9, 10)
  HEDDLE_LIBM_ADD(one, exp10, -10, 10)
  HEDDLE_LIBM_ADD(one, sinh, -5, 5)
  HEDDLE_LIBM_ADD(one, cosh, -5, 5)
  HEDDLE_LIBM_ADD(one, tanh, -5, 5)
  HEDDLE_LIBM_ADD(one, asin, -1, 1)
  HEDDLE_LIBM_ADD(one, acos, -1, 1)
  HEDDLE_LIBM_ADD(one, atan, -5, 5)
  HEDDLE_LIBM_ADD(two, atan2, -10, 10)
  HEDDLE_LIBM_ADD(two, hypot, -10, 10)
  HEDDLE_LIBM_ADD(one, asinh, -5, 5)
  HEDDLE_LIBM_ADD(one, acosh, 1, 10)
  HEDDLE_LIBM_ADD(one, atanh, -1, 1)
  HEDDLE_LIBM_ADD(one, erf, -6, 6)
  HEDDLE_LIBM_ADD(one, erfc, -6, 27)
  HEDDLE_LIBM_ADD(one, tgamma, -20, 170)
  HEDDLE_LIBM_ADD(one, lgamma, 0, 1000)
  add_one<double>("lgamma_negative", heddle::libm::lgamma, ::lgamma, -30, 0);
  add_one<float>("lgammaf_negative", heddle::libm::lgamma, ::lgammaf, -30, 0);
  add_one<double>("sin_large", heddle::libm::sin, ::sin, 1e5, 1e12);
  add_one<float>("sinf_large", heddle::libm::sin, ::sinf, 1e7, 1e12);
}

}  // namespace

int main(int argc, char** argv) {
  add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

// The peak of a machine's arithmetic: multiply-adds in registers, by all threads of all ranks.
#include "core/instantiate.hpp"
#include "tuning/measuring.hpp"
#include <heddle/tuning/rates.hpp>

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#define HEDDLE_PEAK
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <type_traits>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif

namespace heddle {

#ifdef HEDDLE_PEAK
namespace {

// Chains of multiply-adds x = x a + b, each of which waits for itself alone; run() gives a sum that needs all of them.
template <class R> struct Chains {
  R (*run)(Index steps, R a, R b);
  double flops;  // Flops of a step.
};

#ifdef __clang__
#define HEDDLE_UNROLL _Pragma("unroll")
#else
#define HEDDLE_UNROLL _Pragma("GCC unroll 20")
#endif
// COUNT chains: enough to hide a latency of four cycles in two units of a core, on ARM in four.
#define HEDDLE_CHAINS(NAME, TARGET, R, VECTOR, COUNT, BROADCAST, MULTIPLY_ADD)               \
  TARGET R NAME(Index steps, R a, R b) {                                                     \
    const VECTOR factor = BROADCAST(a);                                                      \
    const VECTOR term = BROADCAST(b);                                                        \
    VECTOR x[COUNT];                                                                         \
    HEDDLE_UNROLL for (int c = 0; c < (COUNT); ++c) x[c] = BROADCAST(b + c);                 \
    for (Index k = 0; k < steps; ++k) {                                                      \
      HEDDLE_UNROLL for (int c = 0; c < (COUNT); ++c) {                                      \
        x[c] = MULTIPLY_ADD(x[c], factor, term);                                             \
      }                                                                                      \
    }                                                                                        \
    HEDDLE_UNROLL for (int c = 1; c < (COUNT); ++c) x[0] = x[0] + x[c];                      \
    R sum = 0;                                                                               \
    for (std::size_t lane = 0; lane < sizeof(VECTOR) / sizeof(R); ++lane) sum += x[0][lane]; \
    return sum;                                                                              \
  }

constexpr int few_chains = 12;

#if defined(__x86_64__)
HEDDLE_CHAINS(avx512, __attribute__((target("avx512f"))), double, __m512d, few_chains, _mm512_set1_pd, _mm512_fmadd_pd)
HEDDLE_CHAINS(avx512, __attribute__((target("avx512f"))), float, __m512, few_chains, _mm512_set1_ps, _mm512_fmadd_ps)
HEDDLE_CHAINS(avx2, __attribute__((target("avx2,fma"))), double, __m256d, few_chains, _mm256_set1_pd, _mm256_fmadd_pd)
HEDDLE_CHAINS(avx2, __attribute__((target("avx2,fma"))), float, __m256, few_chains, _mm256_set1_ps, _mm256_fmadd_ps)
#elif defined(__aarch64__)
constexpr int many_chains = 20;
#define HEDDLE_FMA_DOUBLE(x, a, b) vfmaq_f64(b, x, a)
#define HEDDLE_FMA_FLOAT(x, a, b) vfmaq_f32(b, x, a)
HEDDLE_CHAINS(neon, , double, float64x2_t, many_chains, vdupq_n_f64, HEDDLE_FMA_DOUBLE)
HEDDLE_CHAINS(neon, , float, float32x4_t, many_chains, vdupq_n_f32, HEDDLE_FMA_FLOAT)
#endif

// By the compiler's own vectors, for processors without fused multiply-adds and those that are not named above.
template <class R> using Plain __attribute__((vector_size(16))) = R;
#define HEDDLE_BROADCAST(value) (Plain<decltype(b)>{} + (value))
#define HEDDLE_MULTIPLY_AND_ADD(x, a, b) ((x) * (a) + (b))
HEDDLE_CHAINS(plain, , double, Plain<double>, few_chains, HEDDLE_BROADCAST, HEDDLE_MULTIPLY_AND_ADD)
HEDDLE_CHAINS(plain, , float, Plain<float>, few_chains, HEDDLE_BROADCAST, HEDDLE_MULTIPLY_AND_ADD)

// Chains that this processor supports, detected at run time.
template <class R> std::vector<Chains<R>> chains_here() {
  using Run = R (*)(Index, R, R);
  std::vector<Chains<R>> chains;
  const auto add = [&](Run run, int count, double bytes) { chains.push_back({run, 2.0 * count * bytes / sizeof(R)}); };
#if defined(__x86_64__)
  // The widest are not the fastest everywhere.
  if (__builtin_cpu_supports("avx512f")) add(avx512, few_chains, 64);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) add(avx2, few_chains, 32);
#elif defined(__aarch64__)
  add(neon, many_chains, 16);
#endif
  if (chains.empty()) add(plain, few_chains, 16);
  return chains;
}

// Flops per second of all ranks, each with all its threads.
template <class R> double flops_of_all(const Communicator& comm, const Chains<R>& chains) {
  const int threads = comm.space().concurrency();
  const Kokkos::View<R*, Kokkos::HostSpace> sums(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::gemm::measure_peak"), static_cast<std::size_t>(threads));
  Index steps = 10000;
  const auto run = [&] {
    Kokkos::parallel_for("heddle::gemm::measure_peak", Kokkos::RangePolicy<ExecutionSpace>(comm.space(), 0, threads),
                         [=, count = steps](int thread) { sums(thread) = chains.run(count, R(0.5), R(1)); });
  };
  // As long as several time slices of a core that is shared; that long a core is warm before it counts.
  constexpr double burst = 0.01;
  while (impl::slowest(comm, run) < burst) steps *= 2;
  const double seconds = impl::best_of(comm, 25, run);
  return comm.all_reduce(threads * chains.flops * static_cast<double>(steps), Reduction::sum) / seconds;
}

}  // namespace
#endif

template <Scalar T> std::optional<double> measure_peak(const Communicator& comm) {
#ifdef HEDDLE_PEAK
  return comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::gemm::measure_peak");
    double best = 0.0;
    for (const Chains<Real<T>>& chains : chains_here<Real<T>>()) best = std::max(best, flops_of_all(comm, chains));
    return std::optional(best / comm.size());
  });
#else
  static_cast<void>(comm);
  return {};
#endif
}

#define HEDDLE_INSTANTIATE(T) template std::optional<double> measure_peak<T>(const Communicator&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle

// Arithmetic, exchange between lanes, shared memory, atomics and Kokkos' patterns, compared with this processor's.
#include <Kokkos_Core.hpp>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace {

constexpr int count = 1000;
constexpr int threads = 256;

struct Results {
  double fused, quotient, root, scaled, denormal;
  float single_quotient;
  int exponent, nearest, neighbour, sum_of_block, votes, of_row_before, of_row;
};

__host__ __device__ Results arithmetic(double x, double y) {
  Results r{};
  r.fused = std::fma(x, y, 1.0 / 3);
  r.quotient = x / y;
  r.root = std::sqrt(std::fabs(x));
  r.scaled = std::ldexp(y, 1023);
  r.denormal = y * 0x1p-1060;
  r.single_quotient = static_cast<float>(y) / 3.0F;
  std::frexp(x, &r.exponent);
  r.nearest = static_cast<int>(std::rint(1000 * y));
  return r;
}

__global__ void kernel(const double* x, const double* y, Results* results, int* total) {
  __shared__ int part[threads];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int own = i < count ? i : 0;
  part[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, part[0]);
  const int neighbour = __shfl_xor(own, 5);
  const int votes = __popcll(__ballot(own % 3 == 0));
  // Lane 15 of the row of 16 lanes before, and lane 3 of a lane's own row.
  const int of_row_before = __builtin_amdgcn_update_dpp(-1, own, 0x142, 0xf, 0xf, false);
  const int of_row = __builtin_amdgcn_update_dpp(-1, own, 0x153, 0xf, 0xf, false);
  if (i >= count) return;
  results[i] = arithmetic(x[i], y[i]);
  results[i].neighbour = neighbour;
  results[i].sum_of_block = part[0];
  results[i].votes = votes;
  results[i].of_row_before = of_row_before;
  results[i].of_row = of_row;
}

template <class T> T* on_device(std::size_t size, const T* from = nullptr) {
  void* memory = nullptr;
  if (hipMalloc(&memory, size * sizeof(T)) != hipSuccess) std::abort();
  const hipError_t error = from != nullptr ? hipMemcpy(memory, from, size * sizeof(T), hipMemcpyHostToDevice)
                                           : hipMemset(memory, 0, size * sizeof(T));
  if (error != hipSuccess) std::abort();
  return static_cast<T*>(memory);
}

// Return the number of elements that differ.
int arithmetic_differs() {
  std::vector<double> x(count), y(count);
  for (int i = 0; i < count; ++i) {
    x[i] = std::sin(i + 1.0) * std::pow(2.0, 1.8 * i - 900);
    y[i] = std::cos(0.37 * i);
  }
  std::vector<Results> results(count);
  int total = 0;
  Results* const there = on_device<Results>(count);
  int* const total_there = on_device<int>(1);
  kernel<<<(count + threads - 1) / threads, threads>>>(on_device(count, x.data()), on_device(count, y.data()), there,
                                                       total_there);
  if (hipMemcpy(results.data(), there, count * sizeof(Results), hipMemcpyDeviceToHost) != hipSuccess ||
      hipMemcpy(&total, total_there, sizeof total, hipMemcpyDeviceToHost) != hipSuccess) {
    std::abort();
  }

  hipDeviceProp_t properties;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) std::abort();
  const auto own = [](int i) { return i < count ? i : 0; };
  const auto sum_over = [&](int begin, int size, auto value) {
    int sum = 0;
    for (int i = begin; i < begin + size; ++i) sum += value(own(i));
    return sum;
  };
  int differ = total == count * (count - 1) / 2 ? 0 : 1;
  for (int i = 0; i < count; ++i) {
    Results expected = arithmetic(x[i], y[i]);
    expected.neighbour = own(i ^ 5);
    expected.sum_of_block = sum_over(i / threads * threads, threads, [](int k) { return k; });
    expected.votes =
        sum_over(i / properties.warpSize * properties.warpSize, properties.warpSize, [](int k) { return k % 3 == 0; });
    const int row = i / 16 * 16;
    expected.of_row_before = row % properties.warpSize > 0 ? own(row - 1) : -1;
    expected.of_row = own(row + 3);
    differ += std::memcmp(&expected, &results[i], sizeof expected) == 0 ? 0 : 1;
  }
  return differ;
}

int patterns_differ() {
  constexpr int n = 10000;
  const Kokkos::View<long*> x("x", n);
  const Kokkos::View<long*> sums("sums", n);
  const auto value = [](long i) { return i * 7919 % 10007; };
  Kokkos::parallel_for(
      "fill", n, KOKKOS_LAMBDA(int i) { x(i) = static_cast<long>(i) * 7919 % 10007; });
  long sum = 0;
  long most = 0;
  long of_teams = 0;
  Kokkos::parallel_reduce(
      "sum", n, KOKKOS_LAMBDA(int i, long& part) { part += x(i); }, sum);
  Kokkos::parallel_reduce(
      "most", n, KOKKOS_LAMBDA(int i, long& part) { part = Kokkos::max(part, x(i)); }, Kokkos::Max<long>(most));
  using Policy = Kokkos::TeamPolicy<>;
  Kokkos::parallel_reduce(
      "of_teams", Policy(20, 128),
      KOKKOS_LAMBDA(const Policy::member_type& team, long& all) {
        long of_team = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, n / 20),
            [&](int i, long& part) { part += x(team.league_rank() * (n / 20) + i); }, of_team);
        Kokkos::single(Kokkos::PerTeam(team), [&] { all += of_team; });
      },
      of_teams);
  Kokkos::parallel_scan(
      "scan", n, KOKKOS_LAMBDA(int i, long& part, bool is_final) {
        part += x(i);
        if (is_final) sums(i) = part;
      });
  const auto scanned = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sums);
  long expected_sum = 0;
  long expected_most = 0;
  int differ = 0;
  for (int i = 0; i < n; ++i) {
    expected_sum += value(i);
    expected_most = std::max(expected_most, value(i));
    differ += scanned(i) == expected_sum ? 0 : 1;
  }
  return differ + (sum == expected_sum ? 0 : 1) + (most == expected_most ? 0 : 1) + (of_teams == expected_sum ? 0 : 1);
}

}  // namespace

int main() {
  const int arithmetic = arithmetic_differs();
  std::printf("arithmetic, lanes, shared memory and atomics: %d of %d threads differ\n", arithmetic, count);
  const Kokkos::ScopeGuard guard;
  const int patterns = patterns_differ();
  std::printf("Kokkos' patterns: %d results differ\n", patterns);
  return arithmetic + patterns == 0 ? 0 : 1;
}

// Benchmarks of many products of one plan on one rank, enqueued and waited for once, against as many calls of the BLAS
// (cuBLAS with CUDA) on the same instance: the overhead of a plan for small products.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/gemm/gemm.hpp>

#include <string>
#ifdef KOKKOS_ENABLE_CUDA
#include "peers/cublas.hpp"
#else
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
void zgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
}
#endif

namespace heddle::perf {
namespace {

using Complex = Kokkos::complex<double>;
constexpr bool on_cpus = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

// C = A B by the BLAS, on the instance of all benchmarks.
#ifdef KOKKOS_ENABLE_CUDA
class Blas {
 public:
  static constexpr const char* name = "cublas";
  explicit Blas(const ExecutionSpace& space) {
    check(cublasCreate(&handle_));
    check(cublasSetStream(handle_, space.cuda_stream()));
  }
  ~Blas() { cublasDestroy(handle_); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  template <Scalar T> void multiply(const LocalMatrix<T>& A, const LocalMatrix<T>& B, const LocalMatrix<T>& C) const {
    const auto n = static_cast<int>(C.extent(0));
    const T one(1);
    const T zero(0);
    const auto call = [&]<class E>(auto* gemm, E*) {
      check(gemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, reinterpret_cast<const E*>(&one),
                 reinterpret_cast<const E*>(A.data()), n, reinterpret_cast<const E*>(B.data()), n,
                 reinterpret_cast<const E*>(&zero), reinterpret_cast<E*>(C.data()), n));
    };
    if constexpr (is_complex<T>) {
      call(&cublasZgemm_v2, static_cast<cuDoubleComplex*>(nullptr));
    } else if constexpr (std::is_same_v<T, float>) {
      call(&cublasSgemm_v2, static_cast<float*>(nullptr));
    } else {
      call(&cublasDgemm_v2, static_cast<double*>(nullptr));
    }
  }

 private:
  cublasHandle_t handle_ = nullptr;
};
#else
class Blas {
 public:
  static constexpr const char* name = "blas";
  explicit Blas(const ExecutionSpace& /*space*/) {}
  template <Scalar T> void multiply(const LocalMatrix<T>& A, const LocalMatrix<T>& B, const LocalMatrix<T>& C) const {
    const auto n = static_cast<int>(C.extent(0));
    const T one(1);
    const T zero(0);
    constexpr auto* gemm = is_complex<T> ? &zgemm_ : (std::is_same_v<T, float> ? &sgemm_ : &dgemm_);
    gemm("N", "N", &n, &n, &n, &one, A.data(), &n, B.data(), &n, &zero, C.data(), &n);
  }
};
#endif

// Returns the number of products that take some ten milliseconds.
int products_of(Index n) {
  if (is_dry_run()) return 3;
  if (!on_cpus) return n <= 1024 ? 200 : 50;
  return n <= 256 ? 50 : (n <= 512 ? 10 : 2);
}

// range(0): n. On rank 0 alone. Ratio: time of the BLAS over ours. Counters also give the host's microseconds per call
// of each; on GPUs the host runs ahead of the products.
template <Scalar T> void enqueued(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const int products = products_of(n);
  const ExecutionSpace& space = world().space();
  const Communicator alone(MPI_COMM_SELF, space);
  const Placement whole = Placement::on_rank(n, n, 0);
  const DistributedMatrix<T> A(alone, whole);
  const DistributedMatrix<T> B(alone, whole);
  const DistributedMatrix<T> C(alone, whole);
  fill(A, RandomElements<T>{1});
  fill(B, RandomElements<T>{2});
  const LocalMatrix<T> left = random_local<T>(space, n, n, 1);
  const LocalMatrix<T> right = random_local<T>(space, n, n, 2);
  const LocalMatrix<T> result(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::perf::product"),
                              static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  GemmPlan<T> plan(alone, Operation::none, whole, Operation::none, whole, whole);
  const Blas blas(space);
  double ours_called = 0.0;
  double theirs_called = 0.0;
  const auto timed = [&](double& called, const auto& call, const auto& wait) {
    return seconds_of_rank_0([&] {
      const Kokkos::Timer timer;
      for (int k = 0; k < products; ++k) call();
      called = timer.seconds();
      wait();
    });
  };
  compare(state, products * operations<T>(n),
          {"heddle",
           [&] {
             return timed(
                 ours_called, [&] { plan.enqueue(T(1), A, B, T(0), C); }, [&] { plan.wait(); });
           }},
          {Blas::name, [&] {
             return timed(
                 theirs_called, [&] { blas.multiply<T>(left, right, result); },
                 [&] { space.fence("heddle::perf::blas"); });
           }});
  const auto on_rank_0 = [](const auto& call, int times) {
    for (int k = 0; world().rank() == 0 && k < times; ++k) call();
  };
  count_joules(
      state, "",
      [&] {
        on_rank_0([&] { plan.enqueue(T(1), A, B, T(0), C); }, products);
        plan.wait();
      },
      products);
  count_joules(
      state, Blas::name, [&] { on_rank_0([&] { blas.multiply<T>(left, right, result); }, products); }, products);
  state.counters["tile"] = static_cast<double>(plan.tile());
  state.counters["us_call_heddle"] = 1e6 * ours_called / products;
  state.counters[std::string("us_call_") + Blas::name] = 1e6 * theirs_called / products;
  if (!is_product(C)) fail(state, "not the product of A and B");
}

#ifdef KOKKOS_ENABLE_CUDA
// Work on an instance's stream, captured as a graph to be launched at once.
class Graph {
 public:
  template <class Work> Graph(const ExecutionSpace& space, const Work& work) : space_(space) {
    require(cudaStreamBeginCapture(space.cuda_stream(), cudaStreamCaptureModeThreadLocal) == cudaSuccess, "no capture");
    work();
    cudaGraph_t graph = nullptr;
    require(cudaStreamEndCapture(space.cuda_stream(), &graph) == cudaSuccess, "the capture failed");
    const cudaError_t made = cudaGraphInstantiate(&ready_, graph, 0);
    cudaGraphDestroy(graph);
    require(made == cudaSuccess, "no graph");
  }
  ~Graph() { cudaGraphExecDestroy(ready_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  [[nodiscard]] double seconds() const {
    return seconds_of_rank_0([&] {
      require(cudaGraphLaunch(ready_, space_.cuda_stream()) == cudaSuccess, "no launch");
      space_.fence("heddle::perf::graph");
    });
  }

 private:
  ExecutionSpace space_;
  cudaGraphExec_t ready_ = nullptr;
};

// The same products, captured as a graph, against cuBLAS's in another.
template <Scalar T> void in_graphs(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const int products = products_of(n);
  const ExecutionSpace space = Kokkos::Experimental::partition_space(world().space(), 1).front();
  const Communicator alone(MPI_COMM_SELF, space);
  const Placement whole = Placement::on_rank(n, n, 0);
  const DistributedMatrix<T> A(alone, whole);
  const DistributedMatrix<T> B(alone, whole);
  const DistributedMatrix<T> C(alone, whole);
  const LocalMatrix<T> result = random_local<T>(space, n, n, 3);
  fill(A, RandomElements<T>{1});
  fill(B, RandomElements<T>{2});
  GemmPlan<T> plan(alone, Operation::none, whole, Operation::none, whole, whole);
  const Blas blas(space);
  // Creates whatever is made on first use, before the capture.
  plan.enqueue(T(1), A, B, T(0), C);
  plan.wait();
  blas.multiply<T>(A.local(), B.local(), result);
  space.fence("heddle::perf::warm");
  const Graph ours(space, [&] {
    for (int k = 0; k < products; ++k) plan.enqueue(T(1), A, B, T(0), C);
  });
  const Graph theirs(space, [&] {
    for (int k = 0; k < products; ++k) blas.multiply<T>(A.local(), B.local(), result);
  });
  Kokkos::deep_copy(space, C.local(), T(0));
  compare(state, products * operations<T>(n), {"heddle", [&] { return ours.seconds(); }},
          {Blas::name, [&] { return theirs.seconds(); }});
  if (!is_product(C)) fail(state, "not the product of A and B");
}
#endif

template <Scalar T> void add_benchmark(const std::string& scalar) {
#ifdef KOKKOS_ENABLE_CUDA
  benchmark::RegisterBenchmark(("gemm_in_graphs/" + scalar).c_str(), in_graphs<T>)
      ->ArgsProduct({{256, 512, 1024}})
      ->ArgName("n")
      ->Iterations(21)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
#endif
  benchmark::RegisterBenchmark(("gemm_enqueued/" + scalar).c_str(), enqueued<T>)
      ->ArgsProduct({{256, 512, 1024, 2048}})
      ->ArgName("n")
      ->Iterations(21)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool added = [] {
  add_benchmark<double>("double");
  add_benchmark<float>("float");
  add_benchmark<Complex>("complex-double");
  return true;
}();

}  // namespace
}  // namespace heddle::perf

// Benchmarks of exact::trsv and gemv against cuBLAS's, which round every product and sum, in turn.
#include "peers/cublas.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/exact/matrix.hpp>

#include <algorithm>

namespace heddle::perf {
namespace {

template <class T> using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
template <class T> using Vector = Kokkos::View<T*, MemorySpace>;

class Handle {
 public:
  Handle() {
    check(cublasCreate(&handle_));
    check(cublasSetStream(handle_, world().space().cuda_stream()));
  }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

// Returns a random matrix with `diagonal` added on the diagonal.
template <Scalar T> Matrix<T> random_matrix(Index m, Index n, double diagonal) {
  const Matrix<T> A = random_local<T>(world().space(), m, n, 1);
  Kokkos::parallel_for(
      "heddle::perf::diagonal", std::min(A.extent(0), A.extent(1)),
      KOKKOS_LAMBDA(int i) { A(i, i) = A(i, i) + T(static_cast<Real<T>>(diagonal)); });
  return A;
}
template <Scalar T> Vector<T> random_vector(Index n, int seed) {
  return Kokkos::subview(random_local<T>(world().space(), n, 1, seed), Kokkos::ALL, 0);
}

template <Scalar T> void require_close(benchmark::State& state, const Vector<T>& x, const Vector<T>& y) {
  double off = 0;
  double size = 0;
  Kokkos::parallel_reduce(
      "heddle::perf::size", x.extent(0),
      KOKKOS_LAMBDA(int i, double& largest) { largest = Kokkos::max(largest, static_cast<double>(Kokkos::abs(x(i)))); },
      Kokkos::Max<double>(size));
  Kokkos::parallel_reduce(
      "heddle::perf::off", x.extent(0),
      KOKKOS_LAMBDA(int i, double& largest) {
        largest = Kokkos::max(largest, static_cast<double>(Kokkos::abs(x(i) - y(i))));
      },
      Kokkos::Max<double>(off));
  if (!(off <= 1e-10 * size)) fail(state, "the two results differ");
}

cublasOperation_t operation(bool transposed) {
  return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

// range(0): n, range(1): whether A is transposed.
template <Scalar T> void trsv(benchmark::State& state) {
  const Index n = extent(state.range(0));
  const bool transposed = state.range(1) != 0;
  const Matrix<T> A = random_matrix<T>(n, n, static_cast<double>(n));
  const Vector<T> b = random_vector<T>(n, 2);
  const Vector<T> x = random_vector<T>(n, 3);
  const Vector<T> y = random_vector<T>(n, 3);
  const Handle handle;
  const auto size = static_cast<int>(n);
  compare(state, 0.5 * sizeof(T) * static_cast<double>(n) * static_cast<double>(n),
          {"exact",
           [&] {
             Kokkos::deep_copy(x, b);
             return seconds_of([&] {
               exact::trsv(world().space(), Triangle::lower, transposed ? Operation::transpose : Operation::none,
                           Diagonal::stored, A, x);
             });
           }},
          {"cublas",
           [&] {
             Kokkos::deep_copy(y, b);
             return seconds_of([&] {
               if constexpr (is_complex<T>) {
                 check(cublasZtrsv(handle.get(), CUBLAS_FILL_MODE_LOWER, operation(transposed), CUBLAS_DIAG_NON_UNIT,
                                   size, reinterpret_cast<const cuDoubleComplex*>(A.data()), size,
                                   reinterpret_cast<cuDoubleComplex*>(y.data()), 1));
               } else {
                 check(cublasDtrsv(handle.get(), CUBLAS_FILL_MODE_LOWER, operation(transposed), CUBLAS_DIAG_NON_UNIT,
                                   size, A.data(), size, y.data(), 1));
               }
             });
           }},
          "gbytes");
  require_close<T>(state, x, y);
}

// range(0): rows, range(1): columns, range(2): whether A is transposed.
template <Scalar T> void gemv(benchmark::State& state) {
  const Index m = extent(state.range(0));
  const Index n = extent(state.range(1));
  const bool transposed = state.range(2) != 0;
  const Matrix<T> A = random_matrix<T>(m, n, 0);
  const Vector<T> x = random_vector<T>(transposed ? m : n, 2);
  const Vector<T> y = random_vector<T>(transposed ? n : m, 3);
  const Vector<T> z = random_vector<T>(transposed ? n : m, 3);
  const Handle handle;
  const T one(1);
  const T zero(0);
  compare(state, sizeof(T) * static_cast<double>(m) * static_cast<double>(n),
          {"exact",
           [&] {
             return seconds_of([&] {
               exact::gemv(world().space(), transposed ? Operation::transpose : Operation::none, one, A, x, zero, y);
             });
           }},
          {"cublas",
           [&] {
             return seconds_of([&] {
               if constexpr (is_complex<T>) {
                 check(cublasZgemv(
                     handle.get(), operation(transposed), static_cast<int>(m), static_cast<int>(n),
                     reinterpret_cast<const cuDoubleComplex*>(&one), reinterpret_cast<const cuDoubleComplex*>(A.data()),
                     static_cast<int>(m), reinterpret_cast<const cuDoubleComplex*>(x.data()), 1,
                     reinterpret_cast<const cuDoubleComplex*>(&zero), reinterpret_cast<cuDoubleComplex*>(z.data()), 1));
               } else {
                 check(cublasDgemv(handle.get(), operation(transposed), static_cast<int>(m), static_cast<int>(n), &one,
                                   A.data(), static_cast<int>(m), x.data(), 1, &zero, z.data(), 1));
               }
             });
           }},
          "gbytes");
  require_close<T>(state, y, z);
}

void systems(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgsProduct({{1024, 4096, 16384}, {0, 1}})->ArgNames({"n", "transposed"});
  benchmark->Iterations(9)->UseManualTime()->Unit(benchmark::kMillisecond);
}
void products(benchmark::internal::Benchmark* benchmark) {
  for (const int transposed : {0, 1}) {
    benchmark->Args({16384, 16384, transposed})->Args({1 << 20, 256, transposed})->Args({256, 1 << 20, transposed});
  }
  benchmark->ArgNames({"m", "n", "transposed"})->Iterations(9)->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(trsv<double>)->Name("exact/double/trsv_beside_cublas")->Apply(systems);
BENCHMARK(trsv<Kokkos::complex<double>>)->Name("exact/complex-double/trsv_beside_cublas")->Apply(systems);
BENCHMARK(gemv<double>)->Name("exact/double/gemv_beside_cublas")->Apply(products);
BENCHMARK(gemv<Kokkos::complex<double>>)->Name("exact/complex-double/gemv_beside_cublas")->Apply(products);

}  // namespace
}  // namespace heddle::perf

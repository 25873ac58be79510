// Benchmarks of batches of eigenproblems of 96 to 512 rows and of singular value decompositions against LAPACK's
// routines in a loop of threads, a matrix each, or against cuSOLVER's batched ones. Rates are matrices per second.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/svd.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include <cusolverDn.h>
#else
extern "C" {
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*, std::size_t, std::size_t);
void zheevd_(const char*, const char*, const int*, Kokkos::complex<double>*, const int*, double*,
             Kokkos::complex<double>*, const int*, double*, const int*, int*, const int*, int*, std::size_t,
             std::size_t);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*,
             const int*, double*, const int*, int*, int*, std::size_t);
void dgesvj_(const char*, const char*, const char*, const int*, const int*, double*, const int*, double*, const int*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t, std::size_t);
// Defined if the BLAS is OpenBLAS, whose own threads would compete with those of the loop.
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads();
}
#endif

namespace heddle::perf {
namespace {

template <Scalar T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
using BatchValues = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;

template <Scalar T> Batch<T> random_batch(Index m, Index n, Index count, bool hermitian) {
  const Batch<T> A("heddle::perf::A", m, n, count);
  const RandomElements<T> random{3};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, m * n * count),
      KOKKOS_LAMBDA(Index at) {
        const Index i = at % m;
        const Index j = at / m % n;
        const Index b = at / m / n;
        const T below = random((i > j ? i : j) + b * m, i > j ? j : i);
        A(i, j, b) = !hermitian ? random(i + b * m, j)
                     : i == j   ? T(below + conjugate(below))
                     : i < j    ? conjugate(below)
                                : below;
      });
  return A;
}

// G G^H for each random G: positive definite, of condition some n^2.
template <Scalar T> Batch<T> definite_batch(Index n, Index count) {
  const Batch<T> A("heddle::perf::A", n, n, count);
  const RandomElements<T> random{4};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n * count),
      KOKKOS_LAMBDA(Index at) {
        const Index i = at % n;
        const Index j = at / n % n;
        const Index b = at / n / n;
        T sum = T(0);
        for (Index k = 0; k < n; ++k) {
          sum += random((i > j ? i : j) + b * n, k) * conjugate(random((i > j ? j : i) + b * n, k));
        }
        A(i, j, b) = i < j ? conjugate(sum) : sum;
      });
  return A;
}

#ifdef KOKKOS_ENABLE_CUDA

void check(cusolverStatus_t status) {
  require(status == CUSOLVER_STATUS_SUCCESS, "cuSOLVER: status ", static_cast<int>(status));
}

// cuSOLVER's handles and workspace.
class Handles {
 public:
  Handles() {
    check(cusolverDnCreate(&handle));
    check(cusolverDnSetStream(handle, world().space().cuda_stream()));
    check(cusolverDnCreateParams(&parameters));
    check(cusolverDnCreateGesvdjInfo(&jacobi));
  }
  ~Handles() {
    cusolverDnDestroyGesvdjInfo(jacobi);
    cusolverDnDestroyParams(parameters);
    cusolverDnDestroy(handle);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t parameters = nullptr;
  gesvdjInfo_t jacobi = nullptr;
};
constexpr cusolverEigMode_t with_vectors = CUSOLVER_EIG_MODE_VECTOR;

template <Scalar T> class EigenPeer {
 public:
  static std::vector<std::string> routines() { return {"XsyevBatched"}; }
  EigenPeer(Index n, Index count)
      : n_(n),
        count_(count),
        A_("heddle::perf::A", n, n, count),
        w_("heddle::perf::w", n, count),
        info_("heddle::perf::info", count) {
    check(cusolverDnXsyevBatched_bufferSize(handles_.handle, handles_.parameters, with_vectors, CUBLAS_FILL_MODE_LOWER,
                                            n_, type, A_.data(), n_, CUDA_R_64F, w_.data(), type, &device_, &host_,
                                            count_));
    work_ = Kokkos::View<char*, MemorySpace>("heddle::perf::work", device_);
    host_work_.resize(host_);
  }
  void solve(const std::string& /*routine*/, const Batch<T>& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    check(cusolverDnXsyevBatched(handles_.handle, handles_.parameters, with_vectors, CUBLAS_FILL_MODE_LOWER, n_, type,
                                 A_.data(), n_, CUDA_R_64F, w_.data(), type, work_.data(), device_, host_work_.data(),
                                 host_, info_.data(), count_));
  }
  [[nodiscard]] const BatchValues& values() const { return w_; }

 private:
  static constexpr cudaDataType type = is_complex<T> ? CUDA_C_64F : CUDA_R_64F;
  Handles handles_;
  Index n_;
  Index count_;
  Batch<T> A_;
  BatchValues w_;
  Kokkos::View<int*, MemorySpace> info_;
  Kokkos::View<char*, MemorySpace> work_;
  std::size_t device_ = 0;
  std::size_t host_ = 0;
  std::vector<char> host_work_;
};

// gesvdjBatched takes up to 32 rows and columns; larger matrices go to gesvdj one after another.
class SvdPeer {
 public:
  static std::vector<std::string> routines() { return {"gesvdj"}; }
  SvdPeer(Index m, Index n, Index count)
      : m_(static_cast<int>(m)),
        n_(static_cast<int>(n)),
        count_(static_cast<int>(count)),
        A_("heddle::perf::A", m, n, count),
        U_("heddle::perf::U", m, m, count),
        V_("heddle::perf::V", n, n, count),
        s_("heddle::perf::s", n, count),
        info_("heddle::perf::info", count) {
    if (batched()) {
      check(cusolverDnDgesvdjBatched_bufferSize(handles_.handle, with_vectors, m_, n_, A_.data(), m_, s_.data(),
                                                U_.data(), m_, V_.data(), n_, &size_, handles_.jacobi, count_));
    } else {
      check(cusolverDnDgesvdj_bufferSize(handles_.handle, with_vectors, 1, m_, n_, A_.data(), m_, s_.data(), U_.data(),
                                         m_, V_.data(), n_, &size_, handles_.jacobi));
    }
    work_ = Kokkos::View<double*, MemorySpace>("heddle::perf::work", size_);
  }
  void solve(const std::string& /*routine*/, const Batch<double>& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    if (batched()) {
      check(cusolverDnDgesvdjBatched(handles_.handle, with_vectors, m_, n_, A_.data(), m_, s_.data(), U_.data(), m_,
                                     V_.data(), n_, work_.data(), size_, info_.data(), handles_.jacobi, count_));
      return;
    }
    const auto m = static_cast<std::size_t>(m_);
    const auto n = static_cast<std::size_t>(n_);
    for (std::size_t b = 0; b < static_cast<std::size_t>(count_); ++b) {
      check(cusolverDnDgesvdj(handles_.handle, with_vectors, 1, m_, n_, A_.data() + b * m * n, m_, s_.data() + b * n,
                              U_.data() + b * m * m, m_, V_.data() + b * n * n, n_, work_.data(), size_,
                              info_.data() + b, handles_.jacobi));
    }
  }
  [[nodiscard]] const BatchValues& values() const { return s_; }

 private:
  [[nodiscard]] bool batched() const { return m_ <= 32 && n_ <= 32; }

  Handles handles_;
  int m_;
  int n_;
  int count_;
  Batch<double> A_;
  Batch<double> U_;
  Batch<double> V_;
  BatchValues s_;
  Kokkos::View<int*, MemorySpace> info_;
  Kokkos::View<double*, MemorySpace> work_;
  int size_ = 0;
};
constexpr Index elements_of_batch = Index{1} << 26;

#else

// Workspace of a thread's LAPACK calls.
struct Desk {
  std::vector<double> numbers;
  std::vector<Kokkos::complex<double>> complex_numbers;
  std::vector<int> integers;
  std::vector<double> left;
  std::vector<double> right;
};

// Loops over matrices with all threads, one matrix each, while the BLAS has one thread.
template <class Body> void for_each_matrix(Index count, const Body& body) {
  const int before = openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1;
  if (openblas_set_num_threads != nullptr) {
    openblas_set_num_threads(1);
  }
  Kokkos::parallel_for("heddle::perf::lapack",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>(world().space(), 0, count,
                                                                                              Kokkos::ChunkSize(1)),
                       [&body](Index b) {
                         static thread_local Desk desk;
                         body(b, desk);
                       });
  world().space().fence("heddle::perf::lapack");
  if (openblas_set_num_threads != nullptr) {
    openblas_set_num_threads(before);
  }
}

template <Scalar T> class EigenPeer {
 public:
  static std::vector<std::string> routines() { return {is_complex<T> ? "zheevd" : "dsyevd"}; }
  EigenPeer(Index n, Index count) : A_("heddle::perf::A", n, n, count), w_("heddle::perf::w", n, count) {}
  void solve(const std::string& /*routine*/, const Batch<T>& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    const int n = static_cast<int>(A_.extent(0));
    for_each_matrix(static_cast<Index>(A_.extent(2)), [&](Index b, Desk& desk) {
      const auto size = static_cast<std::size_t>(n);
      desk.numbers.resize(1 + 6 * size + 2 * size * size);
      desk.integers.resize(3 + 5 * size);
      const int length = static_cast<int>(desk.numbers.size());
      const int integers = static_cast<int>(desk.integers.size());
      int info = 0;
      if constexpr (is_complex<T>) {
        desk.complex_numbers.resize(2 * size + size * size);
        const int complex_length = static_cast<int>(desk.complex_numbers.size());
        zheevd_("V", "L", &n, &A_(0, 0, b), &n, &w_(0, b), desk.complex_numbers.data(), &complex_length,
                desk.numbers.data(), &length, desk.integers.data(), &integers, &info, 1, 1);
      } else {
        dsyevd_("V", "L", &n, &A_(0, 0, b), &n, &w_(0, b), desk.numbers.data(), &length, desk.integers.data(),
                &integers, &info, 1, 1);
      }
    });
  }
  [[nodiscard]] const BatchValues& values() const { return w_; }

 private:
  Batch<T> A_;
  BatchValues w_;
};

class SvdPeer {
 public:
  static std::vector<std::string> routines() { return {"dgesdd", "dgesvj"}; }
  SvdPeer(Index m, Index n, Index count) : A_("heddle::perf::A", m, n, count), s_("heddle::perf::s", n, count) {}
  void solve(const std::string& routine, const Batch<double>& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    const int m = static_cast<int>(A_.extent(0));
    const int n = static_cast<int>(A_.extent(1));
    for_each_matrix(static_cast<Index>(A_.extent(2)), [&](Index b, Desk& desk) {
      const auto rows = static_cast<std::size_t>(m);
      const auto columns = static_cast<std::size_t>(n);
      desk.left.resize(rows * columns);
      desk.right.resize(columns * columns);
      desk.numbers.resize(8 * columns * columns + 64 * (rows + columns) + 64);
      desk.integers.resize(8 * columns);
      const int length = static_cast<int>(desk.numbers.size());
      int info = 0;
      if (routine == "dgesdd") {
        dgesdd_("S", &m, &n, &A_(0, 0, b), &m, &s_(0, b), desk.left.data(), &m, desk.right.data(), &n,
                desk.numbers.data(), &length, desk.integers.data(), &info, 1);
      } else {
        dgesvj_("G", "U", "V", &m, &n, &A_(0, 0, b), &m, &s_(0, b), &n, desk.right.data(), &n, desk.numbers.data(),
                &length, &info, 1, 1, 1);
      }
    });
  }
  [[nodiscard]] const BatchValues& values() const { return s_; }

 private:
  Batch<double> A_;
  BatchValues s_;
};
constexpr Index elements_of_batch = Index{1} << 20;

#endif

// Returns the largest difference of two sets of values over the largest of them.
double difference(const BatchValues& left, const BatchValues& right) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), left);
  const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), right);
  double most = 0;
  double norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::fmax(most, std::abs(x.data()[i] - y.data()[i]));
    norm = std::fmax(norm, std::abs(y.data()[i]));
  }
  return most / norm;
}

Index count_of(Index rows, Index columns) {
  return is_dry_run() ? 3 : std::max<Index>(2, elements_of_batch / (rows * columns));
}

template <Scalar T> void eigen_batch(benchmark::State& state, const std::string& routine, bool definite) {
  const Index n = extent(state.range(0));
  const Index count = count_of(n, n);
  const Batch<T> A = definite ? definite_batch<T>(n, count) : random_batch<T>(n, n, count, true);
  const Batch<T> V("heddle::perf::V", n, n, count);
  const BatchValues w("heddle::perf::w", n, count);
  eigen::JacobiBatchedReport report;
  EigenPeer<T> peer(n, count);
  compare(state, 1e9 * static_cast<double>(count),
          {"heddle", [&] { return seconds_of([&] { report = eigen::jacobi_batched(world().space(), A, w, V); }); }},
          {"peer", [&] { return seconds_of([&] { peer.solve(routine, A); }); }}, "per_second");
  state.counters["count"] = static_cast<double>(count);
  state.counters["sweeps"] = report.sweeps;
  if (!report.converged() || !(difference(w, peer.values()) < 1e-11)) {
    fail(state, "the eigenvalues differ by more than roundings");
  }
}

void svd_batch(benchmark::State& state, const std::string& routine) {
  const Index m = extent(state.range(0));
  const Index n = std::min(m, extent(state.range(1)));
  const Index count = count_of(m, n);
  const Batch<double> A = random_batch<double>(m, n, count, false);
  const Batch<double> U("heddle::perf::U", m, n, count);
  const Batch<double> V("heddle::perf::V", n, n, count);
  const BatchValues s("heddle::perf::s", n, count);
  eigen::SvdBatchedReport report;
  SvdPeer peer(m, n, count);
  compare(state, 1e9 * static_cast<double>(count),
          {"heddle", [&] { return seconds_of([&] { report = eigen::svd_batched(world().space(), A, s, U, V); }); }},
          {"peer", [&] { return seconds_of([&] { peer.solve(routine, A); }); }}, "per_second");
  state.counters["count"] = static_cast<double>(count);
  state.counters["sweeps"] = report.sweeps;
  if (!report.converged() || !(difference(s, peer.values()) < 1e-11)) {
    fail(state, "the singular values differ by more than roundings");
  }
}

template <Scalar T> void add_eigen(const std::string& type, bool definite) {
  for (const std::string& routine : EigenPeer<T>::routines()) {
    benchmark::RegisterBenchmark(
        ("eigen/batches/" + type + "/" + routine).c_str(),
        [routine, definite](benchmark::State& state) { eigen_batch<T>(state, routine, definite); })
        ->Arg(96)
        ->Arg(128)
        ->Arg(256)
        ->Arg(512)
        ->ArgName("n")
        ->Iterations(3)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

[[maybe_unused]] const bool added = [] {
  add_eigen<double>("double", false);
  add_eigen<Kokkos::complex<double>>("complex", false);
  add_eigen<double>("definite", true);
  for (const std::string& routine : SvdPeer::routines()) {
    benchmark::RegisterBenchmark(("svd/batches/" + routine).c_str(),
                                 [routine](benchmark::State& state) { svd_batch(state, routine); })
        ->Args({32, 32})
        ->Args({64, 64})
        ->Args({128, 128})
        ->Args({256, 256})
        ->Args({512, 64})
        ->ArgNames({"m", "n"})
        ->Iterations(3)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf

// Benchmarks of eigen::jacobi against LAPACK's dsyev, dsyevd and dgesvj, or against cuSOLVER's, in turn. Rates are
// matrices per second.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/jacobi.hpp>
#include <heddle/models/kohn_sham.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include <cusolverDn.h>
#else
extern "C" {
void dsyev_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, std::size_t,
            std::size_t);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*, std::size_t, std::size_t);
void dgesvj_(const char*, const char*, const char*, const int*, const int*, double*, const int*, double*, const int*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t, std::size_t);
// Defined if the BLAS is OpenBLAS, whose own threads would compete with those of the loop.
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads();
}
#endif

namespace heddle::perf {
namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;
using Batch = Kokkos::View<double***, Kokkos::LayoutLeft, MemorySpace>;
using Values = Kokkos::View<double*, MemorySpace>;
using BatchValues = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;

Matrix random_symmetric(Index n, int seed) {
  const Matrix A("heddle::perf::A", static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  const RandomEntries random{seed};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n),
      KOKKOS_LAMBDA(Index at) {
        const Index i = at % n;
        const Index j = at / n;
        A(i, j) = i < j ? random(i, j) : random(j, i);
      });
  return A;
}
Matrix kohn_sham(Index n) {
  eigen::KohnShamOptions options;
  options.points = static_cast<int>(n);
  const eigen::KohnSham system(options);
  const std::vector<double> H = system.hamiltonian(system.initial_density());
  const Matrix A("heddle::perf::A", static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  Kokkos::deep_copy(
      A, Kokkos::View<const double**, Kokkos::LayoutLeft, Kokkos::HostSpace>(H.data(), A.extent(0), A.extent(1)));
  return A;
}
// Returns B = A + share |A|_F E / |E|_F, E random and symmetric.
Matrix perturbed(const Matrix& A, double share) {
  const Matrix E = random_symmetric(static_cast<Index>(A.extent(0)), 77);
  const auto norm = [](const Matrix& M) {
    double sum = 0;
    Kokkos::parallel_reduce(
        "heddle::perf::norm",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, static_cast<Index>(M.size())),
        KOKKOS_LAMBDA(Index at, double& part) { part += M.data()[at] * M.data()[at]; }, sum);
    return std::sqrt(sum);
  };
  const double factor = share * norm(A) / norm(E);
  const Matrix B("heddle::perf::B", A.extent(0), A.extent(1));
  Kokkos::parallel_for(
      "heddle::perf::perturb",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index at) { B.data()[at] = A.data()[at] + factor * E.data()[at]; });
  return B;
}

#ifdef KOKKOS_ENABLE_CUDA

class Peer {
 public:
  explicit Peer(Index n)
      : n_(static_cast<int>(n)), A_("heddle::perf::A", n, n), w_("heddle::perf::w", n), info_("heddle::perf::info", 1) {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, world().space().cuda_stream()));
    check(cusolverDnCreateSyevjInfo(&jacobi_));
    check(cusolverDnCreateParams(&parameters_));
    int size = 0;
    check(cusolverDnDsyevj_bufferSize(handle_, mode, lower, n_, A_.data(), n_, w_.data(), &size, jacobi_));
    std::size_t device = 0;
    std::size_t host = 0;
    check(cusolverDnXsyevd_bufferSize(handle_, parameters_, mode, lower, n_, CUDA_R_64F, A_.data(), n_, CUDA_R_64F,
                                      w_.data(), CUDA_R_64F, &device, &host));
    work_ = Kokkos::View<char*, MemorySpace>("heddle::perf::work",
                                             std::max(device, static_cast<std::size_t>(size) * sizeof(double)));
    size_ = size;
    device_ = device;
    host_.resize(host);
  }
  ~Peer() {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroySyevjInfo(jacobi_);
    cusolverDnDestroy(handle_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void solve(const std::string& routine, const Matrix& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    if (routine == "syevj") {
      check(cusolverDnDsyevj(handle_, mode, lower, n_, A_.data(), n_, w_.data(),
                             reinterpret_cast<double*>(work_.data()), size_, info_.data(), jacobi_));
    } else {
      check(cusolverDnXsyevd(handle_, parameters_, mode, lower, n_, CUDA_R_64F, A_.data(), n_, CUDA_R_64F, w_.data(),
                             CUDA_R_64F, work_.data(), device_, host_.data(), host_.size(), info_.data()));
    }
  }
  [[nodiscard]] const Values& values() const { return w_; }

  static void check(cusolverStatus_t status) {
    require(status == CUSOLVER_STATUS_SUCCESS, "cuSOLVER: status ", static_cast<int>(status));
  }
  static constexpr cusolverEigMode_t mode = CUSOLVER_EIG_MODE_VECTOR;
  static constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;

 private:
  int n_;
  Matrix A_;
  Values w_;
  Kokkos::View<int*, MemorySpace> info_;
  Kokkos::View<char*, MemorySpace> work_;
  int size_ = 0;
  std::size_t device_ = 0;
  std::vector<char> host_;
  cusolverDnHandle_t handle_ = nullptr;
  syevjInfo_t jacobi_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
};
constexpr const char* accurate = "syevd";

class BatchPeer {
 public:
  BatchPeer(Index n, Index count)
      : n_(static_cast<int>(n)),
        count_(static_cast<int>(count)),
        A_("heddle::perf::A", n, n, count),
        w_("heddle::perf::w", n, count),
        info_("heddle::perf::info", count) {
    Peer::check(cusolverDnCreate(&handle_));
    Peer::check(cusolverDnSetStream(handle_, world().space().cuda_stream()));
    Peer::check(cusolverDnCreateSyevjInfo(&jacobi_));
    Peer::check(cusolverDnCreateParams(&parameters_));
    int size = 0;
    Peer::check(cusolverDnDsyevjBatched_bufferSize(handle_, Peer::mode, Peer::lower, n_, A_.data(), n_, w_.data(),
                                                   &size, jacobi_, count_));
    std::size_t device = 0;
    std::size_t host = 0;
    Peer::check(cusolverDnXsyevBatched_bufferSize(handle_, parameters_, Peer::mode, Peer::lower, n_, CUDA_R_64F,
                                                  A_.data(), n_, CUDA_R_64F, w_.data(), CUDA_R_64F, &device, &host,
                                                  count_));
    work_ = Kokkos::View<char*, MemorySpace>("heddle::perf::work",
                                             std::max(device, static_cast<std::size_t>(size) * sizeof(double)));
    size_ = size;
    device_ = device;
    host_.resize(host);
  }
  ~BatchPeer() {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroySyevjInfo(jacobi_);
    cusolverDnDestroy(handle_);
  }
  BatchPeer(const BatchPeer&) = delete;
  BatchPeer& operator=(const BatchPeer&) = delete;
  void solve(const std::string& routine, const Batch& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    if (routine == "syevjBatched") {
      Peer::check(cusolverDnDsyevjBatched(handle_, Peer::mode, Peer::lower, n_, A_.data(), n_, w_.data(),
                                          reinterpret_cast<double*>(work_.data()), size_, info_.data(), jacobi_,
                                          count_));
    } else {
      Peer::check(cusolverDnXsyevBatched(handle_, parameters_, Peer::mode, Peer::lower, n_, CUDA_R_64F, A_.data(), n_,
                                         CUDA_R_64F, w_.data(), CUDA_R_64F, work_.data(), device_, host_.data(),
                                         host_.size(), info_.data(), count_));
    }
  }
  [[nodiscard]] const BatchValues& values() const { return w_; }

 private:
  int n_;
  int count_;
  Batch A_;
  BatchValues w_;
  Kokkos::View<int*, MemorySpace> info_;
  Kokkos::View<char*, MemorySpace> work_;
  int size_ = 0;
  std::size_t device_ = 0;
  std::vector<char> host_;
  cusolverDnHandle_t handle_ = nullptr;
  syevjInfo_t jacobi_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
};
const std::vector<std::string> batch_routines = {"syevjBatched", "XsyevBatched"};
const std::vector<std::pair<std::string, std::string>> pairs = {
    {"automatic", "syevj"}, {"automatic", "syevd"}, {"blocked", "syevj"}, {"blocked", "syevd"}, {"warm", "syevd"}};
const std::vector<Index> sizes = {256, 1024, 4096};

#else

int lapack(const std::string& routine, int n, double* A, double* w, double* V, std::vector<double>& work,
           std::vector<int>& integers) {
  const auto size = static_cast<std::size_t>(n);
  work.resize(1 + 6 * size + 2 * size * size);
  integers.resize(3 + 5 * size);
  const int length = static_cast<int>(work.size());
  const int integer_length = static_cast<int>(integers.size());
  int info = 0;
  if (routine == "dsyev") {
    dsyev_("V", "L", &n, A, &n, w, work.data(), &length, &info, 1, 1);
  } else if (routine == "dsyevd") {
    dsyevd_("V", "L", &n, A, &n, w, work.data(), &length, integers.data(), &integer_length, &info, 1, 1);
  } else {
    dgesvj_("G", "U", "V", &n, &n, A, &n, w, &n, V, &n, work.data(), &length, &info, 1, 1, 1);
  }
  return info;
}

class Peer {
 public:
  explicit Peer(Index n) : A_("heddle::perf::A", n, n), V_("heddle::perf::V", n, n), w_("heddle::perf::w", n) {}
  void solve(const std::string& routine, const Matrix& A) {
    Kokkos::deep_copy(world().space(), A_, A);
    const int info = lapack(routine, static_cast<int>(A.extent(0)), A_.data(), w_.data(), V_.data(), work_, integers_);
    require(info == 0, "LAPACK: info = ", info);
    // Singular values are those of a symmetric matrix except for their signs.
    has_signs_ = routine != "dgesvj";
  }
  [[nodiscard]] const Values& values() const { return w_; }
  [[nodiscard]] bool has_signs() const { return has_signs_; }

 private:
  Matrix A_;
  Matrix V_;
  Values w_;
  std::vector<double> work_;
  std::vector<int> integers_;
  bool has_signs_ = true;
};

// A loop of all threads, one matrix each.
class BatchPeer {
 public:
  BatchPeer(Index n, Index count) : A_("heddle::perf::A", n, n, count), w_("heddle::perf::w", n, count) {}
  void solve(const std::string& routine, const Batch& A) {
    const int before = openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1;
    if (openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(1);
    }
    Kokkos::deep_copy(world().space(), A_, A);
    const Batch matrices = A_;
    const BatchValues values = w_;
    Kokkos::parallel_for("heddle::perf::lapack",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>(
                             world().space(), 0, A.extent(2), Kokkos::ChunkSize(16)),
                         [matrices, values, &routine](std::size_t b) {
                           static thread_local std::vector<double> work;
                           static thread_local std::vector<int> integers;
                           const int n = static_cast<int>(matrices.extent(0));
                           lapack(routine, n, &matrices(0, 0, b), &values(0, b), nullptr, work, integers);
                         });
    world().space().fence("heddle::perf::lapack");
    if (openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(before);
    }
  }
  [[nodiscard]] const BatchValues& values() const { return w_; }

 private:
  Batch A_;
  BatchValues w_;
};
const std::vector<std::string> batch_routines = {"dsyev", "dsyevd"};
const std::vector<std::pair<std::string, std::string>> pairs = {{"automatic", "dsyev"},  {"automatic", "dsyevd"},
                                                                {"automatic", "dgesvj"}, {"blocked", "dsyev"},
                                                                {"blocked", "dgesvj"},   {"warm", "dsyevd"}};
const std::vector<Index> sizes = {256, 1024};

#endif

// Returns the largest difference of two sets of eigenvalues over the largest of them.
template <class View> double difference(const View& left, const View& right, bool signs) {
  const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), left);
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), right);
  std::vector<double> x(a.data(), a.data() + a.size());
  std::vector<double> y(b.data(), b.data() + b.size());
  if (!signs) {
    for (auto* values : {&x, &y}) {
      for (double& value : *values) {
        value = std::abs(value);
      }
      std::sort(values->begin(), values->end());
    }
  }
  double most = 0;
  double norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::fmax(most, std::abs(x[i] - y[i]));
    norm = std::fmax(norm, std::abs(y[i]));
  }
  return most / norm;
}

void beside(benchmark::State& state, const std::string& method, const std::string& routine, bool is_kohn_sham) {
  const Index n = is_dry_run() ? 70 : state.range(0);
  const Matrix A = is_kohn_sham ? kohn_sham(n) : random_symmetric(n, 1);
  const Matrix V("heddle::perf::V", A.extent(0), A.extent(0));
  const Values w("heddle::perf::w", A.extent(0));
  const ExecutionSpace& space = world().space();
  eigen::JacobiOptions options;
  Matrix B = A;
  Matrix start;
  if (method == "warm") {
    start = Matrix("heddle::perf::start", A.extent(0), A.extent(0));
    require(eigen::jacobi(space, A, w, start).converged, "not converged");
    B = perturbed(A, 1e-3);
    options.warm_start = true;
  } else if (method != "automatic") {
    options.method = eigen::jacobi_method_from(method);
  }
  eigen::JacobiReport report;
  // Both sides reuse handles and memory from an earlier matrix of these extents.
  eigen::JacobiPlan<double> plan(space, static_cast<Index>(A.extent(0)), options);
  Peer peer(n);
  compare(state, 1e9,
          {"heddle",
           [&] {
             if (!options.warm_start) return seconds_of([&] { report = plan.execute(B, w, V); });
             Kokkos::deep_copy(V, start);
             return seconds_of([&] { report = eigen::jacobi(space, B, w, V, options); });
           }},
          {"peer", [&] { return seconds_of([&] { peer.solve(routine, B); }); }}, "per_second");
  state.counters["sweeps"] = report.sweeps;
#ifdef KOKKOS_ENABLE_CUDA
  const bool signs = true;
#else
  const bool signs = peer.has_signs();
#endif
  if (!report.converged || !(difference(w, peer.values(), signs) < 1e-11)) {
    fail(state, "the eigenvalues differ by more than roundings");
  }
}

void batched(benchmark::State& state, const std::string& routine) {
  const Index n = state.range(0);
  const Index count = is_dry_run() ? 20 : state.range(1);
  const Batch A("heddle::perf::A", n, n, count);
  const RandomEntries random{3};
  Kokkos::parallel_for(
      "heddle::perf::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, n * n * count),
      KOKKOS_LAMBDA(Index at) {
        const Index i = at % n;
        const Index j = at / n % n;
        const Index b = at / n / n;
        A(i, j, b) = i < j ? random(i + b * n, j) : random(j + b * n, i);
      });
  const Batch V("heddle::perf::V", n, n, count);
  const BatchValues w("heddle::perf::w", n, count);
  eigen::JacobiBatchedReport report;
  BatchPeer peer(n, count);
  compare(state, 1e9 * static_cast<double>(count),
          {"heddle", [&] { return seconds_of([&] { report = eigen::jacobi_batched(world().space(), A, w, V); }); }},
          {"peer", [&] { return seconds_of([&] { peer.solve(routine, A); }); }}, "per_second");
  state.counters["sweeps"] = report.sweeps;
  if (!report.converged() || !(difference(w, peer.values(), true) < 1e-11)) {
    fail(state, "the eigenvalues differ by more than roundings");
  }
}

[[maybe_unused]] const bool added = [] {
  for (const auto& [method, routine] : pairs) {
    for (const bool is_kohn_sham : {false, true}) {
      auto* const bench = benchmark::RegisterBenchmark(
          ("eigen/" + std::string(is_kohn_sham ? "kohn-sham/" : "random/") + method + "/" + routine).c_str(),
          [method = method, routine = routine, is_kohn_sham](benchmark::State& state) {
            beside(state, method, routine, is_kohn_sham);
          });
      for (const Index n : sizes) {
        bench->Arg(n);
      }
      bench->ArgName("n")->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);
    }
  }
  for (const std::string& routine : batch_routines) {
    benchmark::RegisterBenchmark(("eigen/batched/" + routine).c_str(),
                                 [routine](benchmark::State& state) { batched(state, routine); })
        ->Args({16, 10000})
        ->Args({32, 10000})
        ->Args({64, 2000})
        ->ArgNames({"n", "count"})
        ->Iterations(5)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf

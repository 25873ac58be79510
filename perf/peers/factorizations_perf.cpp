// Benchmarks of heddle::lu, heddle::cholesky and heddle::qr, natively and by integers, against LAPACK's or cuSOLVER's
// getrf, potrf and geqrf on one rank, and, except for QR, against ScaLAPACK's or cuSOLVERMp's over all: the same
// matrices, in turn, in one run.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/solve/cholesky.hpp>
#include <heddle/solve/lu.hpp>
#include <heddle/solve/qr.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>
#ifdef KOKKOS_ENABLE_CUDA
#include <cusolverDn.h>
#ifdef HEDDLE_CUSOLVERMP
#include <cusolverMp.h>
#include <nccl.h>
#endif
#else
extern "C" {
void dgetrf_(const int*, const int*, void*, const int*, int*, int*);
void zgetrf_(const int*, const int*, void*, const int*, int*, int*);
void dpotrf_(const char*, const int*, void*, const int*, int*);
void zpotrf_(const char*, const int*, void*, const int*, int*);
void dgeqrf_(const int*, const int*, void*, const int*, void*, void*, const int*, int*);
void zgeqrf_(const int*, const int*, void*, const int*, void*, void*, const int*, int*);
}
#endif
#ifdef HEDDLE_SCALAPACK
extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdgetrf_(const int*, const int*, void*, const int*, const int*, const int*, int*, int*);
void pzgetrf_(const int*, const int*, void*, const int*, const int*, const int*, int*, int*);
void pdpotrf_(const char*, const int*, void*, const int*, const int*, const int*, int*);
void pzpotrf_(const char*, const int*, void*, const int*, const int*, const int*, int*);
}
#endif

namespace heddle::perf {
namespace {

using Complex = Kokkos::complex<double>;
constexpr bool on_cpus = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

enum class Kind { lu, cholesky, qr };
constexpr const char* names[] = {"lu", "cholesky", "qr"};

// Another library's factorization in place.
template <Scalar T> class Peer {
 public:
  Peer() = default;
  virtual ~Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual void factor(const DistributedMatrix<T>& A) = 0;
};

#ifdef KOKKOS_ENABLE_CUDA
void check(cusolverStatus_t status) {
  require(status == CUSOLVER_STATUS_SUCCESS, "cuSOLVER: status ", static_cast<int>(status));
}
// The same factorization on every rank, independently.
template <Scalar T> class OneRank final : public Peer<T> {
 public:
  OneRank(Kind kind, Index n)
      : kind_(kind),
        n_(n),
        pivots_("heddle::perf::pivots", n),
        tau_("heddle::perf::tau", kind == Kind::qr ? n : 0),
        info_("heddle::perf::info", 1) {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnCreateParams(&parameters_));
    check(cusolverDnSetStream(handle_, world().space().cuda_stream()));
    if (kind == Kind::lu) {
      check(cusolverDnXgetrf_bufferSize(handle_, parameters_, n, n, type, nullptr, n, type, &device_bytes_,
                                        &host_bytes_));
    } else if (kind == Kind::qr) {
      check(cusolverDnXgeqrf_bufferSize(handle_, parameters_, n, n, type, nullptr, n, type, nullptr, type,
                                        &device_bytes_, &host_bytes_));
    } else {
      check(cusolverDnXpotrf_bufferSize(handle_, parameters_, CUBLAS_FILL_MODE_LOWER, n, type, nullptr, n, type,
                                        &device_bytes_, &host_bytes_));
    }
    device_ = Kokkos::View<char*, MemorySpace>("heddle::perf::work", device_bytes_);
    host_.resize(host_bytes_);
  }
  ~OneRank() override {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroy(handle_);
  }
  OneRank(const OneRank&) = delete;
  OneRank& operator=(const OneRank&) = delete;
  void factor(const DistributedMatrix<T>& A) override {
    const auto leading = static_cast<Index>(A.local().stride(1));
    if (kind_ == Kind::lu) {
      check(cusolverDnXgetrf(handle_, parameters_, n_, n_, type, A.local().data(), leading, pivots_.data(), type,
                             device_.data(), device_bytes_, host_.data(), host_bytes_, info_.data()));
    } else if (kind_ == Kind::qr) {
      check(cusolverDnXgeqrf(handle_, parameters_, n_, n_, type, A.local().data(), leading, type, tau_.data(), type,
                             device_.data(), device_bytes_, host_.data(), host_bytes_, info_.data()));
    } else {
      check(cusolverDnXpotrf(handle_, parameters_, CUBLAS_FILL_MODE_LOWER, n_, type, A.local().data(), leading, type,
                             device_.data(), device_bytes_, host_.data(), host_bytes_, info_.data()));
    }
  }
  static constexpr const char* name = "cusolver";

 private:
  static constexpr cudaDataType type = is_complex<T> ? CUDA_C_64F : CUDA_R_64F;
  Kind kind_;
  Index n_;
  Kokkos::View<Index*, MemorySpace> pivots_;
  Kokkos::View<T*, MemorySpace> tau_;
  Kokkos::View<int*, MemorySpace> info_;
  std::size_t device_bytes_ = 0;
  std::size_t host_bytes_ = 0;
  Kokkos::View<char*, MemorySpace> device_;
  std::vector<char> host_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
};
#else
template <Scalar T> class OneRank final : public Peer<T> {
 public:
  OneRank(Kind kind, Index n)
      : kind_(kind),
        pivots_(static_cast<std::size_t>(n)),
        tau_(static_cast<std::size_t>(n)),
        work_(static_cast<std::size_t>(kind == Kind::qr ? 128 * n : 0)) {}
  void factor(const DistributedMatrix<T>& A) override {
    const auto n = static_cast<int>(A.rows());
    const auto leading = static_cast<int>(std::max<std::size_t>(1, A.local().stride(1)));
    int info = 0;
    if (kind_ == Kind::lu) {
      (is_complex<T> ? &zgetrf_ : &dgetrf_)(&n, &n, A.local().data(), &leading, pivots_.data(), &info);
    } else if (kind_ == Kind::qr) {
      const auto count = static_cast<int>(work_.size());
      (is_complex<T> ? &zgeqrf_ : &dgeqrf_)(&n, &n, A.local().data(), &leading, tau_.data(), work_.data(), &count,
                                            &info);
    } else {
      (is_complex<T> ? &zpotrf_ : &dpotrf_)("L", &n, A.local().data(), &leading, &info);
    }
    require(info == 0, "LAPACK: info ", info);
  }
  static constexpr const char* name = "lapack";

 private:
  Kind kind_;
  std::vector<int> pivots_;
  std::vector<T> tau_;
  std::vector<T> work_;
};
#endif

#ifdef HEDDLE_SCALAPACK
template <Scalar T> class AllRanks final : public Peer<T> {
 public:
  AllRanks(Kind kind, const Placement& placement) : kind_(kind), handle_(Csys2blacs_handle(world().native())) {
    context_ = handle_;
    const CyclicAxis& rows = placement.row_axis();
    const CyclicAxis& columns = placement.column_axis();
    Cblacs_gridinit(&context_, "R", rows.processes, columns.processes);
    const int values[] = {1,
                          context_,
                          static_cast<int>(placement.rows()),
                          static_cast<int>(placement.columns()),
                          static_cast<int>(rows.block),
                          static_cast<int>(columns.block),
                          0,
                          0,
                          static_cast<int>(std::max<Index>(1, placement.local_rows(world().rank())))};
    std::copy(std::begin(values), std::end(values), descriptor_);
    pivots_.resize(static_cast<std::size_t>(placement.local_rows(world().rank()) + rows.block));
  }
  ~AllRanks() override {
    Cblacs_gridexit(context_);
    Cfree_blacs_system_handle(handle_);
  }
  AllRanks(const AllRanks&) = delete;
  AllRanks& operator=(const AllRanks&) = delete;
  void factor(const DistributedMatrix<T>& A) override {
    const auto n = static_cast<int>(A.rows());
    const int one = 1;
    int info = 0;
    if (kind_ == Kind::lu) {
      (is_complex<T> ? &pzgetrf_ : &pdgetrf_)(&n, &n, A.local().data(), &one, &one, descriptor_, pivots_.data(), &info);
    } else {
      (is_complex<T> ? &pzpotrf_ : &pdpotrf_)("L", &n, A.local().data(), &one, &one, descriptor_, &info);
    }
    require(info == 0, "ScaLAPACK: info ", info);
  }
  static constexpr const char* name = "scalapack";

 private:
  Kind kind_;
  int handle_;
  int context_ = 0;
  int descriptor_[9] = {};
  std::vector<int> pivots_;
};
#endif

#ifdef HEDDLE_CUSOLVERMP
template <Scalar T> class AllRanks final : public Peer<T> {
 public:
  AllRanks(Kind kind, const Placement& placement) : kind_(kind), n_(placement.rows()), info_("heddle::perf::info", 1) {
    const CyclicAxis& rows = placement.row_axis();
    const CyclicAxis& columns = placement.column_axis();
    ncclUniqueId id{};
    if (world().rank() == 0) check(ncclGetUniqueId(&id));
    world().broadcast(std::span<ncclUniqueId>(&id, 1), 0);
    check(ncclCommInitRank(&nccl_, world().size(), id, world().rank()));
    int device = 0;
    require(cudaGetDevice(&device) == cudaSuccess, "cudaGetDevice failed");
    check("cusolverMpCreate", cusolverMpCreate(&handle_, device, world().space().cuda_stream()));
    check("cusolverMpCreateDeviceGrid",
          cusolverMpCreateDeviceGrid(handle_, &grid_, nccl_, rows.processes, columns.processes,
                                     CUSOLVERMP_GRID_MAPPING_ROW_MAJOR));
    const Index here = std::max<Index>(1, placement.local_rows(world().rank()));
    check("cusolverMpCreateMatrixDesc",
          cusolverMpCreateMatrixDesc(&descriptor_, grid_, type, n_, n_, rows.block, columns.block, 0, 0, here));
    pivots_ = Kokkos::View<int64_t*, MemorySpace>("heddle::perf::pivots", here + rows.block);
  }
  ~AllRanks() override {
    cusolverMpDestroyMatrixDesc(descriptor_);
    cusolverMpDestroyGrid(grid_);
    cusolverMpDestroy(handle_);
    ncclCommDestroy(nccl_);
  }
  AllRanks(const AllRanks&) = delete;
  AllRanks& operator=(const AllRanks&) = delete;
  void factor(const DistributedMatrix<T>& A) override {
    void* const a = A.local().data();
    if (device_.extent(0) == 0) {
      check("bufferSize", kind_ == Kind::lu
                              ? cusolverMpGetrf_bufferSize(handle_, n_, n_, a, 1, 1, descriptor_, pivots_.data(), type,
                                                           &device_bytes_, &host_bytes_)
                              : cusolverMpPotrf_bufferSize(handle_, CUBLAS_FILL_MODE_LOWER, n_, a, 1, 1, descriptor_,
                                                           type, &device_bytes_, &host_bytes_));
      device_ = Kokkos::View<char*, MemorySpace>("heddle::perf::work", device_bytes_);
      host_.resize(host_bytes_);
    }
    check(names[static_cast<int>(kind_)],
          kind_ == Kind::lu ? cusolverMpGetrf(handle_, n_, n_, a, 1, 1, descriptor_, pivots_.data(), type,
                                              device_.data(), device_bytes_, host_.data(), host_bytes_, info_.data())
                            : cusolverMpPotrf(handle_, CUBLAS_FILL_MODE_LOWER, n_, a, 1, 1, descriptor_, type,
                                              device_.data(), device_bytes_, host_.data(), host_bytes_, info_.data()));
    world().space().fence();
  }
  static constexpr const char* name = "cusolvermp";

 private:
  static void check(ncclResult_t status) { require(status == ncclSuccess, "NCCL: ", ncclGetErrorString(status)); }
  static void check(const char* what, cusolverStatus_t status) {
    require(status == CUSOLVER_STATUS_SUCCESS, "cuSOLVERMp: ", what, ": status ", static_cast<int>(status));
  }
  static constexpr cudaDataType type = is_complex<T> ? CUDA_C_64F : CUDA_R_64F;
  Kind kind_;
  Index n_;
  Kokkos::View<int*, MemorySpace> info_;
  Kokkos::View<int64_t*, MemorySpace> pivots_;
  std::size_t device_bytes_ = 0;
  std::size_t host_bytes_ = 0;
  Kokkos::View<char*, MemorySpace> device_;
  std::vector<char> host_;
  ncclComm_t nccl_ = nullptr;
  cusolverMpHandle_t handle_ = nullptr;
  cusolverMpGrid_t grid_ = nullptr;
  cusolverMpMatrixDescriptor_t descriptor_ = nullptr;
};
#endif

template <Scalar T> double flops(Kind kind, Index n) {
  const auto order = static_cast<double>(n);
  const double share = kind == Kind::qr ? 2.0 / 3.0 : kind == Kind::lu ? 1.0 / 3.0 : 1.0 / 6.0;
  return flops_per_multiply_add<T> * share * order * order * order;
}

// Returns a random matrix; for Cholesky with a diagonal that makes the lower triangle that of a positive definite
// matrix.
template <Scalar T> DistributedMatrix<T> factorable(Kind kind, const Placement& placement) {
  const auto A = random_distributed<T>(placement, 1);
  if (kind != Kind::cholesky) return A;
  const Index n = placement.rows();
  const T size(static_cast<Real<T>>(4 * n));
  if (placement.columns() == n) {
    add_identity(size, A);
  } else {
    // Each rank has its own matrix.
    const Communicator alone(MPI_COMM_SELF, world().space());
    add_identity(size, DistributedMatrix<T>(alone, Placement::on_rank(n, n, 0), A.local()));
  }
  return A;
}

// Clears the elements above the diagonal, which LAPACK leaves unchanged.
template <Scalar T> void clear_above(const DistributedMatrix<T>& A) {
  const CyclicAxis rows = A.placement().row_axis();
  const CyclicAxis columns = A.placement().column_axis();
  const int row = A.placement().grid_row(world().rank());
  const int column = A.placement().grid_column(world().rank());
  const auto local = A.local();
  Kokkos::parallel_for(
      "heddle::perf::clear_above",
      Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<2>>(
          world().space(), {0, 0}, {static_cast<Index>(local.extent(0)), static_cast<Index>(local.extent(1))}),
      KOKKOS_LAMBDA(Index i, Index j) {
        if (rows.global(row, i) < columns.global(column, j)) local(i, j) = T(0);
      });
}

template <Scalar T>
double seconds_of_copy_and(const DistributedMatrix<T>& from, const DistributedMatrix<T>& to,
                           const std::function<void()>& work) {
  copy(from, to);
  return seconds_of(work);
}

// Compares ours over all ranks with `peer`, whose work counts `times`: once per rank if each rank runs it by itself.
template <Scalar T>
void beside(benchmark::State& state, Kind kind, Index n, Arithmetic arithmetic, Peer<T>& peer, const char* name,
            const Placement& theirs, double times) {
  FactorOptions options{.arithmetic = arithmetic};
  if (is_dry_run()) options.block = 16;
  LuPlan<T> plan(world(), n, n, options);
  CholeskyPlan<T> half(world(), kind == Kind::cholesky ? n : 0, options);
  const Index of_qr = kind == Kind::qr ? n : 0;
  QrPlan<T> reflections(world(), of_qr, of_qr, {.arithmetic = arithmetic, .block = options.block});
  const Placement placement = kind == Kind::qr ? reflections.placement() : plan.placement();
  const auto A = factorable<T>(kind, placement);
  const DistributedMatrix<T> ours(world(), placement);
  const auto B = factorable<T>(kind, theirs);
  const DistributedMatrix<T> other(world(), theirs);
  const auto factor = [&] {
    FactorizationReport report;
    if (kind == Kind::lu) report = plan.execute(ours);
    if (kind == Kind::cholesky) report = half.execute(ours);
    if (kind == Kind::qr) report = reflections.execute(ours);
    require(report.info == 0, names[static_cast<int>(kind)], ": info ", report.info);
    state.counters["block"] = static_cast<double>(report.block);
    state.counters["group"] = static_cast<double>(report.group);
  };
  const double work = flops<T>(kind, n);
  compare(state, work, {"heddle", [&] { return seconds_of_copy_and(A, ours, factor); }},
          {name, [&] { return seconds_of_copy_and(B, other, [&] { peer.factor(other); }); }, times * work});
  // The same pivots, or signs of R's diagonal, give the same factors except for roundings.
  if (times != 1.0) return;
  if (kind == Kind::cholesky) clear_above(other);
  const DistributedMatrix<T> again(world(), placement);
  redistribute(other, again);
  add(-1.0, ours, again);
  if (!(norm(again, Norm::maximum) < 1e-6 * static_cast<double>(n)))
    fail(state, "the factors differ by more than roundings");
}

template <Scalar T> void beside_one_rank(benchmark::State& state, Kind kind, Arithmetic arithmetic) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  OneRank<T> peer(kind, n);
  if (world().size() == 1) {
    beside<T>(state, kind, n, arithmetic, peer, OneRank<T>::name, Placement::on_rank(n, n, 0), 1.0);
    return;
  }
  // Each rank has its own matrix in the columns of one that is wider by the number of ranks.
  const int ranks = world().size();
  class Each final : public Peer<T> {
   public:
    Each(OneRank<T>& one, Index n) : one_(one), n_(n) {}
    void factor(const DistributedMatrix<T>& A) override {
      const Communicator alone(MPI_COMM_SELF, world().space());
      one_.factor(DistributedMatrix<T>(alone, Placement::on_rank(n_, n_, 0), A.local()));
    }

   private:
    OneRank<T>& one_;
    Index n_;
  } each(peer, n);
  beside<T>(state, kind, n, arithmetic, each, OneRank<T>::name, Placement::column_bands(n, n * ranks, ranks), ranks);
}

#if defined(HEDDLE_SCALAPACK) || defined(HEDDLE_CUSOLVERMP)
template <Scalar T> void beside_all_ranks(benchmark::State& state, Kind kind, Arithmetic arithmetic) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  int height = 1;
  while ((height + 1) * (height + 1) <= world().size() && world().size() % (height + 1) == 0) ++height;
  // The best of some blocks.
  const auto placed = [&](Index block) {
    return Placement::block_cyclic(n, n, block, block, height, world().size() / height);
  };
  Index best = 0;
  double shortest = 0;
  for (const Index block : on_cpus ? std::vector<Index>{32, 64, 128} : std::vector<Index>{128, 256, 512}) {
    const auto A = factorable<T>(kind, placed(block));
    AllRanks<T> peer(kind, placed(block));
    const double seconds = seconds_of([&] { peer.factor(A); });
    if (best == 0 || seconds < shortest) {
      best = block;
      shortest = seconds;
    }
  }
  AllRanks<T> peer(kind, placed(best));
  state.counters["their_block"] = static_cast<double>(best);
  beside<T>(state, kind, n, arithmetic, peer, AllRanks<T>::name, placed(best), 1.0);
}
#endif

template <Scalar T> void register_all(const std::string& scalar) {
  const auto add = [&](const std::string& peer, const std::vector<Kind>& kinds,
                       void (*run)(benchmark::State&, Kind, Arithmetic)) {
    for (const Kind kind : kinds) {
      for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
        const std::string name = std::string(names[static_cast<int>(kind)]) + "/" + scalar + "/" + peer + "/" +
                                 std::string(to_string(arithmetic));
        auto* benchmark = benchmark::RegisterBenchmark(
            name.c_str(), [run, kind, arithmetic](benchmark::State& state) { run(state, kind, arithmetic); });
#ifdef KOKKOS_ENABLE_CUDA
        for (const Index n : {4096, 8192, 16384, 32768}) benchmark->Arg(n);
#else
        for (const Index n : {1024, 2048, 4096}) benchmark->Arg(n);
#endif
        benchmark->ArgName("n")->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
      }
    }
  };
  add(OneRank<T>::name, {Kind::lu, Kind::cholesky, Kind::qr}, &beside_one_rank<T>);
#if defined(HEDDLE_SCALAPACK) || defined(HEDDLE_CUSOLVERMP)
  add(AllRanks<T>::name, {Kind::lu, Kind::cholesky}, &beside_all_ranks<T>);
#endif
}
[[maybe_unused]] const bool added = [] {
  register_all<double>("double");
  register_all<Complex>("complex-double");
  return true;
}();

}  // namespace
}  // namespace heddle::perf

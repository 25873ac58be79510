// heddle::lu, natively and by integers, beside LAPACK's or cuSOLVER's getrf on one rank, and on CPUs beside ScaLAPACK's
// over all: the same matrices, in turn, in one run.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/solve/lu.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>
#ifdef KOKKOS_ENABLE_CUDA
#include <cusolverDn.h>
#else
extern "C" {
void dgetrf_(const int*, const int*, void*, const int*, int*, int*);
void zgetrf_(const int*, const int*, void*, const int*, int*, int*);
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
}
#endif

namespace heddle::perf {
namespace {

using Complex = Kokkos::complex<double>;

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
// On every rank the same, by itself.
template <Scalar T> class OneRank final : public Peer<T> {
 public:
  explicit OneRank(Index n) : n_(n), pivots_("heddle::perf::pivots", n), info_("heddle::perf::info", 1) {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnCreateParams(&parameters_));
    check(cusolverDnSetStream(handle_, world().space().cuda_stream()));
    check(
        cusolverDnXgetrf_bufferSize(handle_, parameters_, n, n, type, nullptr, n, type, &device_bytes_, &host_bytes_));
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
    check(cusolverDnXgetrf(handle_, parameters_, n_, n_, type, A.local().data(),
                           static_cast<Index>(A.local().stride(1)), pivots_.data(), type, device_.data(), device_bytes_,
                           host_.data(), host_bytes_, info_.data()));
  }
  static constexpr const char* name = "cusolver";

 private:
  static constexpr cudaDataType type = is_complex<T> ? CUDA_C_64F : CUDA_R_64F;
  Index n_;
  Kokkos::View<Index*, MemorySpace> pivots_;
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
  explicit OneRank(Index n) : pivots_(static_cast<std::size_t>(n)) {}
  void factor(const DistributedMatrix<T>& A) override {
    const auto n = static_cast<int>(A.rows());
    const auto leading = static_cast<int>(std::max<std::size_t>(1, A.local().stride(1)));
    int info = 0;
    (is_complex<T> ? &zgetrf_ : &dgetrf_)(&n, &n, A.local().data(), &leading, pivots_.data(), &info);
    require(info == 0, "getrf: info ", info);
  }
  static constexpr const char* name = "lapack";

 private:
  std::vector<int> pivots_;
};
#endif

#ifdef HEDDLE_SCALAPACK
template <Scalar T> class AllRanks final : public Peer<T> {
 public:
  explicit AllRanks(const Placement& placement) : handle_(Csys2blacs_handle(world().native())) {
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
    (is_complex<T> ? &pzgetrf_ : &pdgetrf_)(&n, &n, A.local().data(), &one, &one, descriptor_, pivots_.data(), &info);
    require(info == 0, "p?getrf: info ", info);
  }
  static constexpr const char* name = "scalapack";

 private:
  int handle_;
  int context_ = 0;
  int descriptor_[9] = {};
  std::vector<int> pivots_;
};
#endif

template <Scalar T> double flops(Index n) {
  return flops_per_multiply_add<T> / 3.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

template <Scalar T>
double seconds_of_copy_and(const DistributedMatrix<T>& from, const DistributedMatrix<T>& to,
                           const std::function<void()>& work) {
  copy(from, to);
  return seconds_of(work);
}

// Ours over all ranks beside `peer`; where that is of each rank by itself, as many of its products count as ranks.
template <Scalar T>
void beside(benchmark::State& state, Index n, Arithmetic arithmetic, Peer<T>& peer, const char* name,
            const Placement& theirs, double times) {
  LuOptions options{.arithmetic = arithmetic};
  if (is_dry_run()) options.block = 16;
  LuPlan<T> plan(world(), n, n, options);
  const auto A = random_distributed<T>(plan.placement(), 1);
  const DistributedMatrix<T> ours(world(), plan.placement());
  const auto B = random_distributed<T>(theirs, 1);
  const DistributedMatrix<T> other(world(), theirs);
  LuReport report;
  compare(state, flops<T>(n),
          {"heddle", [&] { return seconds_of_copy_and(A, ours, [&] { report = plan.execute(ours); }); }},
          {name, [&] { return seconds_of_copy_and(B, other, [&] { peer.factor(other); }); }, times * flops<T>(n)});
  state.counters["growth"] = report.growth;
  state.counters["block"] = static_cast<double>(report.block);
  state.counters["group"] = static_cast<double>(report.group);
  // The same pivots give the same factors, but for roundings.
  if (times != 1.0) return;
  const DistributedMatrix<T> again(world(), plan.placement());
  redistribute(other, again);
  add(-1.0, ours, again);
  if (!(norm(again, Norm::maximum) < 1e-6 * static_cast<double>(n)))
    fail(state, "the factors differ by more than roundings");
}

template <Scalar T> void beside_one_rank(benchmark::State& state, Arithmetic arithmetic) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  OneRank<T> peer(n);
  if (world().size() == 1) {
    beside<T>(state, n, arithmetic, peer, OneRank<T>::name, Placement::on_rank(n, n, 0), 1.0);
    return;
  }
  // Each rank has a matrix of its own in the columns of one that is as many times as wide.
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
  beside<T>(state, n, arithmetic, each, OneRank<T>::name, Placement::column_bands(n, n * ranks, ranks), ranks);
}

#ifdef HEDDLE_SCALAPACK
template <Scalar T> void beside_all_ranks(benchmark::State& state, Arithmetic arithmetic) {
  const Index n = is_dry_run() ? 60 : state.range(0);
  int height = 1;
  while ((height + 1) * (height + 1) <= world().size() && world().size() % (height + 1) == 0) ++height;
  // The best of some blocks.
  const auto placed = [&](Index block) {
    return Placement::block_cyclic(n, n, block, block, height, world().size() / height);
  };
  Index best = 0;
  double shortest = 0;
  for (const Index block : {32, 64, 128}) {
    const auto A = random_distributed<T>(placed(block), 1);
    AllRanks<T> peer(placed(block));
    const double seconds = seconds_of([&] { peer.factor(A); });
    if (best == 0 || seconds < shortest) {
      best = block;
      shortest = seconds;
    }
  }
  AllRanks<T> peer(placed(best));
  state.counters["their_block"] = static_cast<double>(best);
  beside<T>(state, n, arithmetic, peer, AllRanks<T>::name, placed(best), 1.0);
}
#endif

template <Scalar T> void register_all(const std::string& scalar) {
  const auto add = [&](const std::string& name, void (*run)(benchmark::State&, Arithmetic)) {
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      auto* benchmark =
          benchmark::RegisterBenchmark(("lu/" + scalar + "/" + name + "/" + std::string(to_string(arithmetic))).c_str(),
                                       [run, arithmetic](benchmark::State& state) { run(state, arithmetic); });
#ifdef KOKKOS_ENABLE_CUDA
      for (const Index n : {4096, 8192, 16384, 32768}) benchmark->Arg(n);
#else
      for (const Index n : {1024, 2048, 4096}) benchmark->Arg(n);
#endif
      benchmark->ArgName("n")->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);
    }
  };
  add(OneRank<T>::name, &beside_one_rank<T>);
#ifdef HEDDLE_SCALAPACK
  add(AllRanks<T>::name, &beside_all_ranks<T>);
#endif
}
[[maybe_unused]] const bool added = [] {
  register_all<double>("double");
  register_all<Complex>("complex-double");
  return true;
}();

}  // namespace
}  // namespace heddle::perf

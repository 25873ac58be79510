// C = A B over all GPUs beside cuBLASMp: the same matrices in turn, in one run.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/gemm/gemm.hpp>

#include <cublasmp.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

namespace heddle::perf {
namespace {

void check(cublasMpStatus_t status) {
  require(status == CUBLASMP_STATUS_SUCCESS, "cuBLASMp: status ", static_cast<int>(status));
}
void check(ncclResult_t status) {
  require(status == ncclSuccess, "NCCL: ", ncclGetErrorString(status));
}
void check(cudaError_t status) {
  require(status == cudaSuccess, "CUDA: ", cudaGetErrorString(status));
}

// NCCL refuses two ranks on one GPU.
bool own_gpu_each() {
  int mine = 0;
  check(cudaGetDevice(&mine));
  std::vector<int> devices(static_cast<std::size_t>(world().size()));
  world().all_gather(std::span<const int>(&mine, 1), std::span<int>(devices));
  return std::set<int>(devices.begin(), devices.end()).size() == devices.size();
}

class Library {
 public:
  Library() {
    // NVLink multicast only where it is asked for: a process that dies with it can take a shared server's GPUs along.
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    ncclUniqueId id{};
    if (world().rank() == 0) {
      check(ncclGetUniqueId(&id));
    }
    world().broadcast(std::span<ncclUniqueId>(&id, 1), 0);
    check(ncclCommInitRank(&comm_, world().size(), id, world().rank()));
    check(cublasMpCreate(&handle_, world().space().cuda_stream()));
  }
  ~Library() {
    cublasMpDestroy(handle_);
    ncclCommDestroy(comm_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  [[nodiscard]] ncclComm_t comm() const { return comm_; }
  [[nodiscard]] cublasMpHandle_t handle() const { return handle_; }

 private:
  ncclComm_t comm_ = nullptr;
  cublasMpHandle_t handle_ = nullptr;
};

// A matrix's process grid and its description to cuBLASMp.
class Description {
 public:
  Description(const Library& library, const Placement& placement) {
    const CyclicAxis& rows = placement.row_axis();
    const CyclicAxis& columns = placement.column_axis();
    check(cublasMpGridCreate(rows.processes, columns.processes, CUBLASMP_GRID_LAYOUT_ROW_MAJOR, library.comm(), &grid));
    check(cublasMpMatrixDescriptorCreate(rows.extent, columns.extent, rows.block, columns.block, 0, 0,
                                         std::max<Index>(1, placement.local_rows(world().rank())), CUDA_R_64F, grid,
                                         &matrix));
  }
  ~Description() {
    cublasMpMatrixDescriptorDestroy(matrix);
    cublasMpGridDestroy(grid);
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  cublasMpGrid_t grid = nullptr;
  cublasMpMatrixDescriptor_t matrix = nullptr;
};

// Device memory, known to all ranks where the version can do that: its overlapping algorithms ask for it.
class SharedMemory {
 public:
  SharedMemory(cublasMpGrid_t grid, std::size_t bytes) : grid_(grid) {
    const auto largest = world().all_reduce(static_cast<Index>(std::max<std::size_t>(bytes, 1)), Reduction::maximum);
#if CUBLASMP_VERSION >= 800
    check(ncclMemAlloc(&data_, static_cast<std::size_t>(largest)));
    registered_ = cublasMpBufferRegister(grid_, data_, static_cast<std::size_t>(largest)) == CUBLASMP_STATUS_SUCCESS;
#else
    check(cudaMalloc(&data_, static_cast<std::size_t>(largest)));
#endif
  }
  ~SharedMemory() {
#if CUBLASMP_VERSION >= 800
    if (registered_) {
      cublasMpBufferDeregister(grid_, data_);
    }
    ncclMemFree(data_);
#else
    cudaFree(data_);
#endif
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] void* data() const {
    return data_;
  }
  [[nodiscard]] bool registered() const {
    return registered_;
  }

 private:
  cublasMpGrid_t grid_;
  void* data_ = nullptr;
  bool registered_ = false;
};

struct Placements {
  Placement a;
  Placement b;
  Placement c;
};

// C = A B by cublasMpMatmul, of matrices of its own.
class Product {
 public:
  Product(const Library& library, const Placements& where)
      : library_(library),
        n_(where.c.rows()),
        a_(library, where.a),
        b_(library, where.b),
        c_(library, where.c),
        A_(random_distributed<double>(where.a, 1)),
        b_memory_(b_.grid, elements(where.b) * sizeof(double)),
        B_(world(), where.b, view_of(b_memory_, where.b)),
        C_(world(), where.c) {
    fill(B_, RandomElements<double>{2});
    check(cublasMpMatmulDescriptorCreate(&operation_, CUBLAS_COMPUTE_64F));
    std::size_t device_bytes = 0;
    std::size_t host_bytes = 0;
    const cublasMpStatus_t status = cublasMpMatmul_bufferSize(
        library_.handle(), operation_, n_, n_, n_, &one_, A_.local().data(), 1, 1, a_.matrix, B_.local().data(), 1, 1,
        b_.matrix, &zero_, nullptr, 1, 1, nullptr, C_.local().data(), 1, 1, c_.matrix, &device_bytes, &host_bytes);
    const bool good = status == CUBLASMP_STATUS_SUCCESS;
    supported_ = world().all_reduce(good ? 1 : 0, Reduction::minimum) == 1;
    if (supported_) {
      device_bytes_ = device_bytes;
      workspace_ = std::make_unique<SharedMemory>(c_.grid, device_bytes);
      host_workspace_.resize(host_bytes);
    }
  }
  ~Product() { cublasMpMatmulDescriptorDestroy(operation_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  // Whether the library takes these placements.
  [[nodiscard]] bool supported() const { return supported_; }
  [[nodiscard]] bool registered() const { return workspace_->registered(); }
  [[nodiscard]] double seconds() {
    return seconds_of([&] {
      check(cublasMpMatmul(library_.handle(), operation_, n_, n_, n_, &one_, A_.local().data(), 1, 1, a_.matrix,
                           B_.local().data(), 1, 1, b_.matrix, &zero_, nullptr, 1, 1, nullptr, C_.local().data(), 1, 1,
                           c_.matrix, workspace_->data(), device_bytes_, host_workspace_.data(),
                           host_workspace_.size()));
      // It has streams of its own besides the one it was given.
      check(cudaDeviceSynchronize());
    });
  }
  [[nodiscard]] const DistributedMatrix<double>& result() const { return C_; }

 private:
  static std::size_t elements(const Placement& placement) {
    return static_cast<std::size_t>(placement.local_rows(world().rank()) * placement.local_columns(world().rank()));
  }
  static MatrixView<double> view_of(const SharedMemory& memory, const Placement& placement) {
    const auto rows = static_cast<std::size_t>(placement.local_rows(world().rank()));
    const auto columns = static_cast<std::size_t>(placement.local_columns(world().rank()));
    return MatrixView<double>(static_cast<double*>(memory.data()), Kokkos::LayoutStride(rows, 1, columns, rows));
  }

  const Library& library_;
  Index n_;
  const double one_ = 1.0;
  const double zero_ = 0.0;
  Description a_;
  Description b_;
  Description c_;
  DistributedMatrix<double> A_;
  SharedMemory b_memory_;
  DistributedMatrix<double> B_;
  DistributedMatrix<double> C_;
  cublasMpMatmulDescriptor_t operation_ = nullptr;
  bool supported_ = false;
  std::size_t device_bytes_ = 0;
  std::unique_ptr<SharedMemory> workspace_;
  std::vector<char> host_workspace_;
};

// Heddle's bands, in the form in which cuBLASMp gathers B while it multiplies: C's blocks are as wide as B's bands.
Placements bands(Index n) {
  const int ranks = world().size();
  return {Placement::row_bands(n, n, ranks), Placement::column_bands(n, n, ranks),
          Placement::block_cyclic(n, n, n / ranks, n / ranks, ranks, 1)};
}

struct Cyclic {
  int grid_rows = 0;
  int grid_columns = 0;
  Index block = 0;
  [[nodiscard]] Placements placements(Index n) const {
    const Placement all = Placement::block_cyclic(n, n, block, block, grid_rows, grid_columns);
    return {all, all, all};
  }
};

// The best of all grids and of several blocks, each run once to warm up and once for the time.
Cyclic best_cyclic(const Library& library, Index n) {
  const int ranks = world().size();
  Cyclic best;
  double shortest = 0.0;
  for (int grid_rows = 1; grid_rows <= ranks; ++grid_rows) {
    if (ranks % grid_rows != 0) {
      continue;
    }
    const int grid_columns = ranks / grid_rows;
    const Index widest = n / std::max(grid_rows, grid_columns);
    for (const Index block : std::set<Index>{1024, 4096, widest}) {
      const Cyclic tried = {grid_rows, grid_columns, block};
      if (block > widest) {
        continue;
      }
      Product product(library, tried.placements(n));
      if (!product.supported()) {
        continue;
      }
      static_cast<void>(product.seconds());
      const double seconds = product.seconds();
      if (best.block == 0 || seconds < shortest) {
        best = tried;
        shortest = seconds;
      }
    }
  }
  return best;
}

// `same`: cuBLASMp takes Heddle's placements. Otherwise it takes its own best block-cyclic ones.
void beside_cublasmp(benchmark::State& state, bool same) {
  const Index n = extent(state.range(0));
  if (!own_gpu_each()) {
    state.SkipWithError("needs one GPU for each rank");
    return;
  }
  if (n % world().size() != 0) {
    state.SkipWithError("needs a number of ranks that divides n");
    return;
  }
  const Library library;
  const Cyclic cyclic = same ? Cyclic{} : best_cyclic(library, n);
  if (!same && cyclic.block == 0) {
    state.SkipWithError("cuBLASMp takes none of the block-cyclic placements");
    return;
  }
  Product theirs(library, same ? bands(n) : cyclic.placements(n));
  if (!theirs.supported()) {
    state.SkipWithError("cuBLASMp does not take these placements");
    return;
  }
  const auto A = random_distributed<double>(Placement::row_bands(n, n, world().size()), 1);
  const auto B = random_distributed<double>(Placement::column_bands(n, n, world().size()), 2);
  const DistributedMatrix<double> C(world(), A.placement());
  GemmPlan<double> plan(world(), Operation::none, A.placement(), Operation::none, B.placement(), C.placement());
  GemmReport report;
  compare(state, operations<double>(n),
          {"heddle", [&] { return seconds_of([&] { report = plan.execute(1.0, A, B, 0.0, C); }); }},
          {"cublasmp", [&] { return theirs.seconds(); }});
  if (!is_product(C) || !is_product(theirs.result())) {
    fail(state, "not the product of A and B");
  }
  int version = 0;
  check(cublasMpGetVersion(&version));
  state.counters["cublasmp_version"] = version;
  state.counters["registered"] = theirs.registered() ? 1 : 0;
  state.counters["tile"] = static_cast<double>(report.tile);
  if (!same) {
    state.counters["grid_rows"] = cyclic.grid_rows;
    state.counters["grid_columns"] = cyclic.grid_columns;
    state.counters["block"] = static_cast<double>(cyclic.block);
  }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("n")->Arg(8192)->Arg(16384)->Arg(32768)->Iterations(8)->UseManualTime()->Unit(
      benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(beside_cublasmp, bands, true)->Name("gemm/double/bands")->Apply(sizes);
BENCHMARK_CAPTURE(beside_cublasmp, cyclic, false)->Name("gemm/double/cyclic")->Apply(sizes);

}  // namespace
}  // namespace heddle::perf

// C = A B over several GPUs by NVIDIA's cuBLASMp, which uses NCCL. The library is loaded on demand: a program linked to
// it would not start on machines without it.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/core/error.hpp>
#include <heddle/dist/matrix.hpp>

#include <cublasmp.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::driver {

/// The functions of the library.
struct CublasMpFunctions {
  decltype(&cublasMpGetVersion) get_version = nullptr;
  decltype(&cublasMpCreate) create = nullptr;
  decltype(&cublasMpDestroy) destroy = nullptr;
  decltype(&cublasMpGridCreate) create_grid = nullptr;
  decltype(&cublasMpGridDestroy) destroy_grid = nullptr;
  decltype(&cublasMpMatrixDescriptorCreate) create_matrix = nullptr;
  decltype(&cublasMpMatrixDescriptorDestroy) destroy_matrix = nullptr;
  decltype(&cublasMpMatmulDescriptorCreate) create_product = nullptr;
  decltype(&cublasMpMatmulDescriptorDestroy) destroy_product = nullptr;
  decltype(&cublasMpMatmul_bufferSize) workspace_of = nullptr;
  decltype(&cublasMpMatmul) multiply = nullptr;
#if CUBLASMP_VERSION >= 800
  decltype(&cublasMpBufferRegister) register_memory = nullptr;
  decltype(&cublasMpBufferDeregister) deregister_memory = nullptr;
#endif

  CublasMpFunctions() = default;
  /// Load the library from this file; it stays loaded. Throws Error(computation) if that fails.
  explicit CublasMpFunctions(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw Error(ErrorKind::computation, message_of("cuBLASMp can't be loaded: ", dlerror()));
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) {
        throw Error(ErrorKind::computation, message_of("cuBLASMp: ", path, " has no ", name));
      }
    };
    find(get_version, "cublasMpGetVersion");
    find(create, "cublasMpCreate");
    find(destroy, "cublasMpDestroy");
    find(create_grid, "cublasMpGridCreate");
    find(destroy_grid, "cublasMpGridDestroy");
    find(create_matrix, "cublasMpMatrixDescriptorCreate");
    find(destroy_matrix, "cublasMpMatrixDescriptorDestroy");
    find(create_product, "cublasMpMatmulDescriptorCreate");
    find(destroy_product, "cublasMpMatmulDescriptorDestroy");
    find(workspace_of, "cublasMpMatmul_bufferSize");
    find(multiply, "cublasMpMatmul");
#if CUBLASMP_VERSION >= 800
    find(register_memory, "cublasMpBufferRegister");
    find(deregister_memory, "cublasMpBufferDeregister");
#endif
  }
};

/// The library on the GPUs of all ranks.
class CublasMp {
 public:
  /// Return in one line why these ranks can't use the library; empty if they can. NCCL refuses two ranks on one GPU.
  /// Collective.
  [[nodiscard]] static std::string trouble_with(const Communicator& comm) {
    using Name = std::array<char, sizeof(cudaUUID_t::bytes)>;
    cudaDeviceProp properties{};
    comm.on_each([&] {
      int device = 0;
      check(cudaGetDevice(&device));
      check(cudaGetDeviceProperties(&properties, device));
    });
    Name mine{};
    std::copy(std::begin(properties.uuid.bytes), std::end(properties.uuid.bytes), mine.begin());
    std::vector<Name> names(static_cast<std::size_t>(comm.size()));
    comm.all_gather(std::span<const Name>(&mine, 1), std::span<Name>(names));
    for (auto name = names.begin(); name != names.end(); ++name) {
      const auto earlier = std::find(names.begin(), name, *name);
      if (earlier != name) {
        return message_of("ranks ", earlier - names.begin(), " and ", name - names.begin(),
                          " share a GPU; cuBLASMp needs one for each rank");
      }
    }
    return {};
  }

  /// Collective. Throws Error(computation), on every rank alike.
  CublasMp(const Communicator& comm, const char* path) : comm_(comm) {
    comm.on_each([&] { functions_ = CublasMpFunctions(path); });
    // NVLink multicast is off unless requested: a process that dies with it can take down a shared server's GPUs.
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    ncclUniqueId id{};
    comm.on_rank(0, [&] { check(ncclGetUniqueId(&id)); });
    comm.broadcast(std::span<ncclUniqueId>(&id, 1), 0);
    try {
      comm.on_each([&] {
        check(ncclCommInitRank(&nccl_, comm.size(), id, comm.rank()));
        check(functions_.create(&handle_, comm.space().cuda_stream()));
      });
    } catch (...) {
      if (handle_ != nullptr) functions_.destroy(handle_);
      if (nccl_ != nullptr) ncclCommAbort(nccl_);
      throw;
    }
  }
  ~CublasMp() {
    functions_.destroy(handle_);
    ncclCommDestroy(nccl_);
  }
  CublasMp(const CublasMp&) = delete;
  CublasMp& operator=(const CublasMp&) = delete;

  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] const CublasMpFunctions& functions() const { return functions_; }
  [[nodiscard]] ncclComm_t nccl() const { return nccl_; }
  [[nodiscard]] cublasMpHandle_t handle() const { return handle_; }
  /// 10000 major + 100 minor + patch.
  [[nodiscard]] int version() const {
    int version = 0;
    check(functions_.get_version(&version));
    return version;
  }

  static void check(cublasMpStatus_t status) {
    if (status != CUBLASMP_STATUS_SUCCESS) {
      throw Error(ErrorKind::computation, message_of("cuBLASMp: status ", static_cast<int>(status)));
    }
  }
  static void check(ncclResult_t status) {
    if (status != ncclSuccess) {
      throw Error(ErrorKind::computation, message_of("NCCL: ", ncclGetErrorString(status)));
    }
  }
  static void check(cudaError_t status) {
    if (status != cudaSuccess) {
      throw Error(ErrorKind::computation, message_of("CUDA: ", cudaGetErrorString(status)));
    }
  }

 private:
  Communicator comm_;
  CublasMpFunctions functions_;
  ncclComm_t nccl_ = nullptr;
  cublasMpHandle_t handle_ = nullptr;
};

/// A matrix's process grid and its cuBLASMp descriptor.
class CublasMpMatrix {
 public:
  CublasMpMatrix(const CublasMp& library, const Placement& placement, cudaDataType type)
      : functions_(library.functions()) {
    const CyclicAxis& rows = placement.row_axis();
    const CyclicAxis& columns = placement.column_axis();
    CublasMp::check(functions_.create_grid(rows.processes, columns.processes, CUBLASMP_GRID_LAYOUT_ROW_MAJOR,
                                           library.nccl(), &grid_));
    const auto leading = std::max<Index>(1, placement.local_rows(library.comm().rank()));
    CublasMp::check(functions_.create_matrix(rows.extent, columns.extent, rows.block, columns.block, 0, 0, leading,
                                             type, grid_, &matrix_));
  }
  ~CublasMpMatrix() {
    functions_.destroy_matrix(matrix_);
    functions_.destroy_grid(grid_);
  }
  CublasMpMatrix(const CublasMpMatrix&) = delete;
  CublasMpMatrix& operator=(const CublasMpMatrix&) = delete;

  [[nodiscard]] cublasMpGrid_t grid() const { return grid_; }
  [[nodiscard]] cublasMpMatrixDescriptor_t get() const { return matrix_; }

 private:
  const CublasMpFunctions& functions_;
  cublasMpGrid_t grid_ = nullptr;
  cublasMpMatrixDescriptor_t matrix_ = nullptr;
};

/// Device memory, registered with all ranks if the version supports that: its overlapping algorithms need it.
class CublasMpMemory {
 public:
  /// Collective.
  CublasMpMemory(const CublasMp& library, cublasMpGrid_t grid, std::size_t bytes)
      : functions_(library.functions()), grid_(grid) {
    const auto largest = static_cast<std::size_t>(
        library.comm().all_reduce(static_cast<Index>(std::max<std::size_t>(bytes, 1)), Reduction::maximum));
#if CUBLASMP_VERSION >= 800
    CublasMp::check(ncclMemAlloc(&data_, largest));
    registered_ = functions_.register_memory(grid_, data_, largest) == CUBLASMP_STATUS_SUCCESS;
#else
    CublasMp::check(cudaMalloc(&data_, largest));
#endif
  }
  ~CublasMpMemory() {
#if CUBLASMP_VERSION >= 800
    if (registered_) functions_.deregister_memory(grid_, data_);
    ncclMemFree(data_);
#else
    cudaFree(data_);
#endif
  }
  CublasMpMemory(const CublasMpMemory&) = delete;
  CublasMpMemory& operator=(const CublasMpMemory&) = delete;

  [[nodiscard]] void* data() const {
    return data_;
  }
  [[nodiscard]] bool registered() const {
    return registered_;
  }

 private:
  const CublasMpFunctions& functions_;
  cublasMpGrid_t grid_;
  void* data_ = nullptr;
  bool registered_ = false;
};

/// C = A B of square matrices by cublasMpMatmul. Collective, as are all calls.
template <Scalar T> class CublasMpProduct {
 public:
  /// Keep A and C, and a copy of B in registered memory.
  CublasMpProduct(const std::shared_ptr<const CublasMp>& library, const DistributedMatrix<T>& A,
                  const DistributedMatrix<T>& B, const DistributedMatrix<T>& C)
      : library_(library),
        A_(A),
        C_(C),
        a_(*library, A.placement(), type),
        b_(*library, B.placement(), type),
        c_(*library, C.placement(), type),
        B_(*library, b_.grid(), B.local().size() * sizeof(T)) {
    const MatrixView<T>& local = B.local();
    const auto rows = local.extent(0);
    const MatrixView<T> kept(static_cast<T*>(B_.data()), Kokkos::LayoutStride(rows, 1, local.extent(1), rows));
    Kokkos::deep_copy(library->comm().space(), kept, local);
    library->comm().space().fence("heddle::study::cublasmp");
    CublasMp::check(library->functions().create_product(&operation_, arithmetic));
    const Index n = C_.rows();
    std::size_t on_host = 0;
    const cublasMpStatus_t status = library->functions().workspace_of(
        library->handle(), operation_, n, n, n, &one_, A_.local().data(), 1, 1, a_.get(), B_.data(), 1, 1, b_.get(),
        &zero_, nullptr, 1, 1, nullptr, C_.local().data(), 1, 1, c_.get(), &device_bytes_, &on_host);
    const int good = status == CUBLASMP_STATUS_SUCCESS ? 1 : 0;
    if (library->comm().all_reduce(good, Reduction::minimum) == 0) return;
    workspace_ = std::make_unique<CublasMpMemory>(*library, c_.grid(), device_bytes_);
    host_workspace_.resize(on_host);
  }
  ~CublasMpProduct() { library_->functions().destroy_product(operation_); }
  CublasMpProduct(const CublasMpProduct&) = delete;
  CublasMpProduct& operator=(const CublasMpProduct&) = delete;

  /// Return true if the library takes these placements; the other functions require it.
  [[nodiscard]] bool supported() const { return workspace_ != nullptr; }
  /// Return true if the workspace is registered with all ranks.
  [[nodiscard]] bool registered() const { return workspace_->registered(); }
  /// Blocks.
  void multiply() {
    const Index n = C_.rows();
    CublasMp::check(library_->functions().multiply(library_->handle(), operation_, n, n, n, &one_, A_.local().data(), 1,
                                                   1, a_.get(), B_.data(), 1, 1, b_.get(), &zero_, nullptr, 1, 1,
                                                   nullptr, C_.local().data(), 1, 1, c_.get(), workspace_->data(),
                                                   device_bytes_, host_workspace_.data(), host_workspace_.size()));
    // The library has streams besides the one it was given.
    CublasMp::check(cudaDeviceSynchronize());
  }

 private:
  static constexpr bool is_double = std::is_same_v<Real<T>, double>;
  static constexpr cudaDataType type =
      is_complex<T> ? (is_double ? CUDA_C_64F : CUDA_C_32F) : (is_double ? CUDA_R_64F : CUDA_R_32F);
  static constexpr cublasComputeType_t arithmetic = is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

  std::shared_ptr<const CublasMp> library_;
  const T one_ = T(1);
  const T zero_ = T(0);
  DistributedMatrix<T> A_;
  DistributedMatrix<T> C_;
  CublasMpMatrix a_;
  CublasMpMatrix b_;
  CublasMpMatrix c_;
  CublasMpMemory B_;
  cublasMpMatmulDescriptor_t operation_ = nullptr;
  std::size_t device_bytes_ = 0;
  std::unique_ptr<CublasMpMemory> workspace_;  // On the grid of c_, which is destroyed later.
  std::vector<char> host_workspace_;
};

}  // namespace heddle::driver

// cuBLAS and cuSOLVER handles and workspaces of contexts.
#include "blas/cuda_state.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace heddle::blas {

namespace {

// States that no context uses. Their device memory is bounded: this many workspaces of cuBLAS, and none of cuSOLVER
// larger than one of these.
constexpr std::size_t most_kept = 4;

struct Kept {
  int device;
  std::unique_ptr<Context::State> state;
};

class Store {
 public:
  // Leaked, so that contexts may end at any time before Kokkos does.
  static Store& get() {
    static Store* const store = new Store;
    return *store;
  }

  std::unique_ptr<Context::State> take(int device) {
    const std::scoped_lock lock(mutex_);
    if (!hooked_) {
      Kokkos::push_finalize_hook([] { get().close(); });
      hooked_ = true;
    }
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& of) { return of.device == device; });
    if (found == kept_.rend()) return nullptr;
    std::unique_ptr<Context::State> state = std::move(found->state);
    kept_.erase(std::next(found).base());
    return state;
  }

  void give(int device, std::unique_ptr<Context::State> state) {
    state->copies = {};
    if (state->eigensolver && state->eigensolver->workspace.size() > heddle::impl::cublas_workspace_bytes) {
      state->eigensolver->workspace = {};
    }
    const std::scoped_lock lock(mutex_);
    if (hooked_ && kept_.size() < most_kept) kept_.push_back({device, std::move(state)});
  }

 private:
  void close() {
    const std::scoped_lock lock(mutex_);
    kept_.clear();
    hooked_ = false;
  }

  std::mutex mutex_;
  std::vector<Kept> kept_;
  bool hooked_ = false;  // Whether Kokkos, as it ends, empties this.
};

cublasMath_t mode_of(MathMode math) {
  switch (math) {
    case MathMode::automatic:
    case MathMode::tensor:
      return CUBLAS_DEFAULT_MATH;
    case MathMode::plain:
      return CUBLAS_PEDANTIC_MATH;
    case MathMode::tf32:
      return CUBLAS_TF32_TENSOR_OP_MATH;
  }
  throw Error(ErrorKind::argument, "not a value of heddle::MathMode");
}

void check_runtime(const char* what, cudaError_t status) {
  if (status != cudaSuccess) {
    throw Error(ErrorKind::computation, message_of("CUDA failed to ", what, ": ", cudaGetErrorString(status)));
  }
}

}  // namespace

void check(const char* what, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(ErrorKind::computation, message_of("cuBLAS failed to ", what, ": ", cublasGetStatusString(status)));
  }
}

void check_solver(const char* what, cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw Error(ErrorKind::computation, message_of("cuSOLVER failed to ", what, ": status ", static_cast<int>(status)));
  }
}

Solver::Solver() : info(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::blas::info")) {
  check_solver("start", cusolverDnCreate(&handle));
  check_solver("make parameters", cusolverDnCreateParams(&parameters));
}

void Solver::reserve(std::size_t device_bytes, std::size_t host_bytes) {
  if (workspace.size() < device_bytes) {
    workspace = {};
    workspace = Kokkos::View<std::byte*, MemorySpace>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::blas::workspace"), device_bytes);
  }
  if (host_workspace.size() < host_bytes) host_workspace.resize(host_bytes);
}

Solver::~Solver() {
  if (parameters != nullptr) cusolverDnDestroyParams(parameters);
  if (handle != nullptr) cusolverDnDestroy(handle);
}

// The memory belongs to no instance, since the state serves others after this one.
Context::State::State(const ExecutionSpace& space)
    : workspace(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::blas::workspace"),
                heddle::impl::cublas_workspace_bytes),
      next(Kokkos::view_alloc(space, "heddle::blas::next")) {
  check("start", cublasCreate(&handle));
  check_runtime("make an event", cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
}

Context::State::~State() {
  if (used != nullptr) cudaEventDestroy(used);
  if (handle != nullptr) cublasDestroy(handle);
}

void Context::State::bind(const ExecutionSpace& space, MathMode math) {
  check_runtime("order a stream behind an event", cudaStreamWaitEvent(space.cuda_stream(), used, 0));
  check("take a stream", cublasSetStream(handle, space.cuda_stream()));
  check("take a workspace", cublasSetWorkspace(handle, workspace.data(), workspace.size()));
  check("take a math mode", cublasSetMathMode(handle, mode_of(math)));
}

bool Context::State::mark(const ExecutionSpace& space) noexcept {
  return cudaEventRecord(used, space.cuda_stream()) == cudaSuccess;
}

Solver& Context::State::solver(const ExecutionSpace& space) {
  if (!eigensolver) eigensolver = std::make_unique<Solver>();
  check_solver("take a stream", cusolverDnSetStream(eigensolver->handle, space.cuda_stream()));
  return *eigensolver;
}

}  // namespace heddle::blas

namespace heddle::impl {

std::shared_ptr<blas::Context::State> make_backend_state(const ExecutionSpace& space, MathMode math) {
  using State = blas::Context::State;
  const int device = space.cuda_device();
  std::unique_ptr<State> state = blas::Store::get().take(device);
  if (!state) state = std::make_unique<State>(space);
  state->bind(space, math);
  // The instance stays until the end of what it orders is marked.
  return {state.release(), [space, device](State* ended) {
            std::unique_ptr<State> owned(ended);
            if (owned->mark(space)) blas::Store::get().give(device, std::move(owned));
          }};
}

}  // namespace heddle::impl

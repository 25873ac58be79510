// blas::gemm on cuBLAS, with a handle and a workspace for each context.
//
// Kokkos Kernels would do, but for its one handle for all instances: cuBLAS then chooses kernels by what else is
// running
// ("Results Reproducibility" in its documentation), and tiles that run side by side would lose their fixed bits.
#include "blas/backend.hpp"
#include "blas/decompositions.hpp"
#include "blas/integer.hpp"
#include "core/instantiate.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <vector>

namespace heddle::blas {

namespace {

void check(const char* what, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(ErrorKind::computation, message_of("cuBLAS failed to ", what, ": ", cublasGetStatusString(status)));
  }
}

// What cuBLAS advises for Hopper, and enough elsewhere.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

}  // namespace

struct Context::State {
  explicit State(const ExecutionSpace& space)
      : workspace(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::blas::workspace"), workspace_bytes) {
    check("start", cublasCreate(&handle));
    check("take a stream", cublasSetStream(handle, space.cuda_stream()));
    check("take a workspace", cublasSetWorkspace(handle, workspace.data(), workspace.size()));
  }
  ~State() { cublasDestroy(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  cublasHandle_t handle = nullptr;
  Kokkos::View<std::byte*, MemorySpace> workspace;
};

}  // namespace heddle::blas

namespace heddle::impl {
namespace {

cublasOperation_t operation_of(Operation operation) {
  switch (operation) {
    case Operation::none:
      return CUBLAS_OP_N;
    case Operation::transpose:
      return CUBLAS_OP_T;
    case Operation::conjugate_transpose:
      return CUBLAS_OP_C;
  }
  throw Error(ErrorKind::argument, "not a value of heddle::Operation");
}

template <Scalar T> struct Routine;
template <> struct Routine<float> {
  using Element = float;
  static constexpr auto* gemm = &cublasSgemm_64;
};
template <> struct Routine<double> {
  using Element = double;
  static constexpr auto* gemm = &cublasDgemm_64;
};
template <> struct Routine<Kokkos::complex<float>> {
  using Element = cuComplex;
  static constexpr auto* gemm = &cublasCgemm_64;
};
template <> struct Routine<Kokkos::complex<double>> {
  using Element = cuDoubleComplex;
  static constexpr auto* gemm = &cublasZgemm_64;
};

}  // namespace

template <Scalar T>
void backend_gemm(const blas::Context& context, Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
                  const MatrixView<const T>& B, T beta, const MatrixView<T>& C) {
  using Element = typename Routine<T>::Element;
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::gemm");
  const auto inner = static_cast<Index>(A.extent(op_a == Operation::none ? 1 : 0));
  blas::check("multiply",
              Routine<T>::gemm(context.state()->handle, operation_of(op_a), operation_of(op_b),
                               static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)), inner,
                               reinterpret_cast<const Element*>(&alpha), reinterpret_cast<const Element*>(A.data()),
                               leading_dimension(A), reinterpret_cast<const Element*>(B.data()), leading_dimension(B),
                               reinterpret_cast<const Element*>(&beta), reinterpret_cast<Element*>(C.data()),
                               leading_dimension(C)));
}

// One after the other: cuBLAS 13.1 multiplies batches of large matrices at 0.7 of the rate.
void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  const std::int32_t one = 1;
  const std::int32_t beta = products.add ? 1 : 0;
  for (int l = 0; l < products.count; ++l) {
    blas::check("multiply integers",
                cublasGemmEx_64(context.state()->handle, CUBLAS_OP_T, CUBLAS_OP_N, products.m, products.n, products.k,
                                &one, products.A + l * products.stride_a, CUDA_R_8I, products.leading_a,
                                products.B + l * products.stride_b, CUDA_R_8I, products.leading_b, &beta,
                                products.C + l * products.stride_c, CUDA_R_32I, products.leading_c, CUBLAS_COMPUTE_32I,
                                CUBLAS_GEMM_DEFAULT));
  }
}

std::string integer_description() {
  return backend_description();
}

std::string backend_description() {
  const int version = static_cast<int>(cublasGetCudartVersion());
  int number = 0;
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS) {
    cublasGetVersion(handle, &number);
    cublasDestroy(handle);
  }
  return message_of("cuBLAS ", number / 10000, ".", number / 100 % 100, ".", number % 100, " (CUDA ", version / 1000,
                    ".", version % 1000 / 10, ")");
}

bool backend_runs_side_by_side() {
  return true;
}

std::shared_ptr<blas::Context::State> make_backend_state(const ExecutionSpace& space) {
  return std::make_shared<blas::Context::State>(space);
}

bool backend_has_eigenvectors() {
  return true;
}

namespace {

void check_solver(const char* what, cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw Error(ErrorKind::computation, message_of("cuSOLVER failed to ", what, ": status ", static_cast<int>(status)));
  }
}

// A handle and its parameters on a stream.
struct Solver {
  explicit Solver(const ExecutionSpace& space) {
    check_solver("start", cusolverDnCreate(&handle));
    check_solver("take a stream", cusolverDnSetStream(handle, space.cuda_stream()));
    check_solver("make parameters", cusolverDnCreateParams(&parameters));
  }
  ~Solver() {
    cusolverDnDestroyParams(parameters);
    cusolverDnDestroy(handle);
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t parameters = nullptr;
};

template <Scalar T> constexpr cudaDataType data_type = CUDA_R_64F;
template <> constexpr cudaDataType data_type<float> = CUDA_R_32F;
template <> constexpr cudaDataType data_type<Kokkos::complex<float>> = CUDA_C_32F;
template <> constexpr cudaDataType data_type<Kokkos::complex<double>> = CUDA_C_64F;

}  // namespace

template <Scalar T>
void backend_eigenvectors(const blas::Context& context, const MatrixView<T>& A,
                          const Kokkos::View<Real<T>*, MemorySpace>& w) {
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::eigenvectors");
  const ExecutionSpace& space = context.space();
  const Solver solver(space);
  const auto n = static_cast<Index>(A.extent(0));
  const Index leading = leading_dimension(A);
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check_solver("size a workspace",
               cusolverDnXsyevd_bufferSize(solver.handle, solver.parameters, CUSOLVER_EIG_MODE_VECTOR,
                                           CUBLAS_FILL_MODE_LOWER, n, data_type<T>, A.data(), leading,
                                           data_type<Real<T>>, w.data(), data_type<T>, &device_bytes, &host_bytes));
  const Kokkos::View<std::byte*, MemorySpace> workspace(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::blas::workspace"), device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  const Kokkos::View<int, MemorySpace> info(Kokkos::view_alloc(space, "heddle::blas::info"));
  check_solver("find eigenvectors",
               cusolverDnXsyevd(solver.handle, solver.parameters, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                data_type<T>, A.data(), leading, data_type<Real<T>>, w.data(), data_type<T>,
                                workspace.data(), device_bytes, host_workspace.data(), host_bytes, info.data()));
  int found = 0;
  Kokkos::deep_copy(space, Kokkos::View<int, Kokkos::HostSpace>(&found), info);
  space.fence("heddle::blas::eigenvectors");
  if (found != 0) {
    throw Error(ErrorKind::computation,
                message_of("cuSOLVER's Xsyevd of a matrix of ", n, " rows failed with info = ", found));
  }
}

#define HEDDLE_INSTANTIATE(T)                                                       \
  template void backend_eigenvectors<T>(const blas::Context&, const MatrixView<T>&, \
                                        const Kokkos::View<Real<T>*, MemorySpace>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template void backend_gemm<T>(const blas::Context&, Operation, Operation, T, const MatrixView<const T>&, \
                                const MatrixView<const T>&, T, const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

// Batched eigenvectors by cuSOLVER and batched products by cuBLAS.
#include "blas/batches.hpp"
#include "blas/cuda_state.hpp"
#include "core/instantiate.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>

namespace heddle::impl {

#if CUDART_VERSION >= 12060

namespace {

template <Scalar T> constexpr auto* batched_gemm_routine = &cublasDgemmBatched_64;
template <> constexpr auto* batched_gemm_routine<float> = &cublasSgemmBatched_64;
template <> constexpr auto* batched_gemm_routine<Kokkos::complex<float>> = &cublasCgemmBatched_64;
template <> constexpr auto* batched_gemm_routine<Kokkos::complex<double>> = &cublasZgemmBatched_64;
// Matrices at one distance take 0.8 of the time.
template <Scalar T> constexpr auto* strided_routine = &cublasDgemmStridedBatched_64;
template <> constexpr auto* strided_routine<float> = &cublasSgemmStridedBatched_64;
template <> constexpr auto* strided_routine<Kokkos::complex<float>> = &cublasCgemmStridedBatched_64;
template <> constexpr auto* strided_routine<Kokkos::complex<double>> = &cublasZgemmStridedBatched_64;

// Sizes of the solver's workspaces on the device and the host.
struct SolverBytes {
  std::size_t device = 0;
  std::size_t host = 0;
};

template <Scalar T>
SolverBytes solver_bytes(const blas::Solver& solver, Index n, Index count, const T* A, const Real<T>* w) {
  SolverBytes bytes;
  blas::check_solver("size a workspace of a batch",
                     cusolverDnXsyevBatched_bufferSize(solver.handle, solver.parameters, CUSOLVER_EIG_MODE_VECTOR,
                                                       CUBLAS_FILL_MODE_LOWER, n, blas::CudaScalar<T>::type, A, n,
                                                       blas::CudaScalar<Real<T>>::type, w, blas::CudaScalar<T>::type,
                                                       &bytes.device, &bytes.host, count));
  return bytes;
}

}  // namespace

template <Scalar T> std::size_t batched_eigenvectors_bytes(const blas::Context& context, Index n, Index count) {
  return solver_bytes<T>(context.state()->solver(context.space()), n, count, nullptr, nullptr).device;
}

template <Scalar T>
void backend_batched_eigenvectors(const blas::Context& context, Index n, Index count, T* A, Real<T>* w, int* info) {
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::batched_eigenvectors");
  blas::Solver& solver = context.state()->solver(context.space());
  const SolverBytes bytes = solver_bytes<T>(solver, n, count, A, w);
  solver.reserve(bytes.device, bytes.host);
  blas::check_solver("find eigenvectors of a batch",
                     cusolverDnXsyevBatched(
                         solver.handle, solver.parameters, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                         blas::CudaScalar<T>::type, A, n, blas::CudaScalar<Real<T>>::type, w, blas::CudaScalar<T>::type,
                         solver.workspace.data(), bytes.device, solver.host_workspace.data(), bytes.host, info, count));
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void backend_batched_gemm(const blas::Context& context, Operation op_a, Index m, Index n, Index k,
                          const BatchOperand<const T>& A, const BatchOperand<const T>& B, const BatchOperand<T>& C,
                          const std::vector<int>& numbers, const Kokkos::View<int*, MemorySpace>& chosen) {
  using Element = typename blas::CudaScalar<T>::Element;
  const ExecutionSpace& space = context.space();
  const auto count = static_cast<Index>(numbers.size());
  const T one(1);
  const T zero(0);
  const auto* const alpha = reinterpret_cast<const Element*>(&one);
  const auto* const beta = reinterpret_cast<const Element*>(&zero);
  const cublasOperation_t op = op_a == Operation::none ? CUBLAS_OP_N : CUBLAS_OP_C;
  const bool in_a_row =
      numbers.back() - numbers.front() == static_cast<int>(count) - 1 && std::is_sorted(numbers.begin(), numbers.end());
  if (in_a_row) {
    const Index first = numbers.front();
    blas::check(
        "multiply a batch",
        strided_routine<T>(context.state()->handle, op, CUBLAS_OP_N, m, n, k, alpha,
                           reinterpret_cast<const Element*>(A.first + first * A.stride), A.leading, A.stride,
                           reinterpret_cast<const Element*>(B.first + first * B.stride), B.leading, B.stride, beta,
                           reinterpret_cast<Element*>(C.first + first * C.stride), C.leading, C.stride, count));
    return;
  }
  // Addresses: to a View, a type that ends in * is one of rank 1.
  const Kokkos::View<std::uintptr_t* [3], Kokkos::LayoutLeft, MemorySpace> places(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::blas::places"), numbers.size());
  Kokkos::parallel_for(
      "heddle::blas::places", Kokkos::RangePolicy<ExecutionSpace>(space, 0, count), KOKKOS_LAMBDA(int at) {
        const Index b = chosen(at);
        places(at, 0) = reinterpret_cast<std::uintptr_t>(A.first + b * A.stride);
        places(at, 1) = reinterpret_cast<std::uintptr_t>(B.first + b * B.stride);
        places(at, 2) = reinterpret_cast<std::uintptr_t>(C.first + b * C.stride);
      });
  const auto operands = [&places, count](Index which) {
    return reinterpret_cast<Element**>(places.data() + which * count);
  };
  blas::check("multiply a batch",
              batched_gemm_routine<T>(context.state()->handle, op, CUBLAS_OP_N, m, n, k, alpha, operands(0), A.leading,
                                      operands(1), B.leading, beta, operands(2), C.leading, count));
}

#define HEDDLE_INSTANTIATE(T)                                                                            \
  template std::size_t batched_eigenvectors_bytes<T>(const blas::Context&, Index, Index);                \
  template void backend_batched_eigenvectors<T>(const blas::Context&, Index, Index, T*, Real<T>*, int*); \
  template void backend_batched_gemm<T>(const blas::Context&, Operation, Index, Index, Index,            \
                                        const BatchOperand<const T>&, const BatchOperand<const T>&,      \
                                        const BatchOperand<T>&, const std::vector<int>&,                 \
                                        const Kokkos::View<int*, MemorySpace>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

#endif

}  // namespace heddle::impl

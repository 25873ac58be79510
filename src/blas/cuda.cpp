// blas::gemm on cuBLAS, with a handle and a workspace for each context.
//
// Kokkos Kernels has one handle for all instances: cuBLAS would then choose kernels by what else is running ("Results
// Reproducibility" in its documentation), and tiles that run side by side would lose their fixed bits.
#include "blas/backend.hpp"
#include "blas/cuda_state.hpp"
#include "blas/decompositions.hpp"
#include "blas/layout.hpp"
#include "core/instantiate.hpp"
#include "core/quiet_region.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cublas_v2.h>

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

template <Scalar T> constexpr auto* gemm_routine = &cublasDgemm_64;
template <> constexpr auto* gemm_routine<float> = &cublasSgemm_64;
template <> constexpr auto* gemm_routine<Kokkos::complex<float>> = &cublasCgemm_64;
template <> constexpr auto* gemm_routine<Kokkos::complex<double>> = &cublasZgemm_64;

// A column-major matrix in memory; C is written.
template <Scalar T> struct Operand {
  T* data;
  Index rows;
  Index columns;
  Index leading;

  template <class Element>
  explicit Operand(const MatrixView<Element>& view)
      : data(const_cast<T*>(view.data())),
        rows(static_cast<Index>(view.extent(0))),
        columns(static_cast<Index>(view.extent(1))),
        leading(leading_dimension(view)) {}
};

// Copies of operands in a context's own memory, laid out as gemm_layout() says, so that the kernel, and with it the
// bits, follow from shape and operations alone.
class Copies {
 public:
  explicit Copies(const blas::Context& context) : context_(context) {}

  // Bytes for all that will be taken.
  template <Scalar T> static std::size_t bytes(const Operand<T>& matrix, const GemmLayout& layout) {
    return layout.fits(matrix.data, matrix.rows, matrix.leading)
               ? 0
               : padded(sizeof(T) * static_cast<std::size_t>(layout.leading(matrix.rows) * matrix.columns));
  }
  void reserve(std::size_t bytes) {
    auto& copies = context_.state()->copies;
    if (copies.size() < bytes) {
      copies = {};
      copies = Kokkos::View<std::byte*, MemorySpace>(
          Kokkos::view_alloc(context_.space(), Kokkos::WithoutInitializing, "heddle::blas::copies"), bytes);
    }
  }
  // The matrix itself where its layout fits, else room for it.
  template <Scalar T> Operand<T> place_for(const Operand<T>& matrix, const GemmLayout& layout) {
    const std::size_t size = bytes(matrix, layout);
    if (size == 0) return matrix;
    Operand<T> place = matrix;
    place.data = reinterpret_cast<T*>(context_.state()->copies.data() + used_);
    place.leading = layout.leading(matrix.rows);
    used_ += size;
    return place;
  }
  template <Scalar T> void copy(const Operand<T>& from, const Operand<T>& to) const {
    if (from.data == to.data) return;
    const cudaError_t failure = cudaMemcpy2DAsync(
        to.data, sizeof(T) * static_cast<std::size_t>(to.leading), from.data,
        sizeof(T) * static_cast<std::size_t>(from.leading), sizeof(T) * static_cast<std::size_t>(from.rows),
        static_cast<std::size_t>(from.columns), cudaMemcpyDefault, context_.space().cuda_stream());
    if (failure != cudaSuccess) {
      throw Error(ErrorKind::computation, message_of("CUDA failed to copy a matrix: ", cudaGetErrorString(failure)));
    }
  }

 private:
  static std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  const blas::Context& context_;
  std::size_t used_ = 0;
};

}  // namespace

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void backend_gemm(const blas::Context& context, Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
                  const MatrixView<const T>& B, T beta, const MatrixView<T>& C) {
  using Element = typename blas::CudaScalar<T>::Element;
  const QuietRegion region("heddle::blas::gemm");
  const auto inner = static_cast<Index>(A.extent(op_a == Operation::none ? 1 : 0));
  const Operand<T> a(A);
  const Operand<T> b(B);
  const Operand<T> c(C);
  const GemmLayout layout = gemm_layout<T>(c.rows, c.columns, context.math());
  Copies copies(context);
  copies.reserve(Copies::bytes(a, layout) + Copies::bytes(b, layout) + Copies::bytes(c, layout));
  const Operand<T> left = copies.place_for(a, layout);
  const Operand<T> right = copies.place_for(b, layout);
  const Operand<T> result = copies.place_for(c, layout);
  copies.copy(a, left);
  copies.copy(b, right);
  if (beta != T{0}) copies.copy(c, result);
  blas::check("multiply",
              gemm_routine<T>(context.state()->handle, operation_of(op_a), operation_of(op_b), c.rows, c.columns, inner,
                              reinterpret_cast<const Element*>(&alpha), reinterpret_cast<const Element*>(left.data),
                              left.leading, reinterpret_cast<const Element*>(right.data), right.leading,
                              reinterpret_cast<const Element*>(&beta), reinterpret_cast<Element*>(result.data),
                              result.leading));
  copies.copy(result, c);
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

std::string backend_math_trouble(MathMode mode) {
  if (mode == MathMode::plain) return {};
  int device = 0;
  int major = 0;
  int minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (major >= 8) return {};
  return message_of("tensor cores for it begin with compute capability 8.0, this device has ", major, ".", minor,
                    "; expected plain or auto");
}

bool backend_runs_side_by_side() {
  return true;
}

bool backend_has_eigenvectors() {
  return true;
}

template <Scalar T>
void backend_eigenvectors(const blas::Context& context, const MatrixView<T>& A,
                          const Kokkos::View<Real<T>*, MemorySpace>& w) {
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::eigenvectors");
  const ExecutionSpace& space = context.space();
  blas::Solver& solver = context.state()->solver(space);
  constexpr cudaDataType type = blas::CudaScalar<T>::type;
  constexpr cudaDataType real_type = blas::CudaScalar<Real<T>>::type;
  const auto n = static_cast<Index>(A.extent(0));
  const Index leading = leading_dimension(A);
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  blas::check_solver(
      "size a workspace",
      cusolverDnXsyevd_bufferSize(solver.handle, solver.parameters, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                  type, A.data(), leading, real_type, w.data(), type, &device_bytes, &host_bytes));
  solver.reserve(device_bytes, host_bytes);
  blas::check_solver(
      "find eigenvectors",
      cusolverDnXsyevd(solver.handle, solver.parameters, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, type,
                       A.data(), leading, real_type, w.data(), type, solver.workspace.data(), device_bytes,
                       solver.host_workspace.data(), host_bytes, solver.info.data()));
  int found = 0;
  Kokkos::deep_copy(space, Kokkos::View<int, Kokkos::HostSpace>(&found), solver.info);
  space.fence("heddle::blas::eigenvectors");
  if (found != 0) {
    throw Error(ErrorKind::computation,
                message_of("cuSOLVER's Xsyevd of a matrix of ", n, " rows failed with info = ", found));
  }
}

HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE_BACKEND_EIGENVECTORS);

HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE_BACKEND_GEMM);

}  // namespace heddle::impl

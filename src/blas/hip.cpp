// Eigenvectors by rocSOLVER, and products of 8-bit integers by rocBLAS, where they were found.
#include "blas/backend.hpp"
#include "blas/decompositions.hpp"
#include "blas/integer.hpp"
#include "core/instantiate.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#ifdef HEDDLE_ROCBLAS
#include <rocblas/rocblas.h>

#include <optional>
#endif
#ifdef HEDDLE_ROCSOLVER
#include <rocsolver/rocsolver.h>
#endif

namespace heddle::impl {

#ifdef HEDDLE_ROCBLAS
namespace {

void check(const char* library, const char* what, rocblas_status status) {
  if (status != rocblas_status_success) {
    throw Error(ErrorKind::computation,
                message_of(library, " failed to ", what, ": ", rocblas_status_to_string(status)));
  }
}

struct Handle {
  Handle() { check("rocBLAS", "start", rocblas_create_handle(&value)); }
  ~Handle() { rocblas_destroy_handle(value); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  rocblas_handle value = nullptr;
};

// One for all products, as it takes a while to make. Its workspace belongs to one stream at a time, so another stream
// waits for the last one's work; the instance that is kept keeps its stream.
struct Shared {
  Handle handle;
  std::optional<ExecutionSpace> last;
};
rocblas_handle handle_on(const ExecutionSpace& space) {
  static std::optional<Shared> shared;
  if (!shared) {
    shared.emplace();
    Kokkos::push_finalize_hook([] { shared.reset(); });
  }
  if (!shared->last || *shared->last != space) {
    if (shared->last) shared->last->fence("heddle::blas::another_stream");
    check("rocBLAS", "take a stream", rocblas_set_stream(shared->handle.value, space.hip_stream()));
    shared->last = space;
  }
  return shared->handle.value;
}

}  // namespace

void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::integer_gemm");
  const rocblas_handle handle = handle_on(context.space());
  const std::int32_t alpha = 1;
  const std::int32_t beta = products.add ? 1 : 0;
  const auto narrow = [](Index extent) { return static_cast<rocblas_int>(extent); };
  for (int l = 0; l < products.count; ++l) {
    std::int32_t* const C = products.C + l * products.stride_c;
    check("rocBLAS", "multiply",
          rocblas_gemm_ex(handle, rocblas_operation_transpose, rocblas_operation_none, narrow(products.m),
                          narrow(products.n), narrow(products.k), &alpha, products.A + l * products.stride_a,
                          rocblas_datatype_i8_r, narrow(products.leading_a), products.B + l * products.stride_b,
                          rocblas_datatype_i8_r, narrow(products.leading_b), &beta, C, rocblas_datatype_i32_r,
                          narrow(products.leading_c), C, rocblas_datatype_i32_r, narrow(products.leading_c),
                          rocblas_datatype_i32_r, rocblas_gemm_algo_standard, 0, rocblas_gemm_flags_none));
  }
}

std::string integer_description() {
  return message_of("rocBLAS ", ROCBLAS_VERSION_MAJOR, ".", ROCBLAS_VERSION_MINOR, ".", ROCBLAS_VERSION_PATCH);
}

#else

void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  portable_integer_gemm(context.space(), products);
}

std::string integer_description() {
  return portable_integer_description;
}

#endif

#ifdef HEDDLE_ROCSOLVER

namespace {

template <Scalar T> struct SolverRoutine;
template <> struct SolverRoutine<float> {
  using Element = float;
  static constexpr auto* eigenvectors = &rocsolver_ssyevd;
};
template <> struct SolverRoutine<double> {
  using Element = double;
  static constexpr auto* eigenvectors = &rocsolver_dsyevd;
};
template <> struct SolverRoutine<Kokkos::complex<float>> {
  using Element = rocblas_float_complex;
  static constexpr auto* eigenvectors = &rocsolver_cheevd;
};
template <> struct SolverRoutine<Kokkos::complex<double>> {
  using Element = rocblas_double_complex;
  static constexpr auto* eigenvectors = &rocsolver_zheevd;
};

}  // namespace

bool backend_has_eigenvectors() {
  return true;
}

template <Scalar T>
void backend_eigenvectors(const blas::Context& context, const MatrixView<T>& A,
                          const Kokkos::View<Real<T>*, MemorySpace>& w) {
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::eigenvectors");
  const ExecutionSpace& space = context.space();
  // A handle of its own, whose workspace is freed with it.
  const Handle handle;
  check("rocBLAS", "take a stream", rocblas_set_stream(handle.value, space.hip_stream()));
  const auto n = static_cast<rocblas_int>(A.extent(0));
  const Kokkos::View<Real<T>*, MemorySpace> off_diagonal(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::blas::off_diagonal"), A.extent(0));
  const Kokkos::View<rocblas_int, MemorySpace> info(Kokkos::view_alloc(space, "heddle::blas::info"));
  using Element = typename SolverRoutine<T>::Element;
  check("rocSOLVER", "find eigenvectors",
        SolverRoutine<T>::eigenvectors(
            handle.value, rocblas_evect_original, rocblas_fill_lower, n, reinterpret_cast<Element*>(A.data()),
            static_cast<rocblas_int>(leading_dimension(A)), w.data(), off_diagonal.data(), info.data()));
  rocblas_int found = 0;
  Kokkos::deep_copy(space, Kokkos::View<rocblas_int, Kokkos::HostSpace>(&found), info);
  space.fence("heddle::blas::eigenvectors");
  if (found != 0) {
    throw Error(ErrorKind::computation,
                message_of("rocSOLVER's syevd or heevd of a matrix of ", n, " rows failed with info = ", found));
  }
}

#else

bool backend_has_eigenvectors() {
  return false;
}

template <Scalar T>
void backend_eigenvectors(const blas::Context& /*context*/, const MatrixView<T>& /*A*/,
                          const Kokkos::View<Real<T>*, MemorySpace>& /*w*/) {
  throw Error(ErrorKind::computation, "this build has no rocSOLVER to find eigenvectors with");
}

#endif

HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE_BACKEND_EIGENVECTORS);

}  // namespace heddle::impl

// Eigenvectors by rocSOLVER, where it was found.
#include "blas/backend.hpp"
#include "blas/decompositions.hpp"
#include "core/instantiate.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#ifdef HEDDLE_ROCSOLVER
#include "blas/rocblas_handle.hpp"

#include <rocsolver/rocsolver.h>
#endif

namespace heddle::impl {

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
  const RocblasHandle handle;
  check_rocblas("rocBLAS", "take a stream", rocblas_set_stream(handle.value, space.hip_stream()));
  const auto n = static_cast<rocblas_int>(A.extent(0));
  const Kokkos::View<Real<T>*, MemorySpace> off_diagonal(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::blas::off_diagonal"), A.extent(0));
  const Kokkos::View<rocblas_int, MemorySpace> info(Kokkos::view_alloc(space, "heddle::blas::info"));
  using Element = typename SolverRoutine<T>::Element;
  check_rocblas("rocSOLVER", "find eigenvectors",
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

// blas::gemm on the host's BLAS, any that has the Fortran interface.
#include "blas/backend.hpp"
#include "core/instantiate.hpp"
#include "core/quiet_region.hpp"
#include <heddle/core/error.hpp>

#include <limits>
#include <string>

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
void cgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
void zgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
            const void*, const int*, const void*, void*, const int*);
// Present where the BLAS is OpenBLAS.
__attribute__((weak)) char* openblas_get_config();
}

namespace heddle::impl {
namespace {

static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible,
              "the host BLAS can't reach device memory");

template <Scalar T> constexpr auto* fortran_gemm = &dgemm_;
template <> constexpr auto* fortran_gemm<float> = &sgemm_;
template <> constexpr auto* fortran_gemm<Kokkos::complex<float>> = &cgemm_;
template <> constexpr auto* fortran_gemm<Kokkos::complex<double>> = &zgemm_;

int blas_integer(Index value) {
  require(value <= std::numeric_limits<int>::max(), "blas::gemm: extent or leading dimension ", value,
          " is beyond the host BLAS's integers");
  return static_cast<int>(value);
}

}  // namespace

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void backend_gemm(const blas::Context& context, Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
                  const MatrixView<const T>& B, T beta, const MatrixView<T>& C) {
  static const std::string before = "heddle::blas::before_host_gemm";
  context.space().fence(before);
  const QuietRegion region("heddle::blas::gemm");
  const int m = blas_integer(static_cast<Index>(C.extent(0)));
  const int n = blas_integer(static_cast<Index>(C.extent(1)));
  const int k = blas_integer(static_cast<Index>(A.extent(op_a == Operation::none ? 1 : 0)));
  const int leading_a = blas_integer(leading_dimension(A));
  const int leading_b = blas_integer(leading_dimension(B));
  const int leading_c = blas_integer(leading_dimension(C));
  const char letter_a = to_string(op_a).front();
  const char letter_b = to_string(op_b).front();
  fortran_gemm<T>(&letter_a, &letter_b, &m, &n, &k, &alpha, A.data(), &leading_a, B.data(), &leading_b, &beta, C.data(),
                  &leading_c);
}

std::string backend_description() {
  return openblas_get_config != nullptr ? std::string(openblas_get_config()) : "host BLAS (Fortran interface)";
}

std::string backend_math_trouble(MathMode mode) {
  return mode == MathMode::plain ? "" : "CPUs have one arithmetic; expected plain or auto";
}

bool backend_runs_side_by_side() {
  return false;
}
std::shared_ptr<blas::Context::State> make_backend_state(const ExecutionSpace&, MathMode) {
  return {};
}

HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE_BACKEND_GEMM);

}  // namespace heddle::impl

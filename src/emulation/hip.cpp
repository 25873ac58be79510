// Products of 8-bit integers by rocBLAS, where it was found, and else by our own loops.
#include "emulation/integer.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#ifdef HEDDLE_ROCBLAS
#include "blas/rocblas_handle.hpp"

#include <optional>
#endif

namespace heddle::impl {

#ifdef HEDDLE_ROCBLAS
namespace {

// One for all products, as it takes a while to make. Its workspace belongs to one stream at a time, so another stream
// waits for the last one's work; the instance that is kept keeps its stream.
struct Shared {
  RocblasHandle handle;
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
    check_rocblas("rocBLAS", "take a stream", rocblas_set_stream(shared->handle.value, space.hip_stream()));
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
    check_rocblas("rocBLAS", "multiply",
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

}  // namespace heddle::impl

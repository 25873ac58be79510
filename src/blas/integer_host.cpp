// Products of 8-bit integers on CPUs: oneDNN's where it was found and the processor has AVX-512's integer dot products
// (without them oneDNN's sums may saturate at 16 bits), else our own.
#include "blas/integer_portable.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#ifdef HEDDLE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace heddle::impl {

#ifdef HEDDLE_ONEDNN
namespace {

bool sums_are_exact() {
  static const bool exact = [] {
    const int isa = dnnl_get_effective_cpu_isa();
    return (isa & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni;
  }();
  return exact;
}

}  // namespace

void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  if (!sums_are_exact()) {
    portable_integer_gemm(context.space(), products);
    return;
  }
  context.space().fence("heddle::blas::before_host_gemm");
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::integer_gemm");
  const std::int32_t no_offset = 0;
  for (int l = 0; l < products.count; ++l) {
    // oneDNN is row-major: C^T = B^T A.
    const dnnl_status_t status = dnnl_gemm_s8s8s32(
        'N', 'T', 'F', products.n, products.m, products.k, 1.0F, products.B + l * products.stride_b, products.leading_b,
        0, products.A + l * products.stride_a, products.leading_a, 0, products.add ? 1.0F : 0.0F,
        products.C + l * products.stride_c, products.leading_c, &no_offset);
    if (status != dnnl_success) {
      throw Error(ErrorKind::computation, message_of("oneDNN failed to multiply: status ", static_cast<int>(status)));
    }
  }
}

std::string integer_description() {
  if (!sums_are_exact()) {
    return "Heddle's own";
  }
  const dnnl_version_t* version = dnnl_version();
  const bool tiles = (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx;
  return message_of("oneDNN ", version->major, ".", version->minor, ".", version->patch,
                    tiles ? " (AMX)" : " (AVX-512 VNNI)");
}

#else

void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  portable_integer_gemm(context.space(), products);
}

std::string integer_description() {
  return "Heddle's own";
}

#endif

}  // namespace heddle::impl

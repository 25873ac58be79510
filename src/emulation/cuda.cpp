// Products of 8-bit integers by cuBLAS, and by a kernel of our own on compute capability 9.0.
#include "blas/backend.hpp"
#include "blas/cuda_state.hpp"
#include "emulation/hopper.hpp"
#include "emulation/integer.hpp"
#include <heddle/core/error.hpp>

#include <cublas_v2.h>

namespace heddle::impl {

// Products run one after the other: cuBLAS 13.1 multiplies batches of large matrices at 0.7 of the rate.
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

#ifdef HEDDLE_HOPPER
bool has_integer_residues() {
  return has_hopper_products();
}

void integer_residues(const blas::Context& context, const IntegerProducts& products, const std::uint32_t* moduli,
                      std::uint8_t* D) {
  const char* const failure = hopper_products({.m = products.m,
                                               .n = products.n,
                                               .k = products.k,
                                               .count = products.count,
                                               .A = products.A,
                                               .leading_a = products.leading_a,
                                               .stride_a = products.stride_a,
                                               .B = products.B,
                                               .leading_b = products.leading_b,
                                               .stride_b = products.stride_b,
                                               .D = D,
                                               .leading_d = products.leading_c,
                                               .stride_d = products.stride_c,
                                               .add = products.add,
                                               .moduli = moduli,
                                               .next = context.state()->next.data()},
                                              context.space().cuda_stream());
  if (failure != nullptr) {
    throw Error(ErrorKind::computation, message_of("CUDA failed to multiply integers by their residues: ", failure));
  }
}
#endif

std::string integer_description() {
  return backend_description();
}

}  // namespace heddle::impl

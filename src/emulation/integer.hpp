// Products of 8-bit integers, exact in 32 bits, by the units that processors have for them.
#pragma once

#include <heddle/blas/blas.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace heddle::impl {

/// C_l = A_l^T B_l + beta C_l for l = 0 ... count - 1: A_l is k x m, B_l k x n, C_l m x n, column-major, `stride`
/// elements from one to the next. beta is 0 (C is not read) or 1.
struct IntegerProducts {
  Index m;
  Index n;
  Index k;
  int count;
  const std::int8_t* A;
  Index leading_a;
  Index stride_a;
  const std::int8_t* B;
  Index leading_b;
  Index stride_b;
  std::int32_t* C;
  Index leading_c;
  Index stride_c;
  bool add;
};

/// Leading dimensions and k are multiples of 64, m of 16; sums are within 32 bits. Ordered on the context's instance.
void integer_gemm(const blas::Context& context, const IntegerProducts& products);

/// Whether the device reduces such sums modulo small numbers before they reach memory: see integer_residues().
[[nodiscard]] bool has_integer_residues();
/// D_l = A_l^T B_l + beta D_l modulo p_l, in [0, p_l], of p_l = 256 in [0, 255]; D is laid out as C, which is not used,
/// its leading dimension and stride multiples of 16. `moduli` are the p_l, no more than 256, on the host, one for each
/// plane. Only where has_integer_residues(); ordered on the context's instance.
void integer_residues(const blas::Context& context, const IntegerProducts& products, const std::uint32_t* moduli,
                      std::uint8_t* D);
/// "oneDNN 2.6.3 (AVX-512 VNNI)", "cuBLAS 13.1.0", "rocBLAS 4.4.0", or portable_integer_description.
std::string integer_description();

/// Our own loops on CPUs, for processors that have certain vectors.
struct IntegerKernel {
  const char* name;
  void (*multiply)(const ExecutionSpace& space, const IntegerProducts& products);
};
/// Those that this processor has, the fastest first: none on GPUs and on other processors than x86-64's.
[[nodiscard]] std::span<const IntegerKernel> integer_kernels();

/// integer_gemm() without any vendor's library, by loops for any processor.
void portable_integer_gemm(const ExecutionSpace& space, const IntegerProducts& products);
inline constexpr const char* portable_integer_description = "Heddle's own";

}  // namespace heddle::impl

// Layouts on which cuBLAS's choice of a kernel, and so the bits of a product, does not depend.
#pragma once

#include <heddle/blas/math_mode.hpp>
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace heddle::impl {

/// Requirements on the operands of one product.
///
/// cuBLAS takes its kernel from leading dimensions and addresses too. Seen on an H200 with cuBLAS 13.1, of products of
/// one shape whose operands lie in 16 ways: a C of one row or column is the work of five kernels of matrix-vector and
/// inner products, which sum in orders of their own; in double precision a product whose operands all begin their
/// columns on 16 bytes has another kernel, and other parts of the inner dimension that are summed apart, than one where
/// any does not. Float and complex products of two rows and columns or more had the same bits in all layouts (of
/// 1,000 shapes each), and so had double ones whose columns begin on 16 bytes. Tensor cores take operands by 16 bytes,
/// so that those of tf32 are laid out likewise; of that mode no layouts have been compared.
struct GemmLayout {
  Index alignment = 1;  ///< The leading dimension is a multiple of this many elements.
  Index bytes = 1;      ///< The address is a multiple of this.
  bool tight = false;   ///< The leading dimension is the least possible.

  [[nodiscard]] Index leading(Index rows) const { return (rows + alignment - 1) / alignment * alignment; }
  [[nodiscard]] bool fits(const void* data, Index rows, Index leading_dimension) const {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0 &&
           (tight ? leading_dimension == leading(rows) : leading_dimension % alignment == 0);
  }
};

#ifdef KOKKOS_ENABLE_CUDA
inline constexpr bool by_cublas = true;
#else
inline constexpr bool by_cublas = false;
#endif

/// Returns the layout that cuBLAS needs for a C of `rows` x `columns`; any other BLAS takes every layout.
template <Scalar T>
[[nodiscard]] GemmLayout gemm_layout(Index rows, Index columns, MathMode math = MathMode::automatic,
                                     bool cublas = by_cublas) {
  if (!cublas) return {};
  const bool by_16_bytes = std::is_same_v<T, double> || math == MathMode::tf32;
  const Index aligned = by_16_bytes ? std::max<Index>(16 / static_cast<Index>(sizeof(T)), 1) : 1;
  if (rows == 1 || columns == 1) return {aligned, 256, true};
  return {aligned, aligned * static_cast<Index>(sizeof(T)), false};
}

}  // namespace heddle::impl

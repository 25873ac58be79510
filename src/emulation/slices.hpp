// Products of integers cut into slices of 8 bits: the reference for products by residues.
#pragma once

#include "emulation/target.hpp"
#include <heddle/blas/blas.hpp>

namespace heddle::impl {

/// C = alpha op(A) op(B) + beta C, from op(A) and op(B) in slices x_i and y_j: x'.y' = sum_ij 256^(i + j) x_i.y_j. Each
/// product is exact in 32 bits and their sums in 64; the result is rounded once, as with residues.
template <Scalar T> class SlicedProduct {
 public:
  explicit SlicedProduct(std::size_t workspace_bytes) : workspace_bytes_(workspace_bytes) {}

  void operator()(const blas::Context& context, int slices, T alpha, const QuantisedOperands<T>& operands, T beta,
                  const MatrixView<T>& C);

 private:
  static constexpr int parts = is_complex<T> ? 2 : 1;

  // Add `sign` times the products of slices of these parts to the sums of part `to`.
  struct Pair {
    int left;
    int right;
    int to;
    int sign;
  };
  void add(const blas::Context& context, int slices, const QuantisedOperands<T>& operands, const ProductPiece& piece,
           const Pair& pair);

  std::size_t workspace_bytes_;
  Kokkos::View<std::int32_t*, MemorySpace> products_;  // Products of a slice of A with all slices of B.
  Kokkos::View<std::int64_t*, MemorySpace> sums_;      // Sums for each power of 256 and part of C.
};

}  // namespace heddle::impl

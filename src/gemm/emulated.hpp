// One product of quantised bands.
#pragma once

#include "blas/integer.hpp"
#include "gemm/quantised.hpp"
#include <heddle/gemm/emulation.hpp>

namespace heddle::impl {

/// Bytes of 32-bit sums held at once where the caller leaves it open.
[[nodiscard]] std::size_t default_sum_bytes();

/// C = alpha op(A) op(B) + beta C, where A and B are op(A) and op(B) quantised.
template <Scalar T> class EmulatedProduct {
 public:
  EmulatedProduct(const ExecutionSpace& space, Index m, Index n, int moduli, std::size_t workspace_bytes);

  [[nodiscard]] const ResidueSystem& system() const { return system_; }

  struct Operands {
    Operation op_a;
    Operation op_b;
    MatrixView<const T> A;
    MatrixView<const T> B;
    const QuantisedVectors<T>* left;
    const QuantisedVectors<T>* right;
  };
  void operator()(const blas::Context& context, T alpha, const Operands& operands, T beta, const MatrixView<T>& C);

 private:
  static constexpr int parts = QuantisedVectors<T>::parts;

  ResidueSystem system_;
  Kokkos::View<std::int32_t*, MemorySpace> sums_;
};

}  // namespace heddle::impl

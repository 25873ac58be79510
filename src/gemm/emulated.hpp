// One product of quantised bands.
#pragma once

#include "blas/integer.hpp"
#include "gemm/quantised.hpp"
#include <heddle/gemm/emulation.hpp>

namespace heddle::impl {

/// Moduli of a product: those of the options, or as many as round-off needs. Throws Error(argument) for any that can't
/// be.
template <Scalar T> [[nodiscard]] int moduli_of(Index inner, const EmulationOptions& options);

/// C = alpha op(A) op(B) + beta C, where A and B are op(A) and op(B) quantised.
template <Scalar T> class EmulatedProduct {
 public:
  EmulatedProduct(const ExecutionSpace& space, Index m, Index n, int moduli, std::size_t workspace_bytes);

  [[nodiscard]] const ResidueSystem& system() const { return system_; }
  /// 32-bit sums that one holds: of 16 columns at least.
  [[nodiscard]] static Index sums_for(Index m, Index n, int moduli, std::size_t workspace_bytes);

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

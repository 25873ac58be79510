// Products of real n x n matrices: one interface, its implementations, and the choice between them.
#pragma once

#include "expm/arithmetic/matrix_pool.hpp"
#include "gemm/run/kept_products.hpp"
#include <heddle/gemm/gemm.hpp>

#include <memory>

namespace heddle::impl {

/// A factor, and the sign s with X^T = s X to the bit; 0 if nothing is known.
template <RealScalar T> using RealFactor = typename KeptProducts<T>::Given;

/// Cost of one product.
struct ProductCost {
  double flops = 0.0;    ///< 2 n^3, or the computed part of it.
  double seconds = 0.0;  ///< Time of the slowest rank.
  bool probed = false;   ///< Whether its factors were probed for the moduli they need.
};

/// Z = alpha X Y + beta Z. X and Z in row bands over all ranks, Y in column bands. Collective.
template <RealScalar T> class RealProducts {
 public:
  RealProducts() = default;
  RealProducts(const RealProducts&) = delete;
  RealProducts& operator=(const RealProducts&) = delete;
  virtual ~RealProducts() = default;

  /// beta == 0 does not read Z. Z must not be a factor.
  virtual ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                               const DistributedMatrix<T>& Z) = 0;
  /// Tile of Z; n if it is computed as a whole.
  [[nodiscard]] virtual Index tile() const = 0;
};

/// Products that are known to be symmetric or antisymmetric. multiply() computes at least one of each pair z_ij and
/// z_ji, and complete() the others, after all products in the sum Z are computed. The first product allocates their
/// workspace.
template <RealScalar T> class HalfProducts : public RealProducts<T> {
 public:
  /// z_ij = sign z_ji for the elements that were not computed; sign is 1 or -1.
  virtual void complete(const DistributedMatrix<T>& Z, T sign) = 0;
};

template <RealScalar T> class CarefulProducts;

/// The chosen implementations.
template <RealScalar T> struct ChosenProducts {
  std::unique_ptr<RealProducts<T>> whole;
  std::unique_ptr<HalfProducts<T>> half;
  /// `whole`, if it decides for each product whether its factors are probed; otherwise null.
  CarefulProducts<T>* careful = nullptr;
};

/// Choose implementations for n x n matrices in these placements:
/// `whole` is planned. On one rank with open tile and bands, and with products emulated by residues, it keeps the
/// residues of the last factors instead, if memory suffices. If products are emulated and the options want a probe, it
/// is a CarefulProducts around either.
///
/// `half` is planned too. On one rank with an open tile it computes panels below the diagonal if products are native,
/// and shares the residues if `whole` keeps them.
///
/// Collective.
template <RealScalar T>
[[nodiscard]] ChosenProducts<T> choose_products(const Communicator& comm, const MatrixPool<T>& rows,
                                                const MatrixPool<T>& columns, const GemmOptions& options);

}  // namespace heddle::impl

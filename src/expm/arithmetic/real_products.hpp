// Products of real n x n matrices: one interface, and the ways to compute them, of which one is chosen once.
#pragma once

#include "expm/arithmetic/matrix_pool.hpp"
#include "gemm/emulation/kept_products.hpp"
#include <heddle/gemm/gemm.hpp>

#include <memory>

namespace heddle::impl {

/// A factor, and the sign s with which X^T = s X to the bit; 0 where nothing is known.
template <RealScalar T> using RealFactor = typename KeptProducts<T>::Given;

/// What one product cost.
struct ProductCost {
  double flops = 0.0;    ///< 2 n^3, or what is computed of it.
  double seconds = 0.0;  ///< The slowest rank's.
  bool probed = false;   ///< Whether its factors were probed for the moduli they need.
};

/// Z = alpha X Y + beta Z. X and Z in row bands over all ranks, Y in column bands. Collective.
template <RealScalar T> class RealProducts {
 public:
  RealProducts() = default;
  RealProducts(const RealProducts&) = delete;
  RealProducts& operator=(const RealProducts&) = delete;
  virtual ~RealProducts() = default;

  /// beta == 0 does not read Z. Z is no factor.
  virtual ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                               const DistributedMatrix<T>& Z) = 0;
  /// Of the tiles that Z is computed in; n where it is computed as a whole.
  [[nodiscard]] virtual Index tile() const = 0;
};

/// Products that are known to be symmetric or antisymmetric. multiply() computes one of each pair z_ij and z_ji at
/// least, and complete() the others, once all products that Z is the sum of are made. Their workspace is made by the
/// first product.
template <RealScalar T> class HalfProducts : public RealProducts<T> {
 public:
  /// z_ij = sign z_ji for what was not computed; sign is 1 or -1.
  virtual void complete(const DistributedMatrix<T>& Z, T sign) = 0;
};

template <RealScalar T> class CarefulProducts;

/// The ways that were chosen.
template <RealScalar T> struct ChosenProducts {
  std::unique_ptr<RealProducts<T>> whole;
  std::unique_ptr<HalfProducts<T>> half;
  /// `whole`, where it chooses for each product whether its factors are probed; null where it does not.
  CarefulProducts<T>* careful = nullptr;
};

/// Chooses, for n x n matrices in these placements:
/// `whole` is planned. On one rank whose tile and bands are left open, and whose products are emulated by residues, it
/// keeps the residues of the last factors instead, where memory takes them. Where products are emulated and the options
/// want a probe, it is a CarefulProducts around either.
///
/// `half` is planned too. On one rank whose tile is left open it computes panels below the diagonal where products are
/// native, and shares the residues where `whole` keeps them.
///
/// Collective.
template <RealScalar T>
[[nodiscard]] ChosenProducts<T> choose_products(const Communicator& comm, const MatrixPool<T>& rows,
                                                const MatrixPool<T>& columns, const GemmOptions& options);

}  // namespace heddle::impl

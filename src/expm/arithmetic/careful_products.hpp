// Emulated products with the elementwise accuracy of a BLAS, for factors whose norms alone do not assure it.
#pragma once

#include "expm/arithmetic/even_scaling.hpp"
#include "expm/arithmetic/real_products.hpp"

#include <memory>
#include <optional>

namespace heddle::impl {

/// Whether errors relative to norms of rows and columns, as emulated products have, are acceptable.
enum class Trust {
  always,  ///< Factors are functions of one normal matrix: errors grow with norms alone.
  tested,  ///< Factors that are evenly scaled (see EvenScaling) are multiplied unchanged, others after a probe.
  never,   ///< All factors are scaled to suit each other and probed, so that errors are as small as a BLAS's, element
           ///< by element.
};

/// Products that use other products if norms can be trusted. Otherwise the factors are scaled by powers of two to suit
/// each other, and their product is emulated with as many moduli as a probe of the factors requires.
template <RealScalar T> class CarefulProducts : public RealProducts<T> {
 public:
  /// `trusted`: the other products. `options`: the caller's.
  CarefulProducts(const Communicator& comm, std::unique_ptr<RealProducts<T>> trusted, const MatrixPool<T>& rows,
                  const MatrixPool<T>& columns, const GemmOptions& options);

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override;
  [[nodiscard]] Index tile() const override { return trusted_->tile(); }

  /// Set the trust for later products.
  void trust(Trust trust) { trust_ = trust; }
  /// Whether no row or column of X is much smaller than others: see EvenScaling::evenly_filled(). Collective; blocks.
  [[nodiscard]] bool evenly_filled(const SharedMatrix<T>& X) { return scaling_.evenly_filled(X); }

 private:
  [[nodiscard]] bool needs_probe(const SharedMatrix<T>& X, const SharedMatrix<T>& Y);

  Communicator comm_;
  std::unique_ptr<RealProducts<T>> trusted_;
  MatrixPool<T> rows_;
  MatrixPool<T> columns_;
  GemmOptions options_;
  Trust trust_ = Trust::tested;
  EvenScaling<T> scaling_;
  std::optional<GemmPlan<T>> plan_;  // Constructed when first needed.
};

}  // namespace heddle::impl

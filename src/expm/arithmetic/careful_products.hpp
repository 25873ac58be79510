// Emulated products whose errors are as small as those of a BLAS, element by element, where norms alone do not assure
// it.
#pragma once

#include "expm/arithmetic/even_scaling.hpp"
#include "expm/arithmetic/real_products.hpp"

#include <memory>
#include <optional>

namespace heddle::impl {

/// How far errors relative to norms of rows and columns, as emulated products have, can be trusted.
enum class Trust {
  always,  ///< Factors are functions of one normal matrix: errors grow with norms alone.
  tested,  ///< Factors that are evenly scaled (see EvenScaling) are multiplied as they are, others after a probe.
  never,   ///< All are scaled to suit each other, and probed, so that errors are as a BLAS's, element by element.
};

/// Multiplies by other products where norms can be trusted. Elsewhere the factors are scaled by powers of two to suit
/// each other, and their product is emulated with as many moduli as a probe of the factors asks for.
template <RealScalar T> class CarefulProducts : public RealProducts<T> {
 public:
  /// `trusted`: the other products. `options`: those of the caller.
  CarefulProducts(const Communicator& comm, std::unique_ptr<RealProducts<T>> trusted, const MatrixPool<T>& rows,
                  const MatrixPool<T>& columns, const GemmOptions& options);

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override;
  [[nodiscard]] Index tile() const override { return trusted_->tile(); }

  /// For products from here on.
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
  std::optional<GemmPlan<T>> plan_;  // Made where it is first needed.
};

}  // namespace heddle::impl

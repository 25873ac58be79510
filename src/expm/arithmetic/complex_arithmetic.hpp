// Sums and products of complex matrices in real and imaginary parts, based on real products.
#pragma once

#include "dist/redistribution.hpp"
#include "expm/arithmetic/careful_products.hpp"
#include "expm/arithmetic/matrix_pool.hpp"
#include "expm/arithmetic/parts.hpp"
#include "expm/arithmetic/real_products.hpp"
#include <heddle/gemm/gemm.hpp>

#include <complex>
#include <functional>
#include <optional>
#include <span>

namespace heddle::impl {

/// A right factor in column bands: only it travels in a product in row bands, in messages that need no packing. Made
/// once for a matrix in many products.
template <RealScalar T> struct RightFactor {
  Parts<T> parts;
  SharedMatrix<T> sum;  ///< real + imaginary, if three real products need it.
  Symmetry symmetry = Symmetry::none;
};

/// Square matrices in row bands, their arithmetic, and its cost. Every result is a matrix with one owner, which may
/// write it; factors and terms are only read.
template <RealScalar T> class ComplexArithmetic {
 public:
  /// Names that polynomials use: elements, a matrix to read, one to write, and a right factor.
  using Element = T;
  using Matrix = Parts<T>;
  using Written = WorkParts<T>;
  using Factor = RightFactor<T>;

  /// For n x n matrices. `complex_products`: 3 or 4.
  ComplexArithmetic(const Communicator& comm, Index n, int complex_products, const GemmOptions& options);

  /// Row bands over all ranks: the placement of every matrix here except right factors.
  [[nodiscard]] const Placement& placement() const noexcept { return rows_.placement(); }
  /// Placement of right factors.
  [[nodiscard]] const Placement& columns_placement() const noexcept { return columns_.placement(); }
  /// Return a matrix of the workspace, uninitialised.
  [[nodiscard]] WorkMatrix<T> take() const { return rows_.take(); }
  /// Return Y in column bands. `columns`: those of its parts that already exist; the others are empty. Parts of a
  /// symmetric Y are made from its row bands, without communication.
  [[nodiscard]] Parts<T> column_bands(const Parts<T>& Y, const Parts<T>& columns = {}, Symmetry of_Y = Symmetry::none);
  /// The same, with the sum that three real products need.
  [[nodiscard]] RightFactor<T> right_factor(const Parts<T>& Y, const Parts<T>& columns = {},
                                            Symmetry of_Y = Symmetry::none);

  /// alpha X Y. `symmetry`: that of the result; if Y also has one, so has X: the one that follows for commuting
  /// matrices, to the bit.
  [[nodiscard]] WorkParts<T> multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y,
                                      Symmetry symmetry = Symmetry::none);
  /// alpha X Y + Z, in Z's storage. `symmetry`: that of the result and of Z.
  [[nodiscard]] WorkParts<T> multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, WorkParts<T> Z,
                                          Symmetry symmetry = Symmetry::none);
  /// identity I + sum_k coefficients[k] terms[k], each element summed in this order.
  [[nodiscard]] WorkParts<T> combine(std::complex<double> identity, std::span<const T> coefficients,
                                     std::span<const Parts<T>> terms) const;
  /// 2^exponent X, without rounding in the normal range; X itself if the exponent is 0.
  [[nodiscard]] Parts<T> times_power_of_two(Parts<T> X, int exponent) const;
  /// factor X, in X's storage if the factor is real, otherwise in another.
  [[nodiscard]] WorkParts<T> scaled(std::complex<double> factor, WorkParts<T> X) const;

  /// Set the trust for later products; no effect if they are native, or the options want no probe.
  void trust_norms(Trust trust) {
    if (products_of_.careful) products_of_.careful->trust(trust);
  }
  /// `tested`, or `never` if the parts of A are filled too unevenly for that.
  [[nodiscard]] Trust trust_in(const Parts<T>& A);
  /// Whether the result of trust_in() has any effect.
  [[nodiscard]] bool tests_scaling() const noexcept { return products_of_.careful != nullptr; }

  /// Called after each real product.
  std::function<void()> after_product;
  /// Cost of the real products since reset_counts(): their number, their flops (2 n^3 each, less those that half
  /// products save), the slowest rank's seconds, and the number of products whose factors were probed.
  [[nodiscard]] int products() const noexcept { return products_; }
  [[nodiscard]] double flops() const noexcept { return flops_; }
  [[nodiscard]] double gemm_seconds() const noexcept { return gemm_seconds_; }
  [[nodiscard]] int probes() const noexcept { return probes_; }
  void reset_counts();
  /// Tile of the products.
  [[nodiscard]] Index tile() const { return products_of_.whole->tile(); }

 private:
  // `sign`: the sign s with part^T = s part; 0 if there is none.
  [[nodiscard]] SharedMatrix<T> in_column_bands(const SharedMatrix<T>& part, int sign);
  [[nodiscard]] WorkMatrix<T> sum(const Parts<T>& X, const MatrixPool<T>& pool) const;
  // Z = alpha X Y + beta Z, for real matrices; `half`: only half of a symmetric result, which complete() then
  // completes.
  void product(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta, WorkMatrix<T>& Z, bool half);
  // Z += alpha X Y, part by part; absent parts of Z begin at zero. `symmetry`: that of the result.
  void add_products(T alpha, const Parts<T>& X, const RightFactor<T>& Y, WorkParts<T>& Z, Symmetry symmetry);
  // Fill in the other half of a product of this symmetry.
  void complete(WorkParts<T>& Z, Symmetry symmetry);

  Communicator comm_;
  MatrixPool<T> rows_;
  MatrixPool<T> columns_;
  std::optional<Redistribution<T>> to_columns_;  // Constructed when first needed.
  int complex_products_;
  ChosenProducts<T> products_of_;
  int products_ = 0;
  double flops_ = 0.0;
  double gemm_seconds_ = 0.0;
  int probes_ = 0;
};

}  // namespace heddle::impl

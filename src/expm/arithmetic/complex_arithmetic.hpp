// Sums and products of complex matrices in real and imaginary parts, on real products.
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

/// A right factor, in column bands: of a product in row bands it is then all that travels, in messages that need no
/// packing. Made once for a matrix that many products share.
template <RealScalar T> struct RightFactor {
  Parts<T> parts;
  SharedMatrix<T> sum;  ///< real + imaginary, where three real products will want it.
  Symmetry symmetry = Symmetry::none;
};

/// Square matrices in row bands, their arithmetic, and what it cost. Every result is a matrix of its own, which its one
/// owner may write; factors and terms are only read.
template <RealScalar T> class ComplexArithmetic {
 public:
  /// The names by which polynomials know them: elements, a matrix to be read, one to be written, and a right factor.
  using Element = T;
  using Matrix = Parts<T>;
  using Written = WorkParts<T>;
  using Factor = RightFactor<T>;

  /// For n x n matrices. `complex_products`: 3 or 4.
  ComplexArithmetic(const Communicator& comm, Index n, int complex_products, const GemmOptions& options);

  /// Row bands over all ranks: the placement of every matrix here but right factors.
  [[nodiscard]] const Placement& placement() const noexcept { return rows_.placement(); }
  /// That of right factors.
  [[nodiscard]] const Placement& columns_placement() const noexcept { return columns_.placement(); }
  /// A matrix of the workspace, uninitialised.
  [[nodiscard]] WorkMatrix<T> take() const { return rows_.take(); }
  /// Y in column bands. `columns`: parts of it that are there already; empty where they are not. Of a symmetric Y they
  /// are made from its row bands, and nothing travels.
  [[nodiscard]] Parts<T> column_bands(const Parts<T>& Y, const Parts<T>& columns = {}, Symmetry of_Y = Symmetry::none);
  /// The same, with what three real products will want.
  [[nodiscard]] RightFactor<T> right_factor(const Parts<T>& Y, const Parts<T>& columns = {},
                                            Symmetry of_Y = Symmetry::none);

  /// alpha X Y. `symmetry`: that of the result; where Y has one too, so has X, that which follows of matrices that
  /// commute, to the bit.
  [[nodiscard]] WorkParts<T> multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y,
                                      Symmetry symmetry = Symmetry::none);
  /// alpha X Y + Z, in Z's storage. `symmetry`: that of the result and of Z.
  [[nodiscard]] WorkParts<T> multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, WorkParts<T> Z,
                                          Symmetry symmetry = Symmetry::none);
  /// identity I + sum_k coefficients[k] terms[k], each element summed in this order.
  [[nodiscard]] WorkParts<T> combine(std::complex<double> identity, std::span<const T> coefficients,
                                     std::span<const Parts<T>> terms) const;
  /// 2^exponent X, without rounding in the normal range; X itself where the exponent is 0.
  [[nodiscard]] Parts<T> times_power_of_two(Parts<T> X, int exponent) const;
  /// factor X, in X's storage where the factor is real, and in another where it is not.
  [[nodiscard]] WorkParts<T> scaled(std::complex<double> factor, WorkParts<T> X) const;

  /// For products from here on; changes nothing where they are native, or the options want no probe.
  void trust_norms(Trust trust) {
    if (products_of_.careful) products_of_.careful->trust(trust);
  }
  /// `tested`, or `never` where the parts of A are filled too unevenly for that.
  [[nodiscard]] Trust trust_in(const Parts<T>& A);
  /// Whether anything depends on it.
  [[nodiscard]] bool tests_scaling() const noexcept { return products_of_.careful != nullptr; }

  /// Called after each real product.
  std::function<void()> after_product;
  /// What real products cost since reset_counts(): how many there were, 2 n^3 flops each, less what half ones leave
  /// out, the slowest rank's seconds, and how many of them had their factors probed.
  [[nodiscard]] int products() const noexcept { return products_; }
  [[nodiscard]] double flops() const noexcept { return flops_; }
  [[nodiscard]] double gemm_seconds() const noexcept { return gemm_seconds_; }
  [[nodiscard]] int probes() const noexcept { return probes_; }
  void reset_counts();
  /// Of the tiles that products are computed in.
  [[nodiscard]] Index tile() const { return products_of_.whole->tile(); }

 private:
  // `sign`: of the part's transpose, which is the part itself; 0 where it is not.
  [[nodiscard]] SharedMatrix<T> in_column_bands(const SharedMatrix<T>& part, int sign);
  [[nodiscard]] WorkMatrix<T> sum(const Parts<T>& X, const MatrixPool<T>& pool) const;
  // Z = alpha X Y + beta Z, of real matrices; `half`: of a symmetric result, which is then to be completed.
  void product(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta, WorkMatrix<T>& Z, bool half);
  // Z += alpha X Y, part by part; absent parts of Z begin at zero. `symmetry`: that of the result.
  void add_products(T alpha, const Parts<T>& X, const RightFactor<T>& Y, WorkParts<T>& Z, Symmetry symmetry);
  // The other half of a product of this symmetry.
  void complete(WorkParts<T>& Z, Symmetry symmetry);

  Communicator comm_;
  MatrixPool<T> rows_;
  MatrixPool<T> columns_;
  std::optional<Redistribution<T>> to_columns_;  // Made when it is first asked for.
  int complex_products_;
  ChosenProducts<T> products_of_;
  int products_ = 0;
  double flops_ = 0.0;
  double gemm_seconds_ = 0.0;
  int probes_ = 0;
};

}  // namespace heddle::impl

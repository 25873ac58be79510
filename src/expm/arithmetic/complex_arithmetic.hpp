// Matrices as real and imaginary parts, either of which may be exactly zero, and their sums and products on gemm.
#pragma once

#include "expm/arithmetic/even_scaling.hpp"
#include "gemm/emulation/kept_products.hpp"
#include "gemm/run/mirror.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/gemm/gemm.hpp>

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::impl {

/// A real matrix of a workspace; empty for exactly zero. Returns to its workspace when the last copy goes.
template <RealScalar T> using Part = std::shared_ptr<const DistributedMatrix<T>>;

/// real + i imaginary.
template <RealScalar T> struct Parts {
  Part<T> real;
  Part<T> imaginary;
};

/// What is known of a matrix: X^H = X or X^H = -X, to the bit. A product that has such a symmetry, as that of two
/// Hermitian matrices that commute, is computed by half and mirrored.
enum class Symmetry { none, hermitian, skew_hermitian };

/// Of the product of two such matrices that commute; so also of X, from those of X Y and of Y.
[[nodiscard]] inline Symmetry product_of(Symmetry one, Symmetry other) {
  if (one == Symmetry::none || other == Symmetry::none) {
    return Symmetry::none;
  }
  return one == other ? Symmetry::hermitian : Symmetry::skew_hermitian;
}

/// A right factor, in column bands: of a product in row bands it is then all that travels, in messages that need no
/// packing. Made once for a matrix that many products share.
template <RealScalar T> struct RightFactor {
  Parts<T> parts;
  Part<T> sum;  ///< real + imaginary, where three real products will want it.
  Symmetry symmetry = Symmetry::none;
};

/// Square matrices in row bands, their arithmetic, and what it cost.
template <RealScalar T> class ComplexArithmetic {
 public:
  /// For n x n matrices. `complex_products`: 3 or 4.
  ComplexArithmetic(const Communicator& comm, Index n, int complex_products, const GemmOptions& options);

  /// Row bands over all ranks: the placement of every matrix here but right factors.
  [[nodiscard]] const Placement& placement() const noexcept { return rows_.placement; }
  /// That of right factors.
  [[nodiscard]] const Placement& columns_placement() const noexcept { return columns_.placement; }
  /// A matrix of the workspace, uninitialised.
  [[nodiscard]] Part<T> take() { return take(rows_); }
  /// Y in column bands. `columns`: parts of it that are there already; empty where they are not. Of a symmetric Y they
  /// are made from its row bands, and nothing travels.
  [[nodiscard]] Parts<T> column_bands(const Parts<T>& Y, const Parts<T>& columns = {}, Symmetry of_Y = Symmetry::none);
  /// The same, with what three real products will want.
  [[nodiscard]] RightFactor<T> right_factor(const Parts<T>& Y, const Parts<T>& columns = {},
                                            Symmetry of_Y = Symmetry::none);

  /// alpha X Y. `symmetry`: that of the result; where Y has one too, so has X, that which follows of matrices that
  /// commute, to the bit.
  [[nodiscard]] Parts<T> multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y,
                                  Symmetry symmetry = Symmetry::none);
  /// alpha X Y + Z; takes Z's storage, which no one else may hold. `symmetry`: that of the result and of Z.
  [[nodiscard]] Parts<T> multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Parts<T> Z,
                                      Symmetry symmetry = Symmetry::none);
  /// identity I + sum_k coefficients[k] terms[k], each element summed in this order.
  [[nodiscard]] Parts<T> combine(std::complex<double> identity, std::span<const T> coefficients,
                                 std::span<const Parts<T>> terms);
  /// factor X; takes X's storage, which no one else may hold. An imaginary factor takes another matrix.
  [[nodiscard]] Parts<T> scaled(std::complex<double> factor, Parts<T> X);
  /// S = S + X.
  void accumulate(const Parts<T>& X, Parts<T>& S);

  /// How far errors relative to norms of rows and columns, as emulated products have, can be trusted.
  enum class Trust {
    always,  ///< Factors are functions of one normal matrix: errors grow with norms alone.
    tested,  ///< Factors that are evenly scaled (see EvenScaling) are multiplied as they are, others after a look.
    never,   ///< All are scaled to suit each other, and looked at, so that errors are as a BLAS's, element by element.
  };
  /// For products from here on; nothing where they are native, or options fix the moduli or want no look.
  void trust_norms(Trust trust) { trust_ = trust; }
  /// `tested`, or `never` where the parts of A are filled too unevenly for that.
  [[nodiscard]] Trust trust_in(const Parts<T>& A);
  /// Whether anything depends on it.
  [[nodiscard]] bool tests_scaling() const noexcept { return scaling_.has_value(); }
  /// Products that were looked at since reset_counts().
  [[nodiscard]] int looks() const noexcept { return looks_; }

  /// Called after each real product.
  std::function<void()> after_product;
  [[nodiscard]] int products() const noexcept { return products_; }
  /// 2 n^3 a real product, less what half ones leave out.
  [[nodiscard]] double flops() const noexcept { return flops_; }
  [[nodiscard]] double gemm_seconds() const noexcept { return gemm_seconds_; }
  [[nodiscard]] Index tile() const { return plan_ ? plan_->tile() : rows_.placement.rows(); }
  void reset_counts();

 private:
  /// Matrices of one placement that are not in use.
  struct Pool {
    Placement placement;
    std::shared_ptr<std::vector<DistributedMatrix<T>>> free;
  };
  [[nodiscard]] Part<T> take(const Pool& pool);
  // `sign`: of the part's transpose, which is the part itself; 0 where it is not.
  [[nodiscard]] Part<T> in_column_bands(const Part<T>& part, int sign);
  [[nodiscard]] Part<T> sum(const Parts<T>& X, const Pool& pool);
  // A part of a factor, and the sign of its transpose.
  struct Side {
    const Part<T>& part;
    int sign = 0;
  };
  void product(T alpha, const Side& X, const Side& Y, T beta, const Part<T>& Z, bool half);
  // body() returns the flops of products that it hands out.
  template <class Body> void time_products(const Body& body);
  // What is known of a matrix holds no longer.
  void about_to_change(const Part<T>& part);
  // Whether a product needs to be looked at.
  [[nodiscard]] bool wants_a_look(const Part<T>& X, const Part<T>& Y);
  // A product of factors scaled to suit each other, after a look.
  void careful_product(T alpha, const Part<T>& X, const Part<T>& Y, T beta, const Part<T>& Z);
  void kept_product(T alpha, const Side& X, const Side& Y, T beta, const Part<T>& Z, bool half);
  // Z = alpha X Y + beta Z below the diagonal, and a little above it, on one rank.
  void lower_product(T alpha, const MatrixView<const T>& X, const MatrixView<const T>& Y, T beta,
                     const MatrixView<T>& Z);
  // Z += alpha X Y, part by part; absent parts of Z begin at zero. `symmetry`: that of the result.
  void add_products(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Parts<T>& Z, Symmetry symmetry);
  // The other half of a product of this symmetry.
  void mirror(const Parts<T>& Z, Symmetry symmetry);

  Communicator comm_;
  Pool rows_;
  Pool columns_;
  int complex_products_;
  // One of both; residues are kept on one rank whose tile is not given.
  std::optional<GemmPlan<T>> plan_;
  std::optional<KeptProducts<T>> kept_;
  Trust trust_ = Trust::tested;
  std::optional<EvenScaling<T>> scaling_;
  GemmOptions careful_options_;
  std::optional<GemmPlan<T>> careful_plan_;
  // On one rank whose tile is not given, halves are made without a plan.
  bool lower_half_;
  std::optional<blas::Context> context_;
  // Made where a product of known symmetry is first asked for.
  GemmOptions half_options_;
  std::optional<GemmPlan<T>> half_plan_;
  std::optional<Mirror<T>> mirror_;
  int products_ = 0;
  double flops_ = 0.0;
  double gemm_seconds_ = 0.0;
  int looks_ = 0;
};

}  // namespace heddle::impl

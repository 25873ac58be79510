// Matrices as real and imaginary parts, either of which may be exactly zero, and their sums and products on gemm.
#pragma once

#include <heddle/gemm/gemm.hpp>

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

/// A right factor, in column bands: of a product in row bands it is then all that travels, in messages that need no
/// packing. Made once for a matrix that many products share.
template <RealScalar T> struct RightFactor {
  Parts<T> parts;
  Part<T> sum;  ///< real + imaginary, where three real products will want it.
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
  /// `columns`: parts of Y that are there in column bands already; empty where they are not.
  [[nodiscard]] RightFactor<T> right_factor(const Parts<T>& Y, const Parts<T>& columns = {});

  /// alpha X Y.
  [[nodiscard]] Parts<T> multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y);
  /// alpha X Y + Z; takes Z's storage, which no one else may hold.
  [[nodiscard]] Parts<T> multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Parts<T> Z);
  /// identity I + sum_k coefficients[k] terms[k], each element summed in this order.
  [[nodiscard]] Parts<T> combine(T identity, std::span<const T> coefficients, std::span<const Parts<T>> terms);
  /// S = S + X.
  void accumulate(const Parts<T>& X, Parts<T>& S);

  /// Called after each real product.
  std::function<void()> after_product;
  [[nodiscard]] int products() const noexcept { return products_; }
  [[nodiscard]] double gemm_seconds() const noexcept { return gemm_seconds_; }
  [[nodiscard]] Index tile() const { return plan_.tile(); }
  void reset_counts();

 private:
  /// Matrices of one placement that are not in use.
  struct Pool {
    Placement placement;
    std::shared_ptr<std::vector<DistributedMatrix<T>>> free;
  };
  [[nodiscard]] Part<T> take(const Pool& pool);
  [[nodiscard]] Part<T> in_column_bands(const Part<T>& part);
  [[nodiscard]] Part<T> sum(const Parts<T>& X, const Pool& pool);
  void product(T alpha, const Part<T>& X, const Part<T>& Y, T beta, const Part<T>& Z);
  // Z += alpha X Y, part by part; absent parts of Z begin at zero.
  void add_products(T alpha, const Parts<T>& X, const Parts<T>& Y, Parts<T>& Z);

  Communicator comm_;
  Pool rows_;
  Pool columns_;
  int complex_products_;
  GemmPlan<T> plan_;
  int products_ = 0;
  double gemm_seconds_ = 0.0;
};

}  // namespace heddle::impl

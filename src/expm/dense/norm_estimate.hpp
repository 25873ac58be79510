// Estimates of the 1-norm of a matrix that is known by its products with thin blocks alone, such as a power.
#pragma once

#include "core/on_host.hpp"
#include "expm/arithmetic/parts.hpp"
#include "expm/dense/scheme.hpp"
#include "expm/thin/thin_products.hpp"
#include <heddle/emulation/emulation.hpp>

#include <functional>
#include <optional>

namespace heddle::impl {

/// Y = B X for n x t blocks, the same on every rank.
template <Scalar T> using ThinOperator = std::function<void(const MatrixView<const T>& X, const MatrixView<T>& Y)>;

/// A lower bound of ||B||_1, seldom below a third of it and mostly exact: the norm of the largest column of B among
/// those that N. Higham and F. Tisseur's block algorithm (2000, algorithm 2.4) tries. The first of the t columns of its
/// starting block is constant, and the others have signs from a fixed sequence: the same B gives the same bits. n <= 2
/// t: all columns are tried, and the norm is exact. Overflow gives infinity.
///
/// Cost: mostly 2, at most `rounds` products with B and one less with B^H. Blocks.
template <Scalar T>
[[nodiscard]] double estimate_norm1(const ExecutionSpace& space, Index n, int columns, const ThinOperator<T>& apply,
                                    const ThinOperator<T>& apply_adjoint, int rounds = 5);

/// Y = B^k X, k >= 1; `spare`, a block for intermediate results, is enlarged as necessary.
template <Scalar T>
void multiply_repeatedly(const ExecutionSpace& space, const ThinOperator<T>& B, int k, const MatrixView<const T>& X,
                         const MatrixView<T>& Y, MatrixView<T>& spare);

/// Estimates of ||A^k||_1 for matrices in parts, in row bands over all ranks, without computing A^k. Products are in
/// double precision; A is scaled by a power of two, so that its powers don't overflow. Bits: rank-invariant.
template <RealScalar T> class PowerNormEstimate {
 public:
  /// `columns`: t of estimate_norm1(). Collective, as are the other members; blocks.
  PowerNormEstimate(const Communicator& comm, const Parts<T>& A, int columns = 2);

  /// Whether A is finite; otherwise no other member may be called.
  [[nodiscard]] bool finite() const;
  /// ||A^k||_1^(1/k), estimated: k products with t vectors (2 t, for A with both parts) for each product of
  /// estimate_norm1().
  [[nodiscard]] double root(int k);
  /// ||A^k||_1, estimated; infinity or 0 if it is out of range.
  [[nodiscard]] double norm(int k);
  /// Number of products with A or A^H so far.
  [[nodiscard]] int products() const noexcept { return products_; }

 private:
  template <Scalar S> struct Factors {
    std::optional<ThinProducts<T, S>> real, imaginary;
    MatrixView<S> spare, product;
  };
  // Y = A X or A^H X, divided by 2^exponent.
  template <Scalar S>
  void multiply(Factors<S>& factors, bool adjoint, const MatrixView<const S>& X, const MatrixView<S>& Y);
  // The same k times.
  template <Scalar S> [[nodiscard]] ThinOperator<S> power(Factors<S>& factors, bool adjoint, int k);
  // The norm for A / 2^exponent.
  [[nodiscard]] double scaled_norm(int k);

  Communicator comm_;
  int columns_;
  Index n_ = 0;
  double largest_ = 0.0;
  int exponent_ = 0;
  int products_ = 0;
  // A single part, real or imaginary, is treated as real.
  Factors<double> alone_;
  Factors<Kokkos::complex<double>> both_;
};

/// Whether estimates may save more than they cost, if `squarings` are expected: on GPUs they cost about forty waits of
/// the host, a millisecond, more than a small product. One squaring or two too many, which cost no digits, are accepted
/// there; many would cost digits. Emulated products have the same bits everywhere, and so need the same scheme.
[[nodiscard]] inline bool estimates_pay(Index n, int squarings, Arithmetic arithmetic) {
  constexpr Index large = 2048;
  return squarings > 2 || (squarings > 0 && (on_host || n > large || arithmetic != Arithmetic::native));
}

/// Give `norms` the estimates of ||A^(2 p)||_1 and ||A^(3 p)||_1; `power`: A^p, with p = `exponent`. Collective;
/// blocks.
template <RealScalar T>
void learn_estimates(const Communicator& comm, const Parts<T>& power, int exponent, PowerNorms& norms);

}  // namespace heddle::impl

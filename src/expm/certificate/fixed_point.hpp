// Matrices of many digits whose products are exact: for proofs about results of double precision.
#pragma once

#include "expm/arithmetic/parts.hpp"
#include "expm/dense/norms.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/gemm/gemm.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::impl {

/// One real matrix in row bands: 2^exponent sum_k limb_k 2^(-k width), k = 1 ... count, the exponent being that of the
/// FixedPoint that it is part of. Limbs hold integers, those after the first of at most 2^(width - 1) in size.
struct Digits {
  [[nodiscard]] double* data() const { return storage.data(); }

  Kokkos::View<double*, MemorySpace> storage;    ///< Limb after limb, each a column-major local matrix.
  std::vector<DistributedMatrix<double>> limbs;  ///< Views of it.
  std::uint64_t present = 0;                     ///< Bit k - 1: limb k has an element that is not zero, on some rank.
};

/// real + i imaginary; a part left out is exactly zero and costs nothing. All elements are at most 2^(exponent - 1) in
/// size, by parts.
struct FixedPoint {
  std::shared_ptr<const Digits> real;
  std::shared_ptr<const Digits> imaginary;
  int exponent = 0;
};

/// Upper bounds of norms, in units of 2^exponent.
struct FixedPointNorms {
  double one = 0.0;
  double infinity = 0.0;
};

/// n x n matrices of a given number of limbs. A limb is `width` bits wide, so few that a sum of products of limbs, as
/// long as it gets, is an integer below 2^53: native products of doubles are exact then, in whatever order and with or
/// without fused operations they are added up. Carries are exact too. The only errors are of what is left out below
/// the last limb, and each operation says how much that can be. Bits: those of the digits are
/// reproducible, those of norms the same for any number of ranks. Everything here is collective.
class FixedPointArithmetic {
 public:
  static constexpr int most_limbs = 40;
  /// `tile`: of the products; it changes no bit.
  FixedPointArithmetic(const Communicator& comm, Index n, Index tile);

  /// Of numbers made from here on; earlier ones may not be used any more.
  void set_limbs(int limbs);
  [[nodiscard]] int limbs() const noexcept { return limbs_; }
  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] int bits() const noexcept { return limbs_ * width_; }
  [[nodiscard]] static int width_of(Index n, int limbs);

  /// A 2^scale, A in row bands, every element at most 2^(exponent - 1) in size. Off by half a unit an element and part.
  [[nodiscard]] FixedPoint quantised(const Parts<double>& A, int scale, int exponent);
  /// X Y. `exponent`: of the result, which must hold it; absent: the smallest that does. Off by product_error().
  [[nodiscard]] FixedPoint multiply(const FixedPoint& X, const FixedPoint& Y, std::optional<int> exponent = {});
  /// (... ((S / (first + count) + P_(count-1)) / (first + count - 1) + P_(count-2)) ... + P_1) / (first + 1) + I, with
  /// P_k = powers[k - 1]. All of one exponent, which must be at least 2 and hold the result and what it goes through;
  /// width() is above it. Off by half a unit an element, part and quotient, at most.
  [[nodiscard]] FixedPoint horner(const FixedPoint& S, std::span<const FixedPoint> powers, int count, int first);

  /// Unit of the last limb, relative to 2^exponent.
  [[nodiscard]] double unit() const;
  /// Bound of the 1-, 2- and infinity-norm of what multiply() leaves out, relative to 2^exponent of its result, which
  /// is 2^-shift times as large as the product of the factors' units.
  [[nodiscard]] double product_error(int shift) const;
  /// Bound of the same norms of a matrix whose elements are one unit in both parts.
  [[nodiscard]] double unit_norm() const;

  [[nodiscard]] FixedPointNorms norms(const FixedPoint& X);
  /// How far X is from E, in the 1-norm, where X stands for D X D^-1, D = diag(2^balance): upper bound of the
  /// difference, lower bound of the norm of D X D^-1, both in units of 2^top, and top, with which the largest
  /// element of the latter is between 1/2 and 1. Infinite or NaN where the difference is out of range.
  struct Distance {
    double difference = 0.0;
    double norm = 0.0;
    int top = 0;
  };
  [[nodiscard]] Distance distance(const FixedPoint& X, std::span<const int> balance, const Parts<double>& E);

  /// Real products so far, by pairs of limbs.
  [[nodiscard]] Index products() const noexcept { return products_; }

 private:
  struct Term {
    const Digits& left;
    const Digits& right;
    double sign;
  };
  [[nodiscard]] std::shared_ptr<Digits> take();
  [[nodiscard]] std::shared_ptr<Digits> allocate(int limbs) const;
  // The digits of a sum of products, limbs_ + 1 of them, the first of any size, into raw_[part].
  void accumulate(std::span<const Term> terms, std::size_t part);
  // sum_ = sign left right + beta sum_.
  void add_product(double sign, const DistributedMatrix<double>& left, const DistributedMatrix<double>& right,
                   double beta);
  // The limbs that some rank has elements in.
  [[nodiscard]] std::uint64_t on_all_ranks(std::uint64_t present) const;

  Communicator comm_;
  Placement placement_;
  Index n_;
  Index elements_;  // Of this rank.
  int limbs_ = 0;
  int width_ = 0;
  // One of both: one rank needs no plan.
  std::optional<GemmPlan<double>> plan_;
  std::optional<blas::Context> context_;
  ColumnNorms<double> column_norms_;
  DistributedMatrix<double> sum_;
  std::optional<DistributedMatrix<double>> differences_;
  std::shared_ptr<Digits> raw_[2];
  std::shared_ptr<std::vector<std::shared_ptr<Digits>>> free_;
  Index products_ = 0;
};

/// The largest sum over a row of A in row bands, of |Re a| + |Im a|: an upper bound of ||A||_infinity. Blocks. Bits:
/// the same for any number of ranks.
[[nodiscard]] double infinity_norm_bound(const Communicator& comm, const Parts<double>& A);

/// What bounds ||exp(t A)||_2 by exp(t m), t >= 0.
struct LogarithmicNorm {
  double bound = 0.0;      ///< m: upper bound of the largest eigenvalue of (A + A^H) / 2, by Gershgorin's circles.
  bool hermitian = false;  ///< A^H = A, to the bit.
};
/// A in row bands. Collective, blocks; A travels once. Bits: the same for any number of ranks.
[[nodiscard]] LogarithmicNorm logarithmic_norm(const Communicator& comm, const Parts<double>& A);

}  // namespace heddle::impl

// Fixed-point matrices with exact products, for proofs about results of double precision.
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

/// One real matrix in row bands: 2^exponent sum_k limb_k 2^(-k width), k = 1 ... count, with the exponent of its
/// FixedPoint. Limbs hold integers, those after the first of at most 2^(width - 1) in size.
struct Digits {
  [[nodiscard]] double* data() const { return storage.data(); }

  Kokkos::View<double*, MemorySpace> storage;    ///< Limb after limb, each a column-major local matrix.
  std::vector<DistributedMatrix<double>> limbs;  ///< Views of the limbs in `storage`.
  std::uint64_t present = 0;                     ///< Bit k - 1: limb k has a nonzero element on some rank.
};

/// real + i imaginary; an absent part is exactly zero and costs nothing. Each part of an element is at most 2^(exponent
/// - 1) in size.
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

/// n x n matrices of a given number of limbs. A limb is `width` bits wide, so few that a sum of products of limbs, at
/// its greatest length, is an integer below 2^53: native products of doubles are then exact, in any order of summation
/// and with or without fused operations. Carries are exact too. The only errors are the parts left out below the last
/// limb, and each operation states their bound. Bits: those of the digits are reproducible, those of norms the same for
/// any number of ranks. All members are collective.
class FixedPointArithmetic {
 public:
  static constexpr int most_limbs = 40;
  /// `tile`: tile of the products; it changes no bit.
  FixedPointArithmetic(const Communicator& comm, Index n, Index tile);

  /// Set the number of limbs of later matrices; earlier ones must not be used any more.
  void set_limbs(int limbs);
  [[nodiscard]] int limbs() const noexcept { return limbs_; }
  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] int bits() const noexcept { return limbs_ * width_; }
  [[nodiscard]] static int width_of(Index n, int limbs);

  /// Return A 2^scale for A in row bands, with every element at most 2^(exponent - 1) in size. Error: half a unit an
  /// element and part.
  [[nodiscard]] FixedPoint quantised(const Parts<double>& A, int scale, int exponent);
  /// Return X Y. `exponent`: exponent of the result, large enough for it; absent: the smallest possible. Error:
  /// product_error().
  [[nodiscard]] FixedPoint multiply(const FixedPoint& X, const FixedPoint& Y, std::optional<int> exponent = {});
  /// (... ((S / (first + count) + P_(count-1)) / (first + count - 1) + P_(count-2)) ... + P_1) / (first + 1) + I, with
  /// P_k = powers[k - 1]. All have one exponent, which must be at least 2, large enough for all intermediate results,
  /// and below width(). Error: at most half a unit an element, part and quotient.
  [[nodiscard]] FixedPoint horner(const FixedPoint& S, std::span<const FixedPoint> powers, int count, int first);

  /// Unit of the last limb, relative to 2^exponent.
  [[nodiscard]] double unit() const;
  /// Bound of the 1-, 2- and infinity-norm of the error of multiply(), relative to 2^exponent of its result, which is
  /// 2^-shift times as large as the product of the factors' units.
  [[nodiscard]] double product_error(int shift) const;
  /// Bound of the same norms of a matrix whose elements are one unit in both parts.
  [[nodiscard]] double unit_norm() const;

  [[nodiscard]] FixedPointNorms norms(const FixedPoint& X);
  /// Distance of X from E in the 1-norm, where X stands for D X D^-1, D = diag(2^balance): upper bound of the
  /// difference and lower bound of the norm of D X D^-1, both in units of 2^top, and top, which makes the largest
  /// element of D X D^-1 between 1/2 and 1. Infinite or NaN if the difference is out of range.
  struct Distance {
    double difference = 0.0;
    double norm = 0.0;
    int top = 0;
  };
  [[nodiscard]] Distance distance(const FixedPoint& X, std::span<const int> balance, const Parts<double>& E);

  /// Number of real products so far; each pair of limbs counts.
  [[nodiscard]] Index products() const noexcept { return products_; }

 private:
  struct Term {
    const Digits& left;
    const Digits& right;
    double sign;
  };
  [[nodiscard]] std::shared_ptr<Digits> take();
  [[nodiscard]] std::shared_ptr<Digits> allocate(int limbs) const;
  // Compute the limbs_ + 1 digits of a sum of products in raw_[part]; the first may be of any size.
  void accumulate(std::span<const Term> terms, std::size_t part);
  // sum_ = sign left right + beta sum_.
  void add_product(double sign, const DistributedMatrix<double>& left, const DistributedMatrix<double>& right,
                   double beta);
  // Return the limbs that are not zero on any rank.
  [[nodiscard]] std::uint64_t on_all_ranks(std::uint64_t present) const;

  Communicator comm_;
  Placement placement_;
  Index n_;
  Index elements_;  // Number of this rank's elements.
  int limbs_ = 0;
  int width_ = 0;
  // Either a plan or, on one rank, a context alone.
  std::optional<GemmPlan<double>> plan_;
  std::optional<blas::Context> context_;
  ColumnNorms<double> column_norms_;
  DistributedMatrix<double> sum_;
  std::optional<DistributedMatrix<double>> differences_;
  std::shared_ptr<Digits> raw_[2];
  std::shared_ptr<std::vector<std::shared_ptr<Digits>>> free_;
  Index products_ = 0;
};

/// Return the largest sum of |Re a| + |Im a| over a row of A in row bands: an upper bound of ||A||_infinity. Blocks.
/// Bits: the same for any number of ranks.
[[nodiscard]] double infinity_norm_bound(const Communicator& comm, const Parts<double>& A);

/// Bound m in ||exp(t A)||_2 <= exp(t m), t >= 0.
struct LogarithmicNorm {
  double bound = 0.0;      ///< m: upper bound of the largest eigenvalue of (A + A^H) / 2, by Gershgorin's circles.
  bool hermitian = false;  ///< A^H = A, to the bit.
};
/// A in row bands. Collective, blocks; A travels once. Bits: the same for any number of ranks.
[[nodiscard]] LogarithmicNorm logarithmic_norm(const Communicator& comm, const Parts<double>& A);

}  // namespace heddle::impl

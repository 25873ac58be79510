// Proven bounds of the errors of solutions.
#pragma once

#include "solve/grid/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// The largest of some sizes, infinity if one is a NaN.
[[nodiscard]] double largest_of(const std::vector<double>& sizes);
/// Sizes times 2^-power, of which the largest is in [1, 2), so that sums of their products with elements of a matrix
/// are in range; none that is not zero becomes zero.
struct ScaledSizes {
  explicit ScaledSizes(const std::vector<double>& given);
  /// Upper bound of size 2^power.
  [[nodiscard]] double scaled_back(double size) const;
  std::vector<double> sizes;
  Index power = 0;
};
/// Upper bound of a nested sum of `terms` absolute values whose computed value in double precision is `sum`.
[[nodiscard]] double enlarged(double sum, Index terms);

/// Return true if all threads of all ranks have the arithmetic that IEEE 754 has by default: rounding to nearest, and
/// denormal numbers. Collective.
[[nodiscard]] bool has_default_arithmetic(const OptionalRanks& ranks);
/// C = A B of square matrices, natively: each element is off by at most rounding_of_products() |A| |B| and, below the
/// smallest normal number, order times the smallest one. Collective.
template <Scalar T> void multiply(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& C);
/// Upper bound of the relative rounding errors of sums of `order` products in any order, infinite if there is none.
template <Scalar T> [[nodiscard]] double rounding_of_products(Index order);

/// A system S = R M C, M with rows and columns scaled by powers of two, an approximate inverse V of S, and proven
/// bounds of the elements of |I - V S|.
///
/// For G = I - V S and a residual r of an approximate solution z of S z = b: if |G| < 1 in the norm of infinity, S is
/// regular, and the error e of z, which is V r + G e, is in element i at most |V r|_i + |G|_i |V r| / (1 - |G|), |G|_i
/// being the sum over row i (S. Rump, "Verification methods", Acta Numerica 19, 2010, section 10). V S is computed
/// natively, and |G| is enlarged by the error bound of such products, (n + 2) u |V| |S| for real numbers; sums of
/// absolute values are in double precision and enlarged by the bound of their own roundings.
/// Nothing is proven, all bounds being infinite, in threads that do not round to nearest or flush denormal numbers to
/// zero.
template <Scalar T> class ApproximateInverse {
 public:
  /// `S` has each element of R M C rounded once, and may be denormal where that is not; `rows` and `columns` are the
  /// exponents of R and C. All matrices in any placement. Collective. Cost: a product of S's order, and as much memory.
  ApproximateInverse(const PlacedMatrix<T>& S, const PlacedMatrix<T>& V, std::vector<Index> rows,
                     std::vector<Index> columns);

  [[nodiscard]] const PlacedMatrix<T>& system() const { return system_; }
  [[nodiscard]] const PlacedMatrix<T>& inverse() const { return inverse_; }
  [[nodiscard]] const std::vector<Index>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<Index>& columns() const { return columns_; }
  /// Upper bounds of |G|_i and of |G|, infinite if they are not known.
  [[nodiscard]] const std::vector<double>& distances() const { return distances_; }
  [[nodiscard]] double distance() const { return largest_; }
  /// Upper bounds of (|G| given)_i, on every rank. Collective.
  [[nodiscard]] std::vector<double> distances(const std::vector<double>& given) const;
  /// V right, each element rounded once from its exact value, on every rank. Collective.
  [[nodiscard]] std::vector<T> times(const std::vector<T>& right) const;

 private:
  PlacedMatrix<T> system_;
  PlacedMatrix<T> inverse_;
  std::vector<Index> rows_;
  std::vector<Index> columns_;
  PlacedMatrix<T> product_;  // V S - I.
  std::vector<double> distances_;
  double largest_ = 0.0;
  bool has_default_arithmetic_ = true;
};

/// Return a proven bound of the largest |x_j - M^-1 b_j| / |x_j|, in norms of infinity, over the right-hand sides b_j
/// of M: infinite if none could be proven, 0 if all solutions are zero.
///
/// `residuals` holds b - M x, times 2^p for the power p of its column, each element rounded once; powers of two are
/// kept separately, so that no size over- or underflows. X and `residuals` have one placement, in blocks of whole
/// columns. Collective. Bits: no promise. Cost: an exact product for each right-hand side.
template <Scalar T>
[[nodiscard]] double proven_error(const ApproximateInverse<T>& inverse, const PlacedMatrix<T>& X,
                                  const PlacedMatrix<T>& residuals, const std::vector<Index>& powers);

}  // namespace heddle::impl

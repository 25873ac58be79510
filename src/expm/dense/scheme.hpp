// The choice of polynomial and scaling for expm, without any matrices.
#pragma once

#include "expm/dense/few_products.hpp"

#include <array>
#include <vector>

namespace heddle::impl {

/// Polynomial of A / 2^squarings that has exp's first degree + 1 terms, from A, A^2 ... A^powers.
struct Scheme {
  static constexpr int most_powers = 6;
  static constexpr int most_blocks = 6;
  int degree = 1;
  int powers = 1;
  /// Paterson and Stockmeyer: degree = powers * blocks, blocks - 1 products more for Horner's rule in A^powers.
  int blocks = 1;
  /// Another evaluation, with its own products; null: Paterson and Stockmeyer's.
  const FewProducts* few = nullptr;
  int squarings = 0;
};

/// Which evaluations may be chosen.
enum class Evaluations { all, paterson_stockmeyer, few_products };

/// Number of real products of a product, by the kind of its factors.
struct ProductCosts {
  int power = 1;   ///< A^i by A^j.
  int horner = 1;  ///< A general polynomial by a power.
  int square = 1;  ///< A general matrix by itself.
};

/// Upper bounds of ||A^k|| for every k, from those of the first few powers: ||A^(i+j)|| <= ||A^i|| ||A^j||.
class PowerNorms {
 public:
  /// `norm`: an upper bound of ||A||, finite. Norms of powers A^k below least^k count as that, unless they are zero.
  explicit PowerNorms(double norm, double least = 0.0);
  /// Add an upper bound of the norm of the next computed power, in place of any estimate. An infinite or NaN bound has
  /// no effect.
  void add(double norm);
  /// Give the norm of any power, without counting it as computed.
  void learn(int power, double norm);
  /// Turn to norms of powers of A 2^exponent.
  void scale(int exponent);
  /// A bound of log2 ||A^k||, k >= 1 within twice the highest degree.
  [[nodiscard]] double log_bound(int k) const { return logs_[static_cast<std::size_t>(k)]; }
  /// Number of powers whose norms were added.
  [[nodiscard]] int known() const noexcept { return known_; }
  /// The lowest power whose norm is 0, as given or estimated; 0 if there is none.
  [[nodiscard]] int vanishing() const;
  [[nodiscard]] double norm() const noexcept { return norm_; }
  /// alpha <= ||A|| such that ||A^k|| <= alpha^k for each k > degree.
  ///
  /// A. Al-Mohy and N. Higham (2009), theorem 4.2, use max(||A^p||^(1/p), ||A^(p+1)||^(1/(p+1))), since every k >= p (p
  /// - 1) is a sum of such powers; here alpha is the largest bound^(1/k) itself, with the best product for each k,
  /// which is at most that. k = degree + 1 ... 2 degree + 1 suffice: any larger k is a sum of these.
  [[nodiscard]] double alpha(int degree) const;
  /// For each degree from 0 on, up to the highest of any scheme, a beta >= alpha(degree) such that the sum over j < k
  /// of ||A^j|| ||A^(k-1-j)|| is at most k beta^(k-1) for each k > degree: the derivative of X^k at A in the direction
  /// E is at most k beta^(k-1) ||E||. None is above the norm.
  [[nodiscard]] std::vector<double> betas() const;

 private:
  void derive();
  // The base-2 logarithm with which a power's norm counts.
  [[nodiscard]] double counted(int power, double norm) const;

  static constexpr int most_degree = Scheme::most_powers * Scheme::most_blocks;
  static constexpr int count = 2 * most_degree + 1;
  double norm_;
  double least_;
  int known_ = 1;
  bool norm_alone_ = true;
  std::array<double, count + 1> given_{};  // log2 of the given bounds, by k
  std::array<double, count + 1> logs_{};   // the same, with the bounds that follow for other k
};

/// Upper bound of the relative backward error of the Taylor polynomial of a degree: T_m(X) = exp(X + E), ||E|| <= bound
/// ||X|| if ||X^k|| <= theta^k for each k > m, theta <= ||X|| or ||X|| <= theta; infinity if the bound's series does
/// not hold.
///
/// exp(-x) T_m(x) = 1 - int_0^x exp(-t) t^m / m! dt, so E = log(I - G(X)) is a series in X^(m+1), X^(m+2) ... with
/// ||G(X)|| <= g = int_0^theta exp(t) t^m / m! dt, and ||E|| <= -log(1 - g).
[[nodiscard]] double backward_error(int degree, double theta);
/// The same for a polynomial with terms beyond its degree that are not exp's: G is then minus the product of exp(-X)
/// and (exp - polynomial), and g the sum of its coefficients' sizes times powers of theta.
[[nodiscard]] double backward_error(const FewProducts& polynomial, double theta);
/// The largest theta <= most for which that bound is within the tolerance, for a degree or a FewProducts; by bisection.
template <class Polynomial>
[[nodiscard]] double largest_theta(const Polynomial& polynomial, double tolerance, double most) {
  double least = 0.0;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (least + most);
    (backward_error(polynomial, middle) <= tolerance ? least : most) = middle;
  }
  return least;
}
/// The bound for a scheme and powers of A bounded by `norms`.
[[nodiscard]] double backward_error(const Scheme& scheme, const PowerNorms& norms);

/// Upper bound of the relative backward error of a polynomial's derivative. With P(X) = exp(X + H(X)), the derivative
/// of P at X in the direction E is that of exp at X + H(X) in the direction E + L_H(X, E), and ||L_H(X, E)|| <= bound
/// ||E|| if theta is one of betas() of X. At least the bound of backward_error(), and infinite for the same theta.
///
/// A. Al-Mohy, N. Higham (2009), theorem 3.1 and (3.17), for Pade approximants; here H = log(I - G), so that the sum of
/// k |h_k| theta^(k-1) is at most g'(theta) / (1 - g(theta)).
[[nodiscard]] double derivative_error(const Scheme& scheme, double theta);

/// The results of a scheme: the exponential, or also a derivative.
enum class Wanted { exponential, derivative };

/// Cheapest scheme whose backward error is at most `tolerance`, where computed powers cost nothing; on a tie the one
/// with fewest squarings, then Paterson and Stockmeyer's of highest degree. `halved`: number of earlier halvings of A;
/// a scheme may undo them, and then has a negative number of squarings, at least -halved.
///
/// If A^k = 0, the scheme is the series itself, if that takes no more than most_powers (2 k - 1 for a derivative): no
/// sum of powers is multiplied, in which a large one would round away a smaller one. The series includes A^k itself
/// until that was computed and found to be zero. Squarings of X = exp(A / 2^s) lose log2 ||A / 2^s|| bits if ||X^2|| is
/// far below ||X||^2, and so do products of other sums that contain A itself. If these may be more than a quarter of
/// the bits of the unit round-off `unit`, and more than `tolerance` can spare, the scheme of Paterson and Stockmeyer
/// with the fewest squarings takes the place of the cheapest one, as far as `evaluations` allow.
///
/// After another power was computed, a dearer scheme is chosen only to avoid such losses, if the previous scheme wanted
/// that power.
[[nodiscard]] Scheme choose_scheme(const PowerNorms& norms, double tolerance, const ProductCosts& costs,
                                   Evaluations evaluations = Evaluations::all, Wanted wanted = Wanted::exponential,
                                   int halved = 0, double unit = 0x1p-53);

/// A number of squarings at or below the least that brings theta = alpha / 2^s into the range of any bound here, which
/// ends far below 2^6; searches go upward from it.
[[nodiscard]] int fewest_squarings(double alpha, int halved);

/// s such that the powers of A / 2^s, and products of two of them, are in the range of numbers below 2^max_exponent.
[[nodiscard]] int scaling_before_powers(double norm, int max_exponent);

/// Whether the powers of A 2^halved that any scheme may use, and A's products with them, are in the range of numbers
/// below 2^max_exponent; `norms`: of powers of A.
[[nodiscard]] bool powers_fit(const PowerNorms& norms, int halved, int max_exponent);

/// Number of real products of a scheme, with those of computed powers that it does not use.
[[nodiscard]] int products_of(const Scheme& scheme, const ProductCosts& costs, int made = 1);

}  // namespace heddle::impl

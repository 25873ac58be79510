// The choice of the scheme for skew-Hermitian matrices, without any matrices.
#pragma once

#include "expm/dense/scheme.hpp"

#include <vector>

namespace heddle::impl {

/// exp(A) = C(A^2) + A S(A^2) for skew-Hermitian A: with A = -i H, C = cos H and A S = -i sin H. Chebyshev polynomials
/// in Z = -2 (A / theta)^2 - I, ||A|| <= theta, evaluated by Paterson and Stockmeyer's method: degree = powers *
/// blocks, from Z = T_1(Z), T_2(Z) ... T_powers(Z) by `powers` products, A^2 the first, and blocks - 1 for each of C
/// and S; one more for A S. All products are of commuting matrices, so they are Hermitian or skew-Hermitian. Then
/// `quintuplings` steps multiply the angle by five and `squarings` by two.
struct TrigonometricScheme {
  static constexpr int most_powers = 6;
  static constexpr int most_blocks = 5;
  /// Errors near an angle of 0 grow by 13, not 5, in each: only a few, and doublings for the rest.
  static constexpr int most_quintuplings = 2;
  int powers = 0;
  int blocks = 1;
  int squarings = 0;
  int quintuplings = 0;
  double theta = 0.0;  ///< Bound of ||A / angles()||.

  /// 2^squarings 5^quintuplings.
  [[nodiscard]] double angles() const noexcept;

  [[nodiscard]] int degree() const noexcept { return powers * blocks; }
};

/// Number of real products of each operation.
struct TrigonometricCosts {
  int product = 1;
  int square = 2;     ///< exp(A/2) to exp(A).
  int quintuple = 4;  ///< exp(A/5) to exp(A); 0: never.
};
[[nodiscard]] int products_of(const TrigonometricScheme& scheme, const TrigonometricCosts& costs);

/// Coefficients of T_0(z) ... T_degree(z), z = 2 t^2 - 1, in cos(theta t) and in sin(theta t) / t.
struct TrigonometricSeries {
  std::vector<double> cosine;
  std::vector<double> sine;
};
[[nodiscard]] TrigonometricSeries trigonometric_series(int degree, double theta);

/// Bound of the relative backward error of the truncated series for |t| <= 1: cos is off by at most error * max(1,
/// theta), sin by error * theta.
///
/// exp(-i theta t) = J_0 + 2 sum_k (-i)^k J_k(theta) T_k(t): the truncation error is at most twice the sum of the |J_k|
/// left out. For a normal matrix the forward error is the backward error.
[[nodiscard]] double trigonometric_error(int degree, double theta);

/// The cheapest scheme for ||A|| <= norm; on a tie the one with the smallest angles(), then with fewest powers.
[[nodiscard]] TrigonometricScheme choose_trigonometric(double norm, double tolerance, const TrigonometricCosts& costs);

/// Coefficients of the blocks of Horner's rule in T_powers: sum_k series[k] T_k = (... (B_last T_p + B_(last - 1)) T_p
/// ...) + B_0, B_j = sum_k blocks[j][k] T_k of degree < powers, the last one's = powers.
[[nodiscard]] std::vector<std::vector<double>> horner_blocks(std::vector<double> series, int powers);

}  // namespace heddle::impl

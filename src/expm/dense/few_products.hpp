// Polynomials that agree with exp to as high a degree as their few products allow.
#pragma once

#include <array>
#include <span>

namespace heddle::impl {

/// With s = powers, and sums over k of coefficients [k] times A^k:
///   y0 = (sum_1^s first A^k) A^s,
///   y1 = (y0 + sum_1^s left A^k) (y0 + sum_1^s right A^k) + of_y0 y0 + sum_0^s rest A^k,
/// and, if there is a last step, with its own coefficients,
///   y2 = (y1 + sum_1^s left A^k) (y1 + of_y0_right y0 + sum_1^s right A^k) + of_y1 y1 + of_y0 y0 + sum_0^s rest A^k.
///
/// y1, or y2, is a polynomial of higher degree than its number of free coefficients; it equals exp's series in its
/// terms up to `degree`, and has ratios[k] / (degree + 1 + k)! for those beyond.
///
/// Form: J. Sastre, J. Ibanez, E. Defez, "Boosting the computation of the matrix exponential", Appl. Math. Comput. 340
/// (2019); degree 8: P. Bader, S. Blanes, F. Casas, Mathematics 7, 1174 (2019). The coefficients are solutions, to 36
/// digits, of p_k k! = 1, k = 0 ... degree: by Levenberg and Marquardt's method from random starts, then Newton's in 60
/// digits.
struct FewProducts {
  struct Step {
    std::array<double, 4> left{};
    std::array<double, 4> right{};
    std::array<double, 4> rest{};
    double of_y0_right = 0.0;
    double of_y1 = 0.0;
    double of_y0 = 0.0;
  };
  int degree;
  int powers;
  int products;  ///< Number of products beyond those of the powers.
  std::array<double, 4> first;
  Step middle;
  Step last;  ///< Last step, if products == 3.
  int beyond;
  std::array<double, 3> ratios;
};

/// By rising degree: 8, 15 and 21, with 3, 4 and 5 products in all. At the unit round-off of double they reach theta =
/// 0.0499, 0.676 and 1.758 (backward_error()).
[[nodiscard]] std::span<const FewProducts> few_products();

}  // namespace heddle::impl

// The polynomials of expm_batched() in the form of its kernels.
#pragma once

#include "expm/dense/few_products.hpp"
#include "expm/dense/scheme.hpp"
#include <heddle/core/scalar.hpp>

namespace heddle::impl {

// FewProducts, for kernels.
template <RealScalar R> struct Evaluation {
  struct Step {
    R left[4], right[4], rest[4];
    R of_y0_right, of_y1, of_y0;
  };
  int powers = 0;
  int products = 0;
  R first[4] = {};
  Step middle{}, last{};
};

// Polynomials by number of products: degrees 1, 2, 4, and those of FewProducts.
inline constexpr int plain_polynomials = 3;
inline constexpr int polynomials = 6;

template <RealScalar R> struct Choices {
  int degree[polynomials];
  R theta[polynomials];  // Largest ||X|| for each polynomial.
  Evaluation<R> evaluation[polynomials - plain_polynomials];
};

template <RealScalar R> [[nodiscard]] typename Evaluation<R>::Step step_of(const FewProducts::Step& step) {
  typename Evaluation<R>::Step result{};
  for (std::size_t k = 0; k < 4; ++k) {
    result.left[k] = static_cast<R>(step.left[k]);
    result.right[k] = static_cast<R>(step.right[k]);
    result.rest[k] = static_cast<R>(step.rest[k]);
  }
  result.of_y0_right = static_cast<R>(step.of_y0_right);
  result.of_y1 = static_cast<R>(step.of_y1);
  result.of_y0 = static_cast<R>(step.of_y0);
  return result;
}

// Above the theta of any of them.
inline constexpr double most_theta = 8.0;

template <RealScalar R> [[nodiscard]] Choices<R> choices_for(double tolerance) {
  Choices<R> choices{};
  constexpr int plain[plain_polynomials] = {1, 2, 4};
  for (int p = 0; p < plain_polynomials; ++p) {
    choices.degree[p] = plain[p];
    choices.theta[p] = static_cast<R>(largest_theta(plain[p], tolerance, most_theta));
  }
  int p = plain_polynomials;
  for (const FewProducts& polynomial : few_products()) {
    choices.degree[p] = polynomial.degree;
    choices.theta[p] = static_cast<R>(largest_theta(polynomial, tolerance, most_theta));
    Evaluation<R>& evaluation = choices.evaluation[p - plain_polynomials];
    evaluation.powers = polynomial.powers;
    evaluation.products = polynomial.products;
    for (std::size_t k = 0; k < 4; ++k) evaluation.first[k] = static_cast<R>(polynomial.first[k]);
    evaluation.middle = step_of<R>(polynomial.middle);
    evaluation.last = step_of<R>(polynomial.last);
    ++p;
  }
  return choices;
}

}  // namespace heddle::impl

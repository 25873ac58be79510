// Evaluation of polynomials of matrices: Paterson and Stockmeyer's, few products, and Chebyshev polynomials.
#include "expm/dense/polynomials.hpp"

#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

namespace heddle::impl {
namespace {

// 1 / k!.
std::vector<double> taylor_coefficients(int degree) {
  std::vector<double> coefficients = {1.0};
  for (int k = 1; k <= degree; ++k) coefficients.push_back(coefficients.back() / k);
  return coefficients;
}

// A real polynomial of a Hermitian matrix is Hermitian; that of a skew-Hermitian one has no symmetry.
Symmetry of_polynomial(Symmetry symmetry) {
  return symmetry == Symmetry::hermitian ? symmetry : Symmetry::none;
}

template <class Arithmetic>
typename Arithmetic::Written paterson_stockmeyer(Arithmetic& arithmetic, const Scheme& scheme,
                                                 std::span<const double> coefficients,
                                                 std::span<const typename Arithmetic::Matrix> powers,
                                                 Symmetry symmetry) {
  using T = typename Arithmetic::Element;
  const auto width = static_cast<std::size_t>(scheme.powers);
  const auto blocks = static_cast<std::size_t>(scheme.blocks);
  const auto scaling = [&](std::size_t power) { return std::ldexp(1.0, -scheme.squarings * static_cast<int>(power)); };
  const auto block_of = [&](std::size_t block, std::size_t terms) {
    std::vector<T> scaled;
    for (std::size_t k = 1; k <= terms; ++k) {
      scaled.push_back(static_cast<T>(coefficients[block * width + k] * scaling(k)));
    }
    return arithmetic.combine(coefficients[block * width], scaled, powers.first(terms));
  };
  typename Arithmetic::Factor factor;
  if (blocks > 1) {
    factor = arithmetic.right_factor(powers[width - 1], {}, symmetry);
  }
  // The highest block has one term more: the leading coefficient.
  typename Arithmetic::Written result = block_of(blocks - 1, width);
  for (std::size_t block = blocks - 1; block-- > 0;) {
    result = arithmetic.multiply_add(static_cast<T>(scaling(width)), result.read(), factor, block_of(block, width - 1),
                                     symmetry);
  }
  return result;
}

template <class Arithmetic>
typename Arithmetic::Written by_few_products(Arithmetic& arithmetic, const FewProducts& polynomial, int squarings,
                                             std::span<const typename Arithmetic::Matrix> powers, Symmetry symmetry) {
  using T = typename Arithmetic::Element;
  using Matrix = typename Arithmetic::Matrix;
  using Written = typename Arithmetic::Written;
  const auto width = static_cast<std::size_t>(polynomial.powers);
  // sum_1^width coefficients[k] (A / 2^squarings)^k + coefficients[0] I + sum of more terms.
  const auto sum = [&](const std::array<double, 4>& coefficients,
                       std::initializer_list<std::pair<double, Matrix>> more) {
    std::vector<T> weights;
    std::vector<Matrix> terms;
    for (std::size_t k = 1; k <= width; ++k) {
      if (coefficients[k] != 0.0) {
        weights.push_back(static_cast<T>(std::ldexp(coefficients[k], -squarings * static_cast<int>(k))));
        terms.push_back(powers[k - 1]);
      }
    }
    for (const auto& [weight, term] : more) {
      if (weight != 0.0) {
        weights.push_back(static_cast<T>(weight));
        terms.push_back(term);
      }
    }
    return arithmetic.combine(coefficients[0], weights, terms);
  };
  const auto product = [&](const Matrix& left, const Matrix& right, Written rest) {
    return arithmetic.multiply_add(T{1}, left, arithmetic.right_factor(right, {}, symmetry), std::move(rest), symmetry);
  };
  const Matrix y0 =
      arithmetic.multiply(static_cast<T>(std::ldexp(1.0, -squarings * polynomial.powers)), sum(polynomial.first, {}),
                          arithmetic.right_factor(powers[width - 1], {}, symmetry), symmetry);
  const FewProducts::Step& middle = polynomial.middle;
  Written second =
      product(sum(middle.left, {{1.0, y0}}), sum(middle.right, {{1.0, y0}}), sum(middle.rest, {{middle.of_y0, y0}}));
  if (polynomial.products == 2) {
    return second;
  }
  const Matrix y1 = std::move(second);
  const FewProducts::Step& last = polynomial.last;
  return product(sum(last.left, {{1.0, y1}}), sum(last.right, {{1.0, y1}, {last.of_y0_right, y0}}),
                 sum(last.rest, {{last.of_y1, y1}, {last.of_y0, y0}}));
}

}  // namespace

namespace {
template <RealScalar T> bool is_empty(const Parts<T>& X) {
  return !X.real && !X.imaginary;
}
template <RealScalar T> bool is_empty(const Dual<T>& X) {
  return is_empty(X.value) && is_empty(X.derivative);
}
}  // namespace

template <class Arithmetic>
PowersIn<Arithmetic>::PowersIn(Arithmetic& arithmetic, const Matrix& A, const Matrix& columns, Symmetry symmetry)
    : arithmetic_(&arithmetic), columns_(columns), symmetry_(symmetry), powers_{A} {}

template <class Arithmetic> auto PowersIn<Arithmetic>::next() -> const Matrix& {
  using T = typename Arithmetic::Element;
  if (!has_factor_) {
    factor_ = arithmetic_->right_factor(powers_.front(), columns_, symmetry_);
    has_factor_ = true;
  }
  const Symmetry last = powers_.size() % 2 == 1 ? symmetry_ : product_of(symmetry_, symmetry_);
  powers_.push_back(arithmetic_->multiply(T{1}, powers_.back(), factor_, product_of(last, symmetry_)));
  return powers_.back();
}

template <class Arithmetic> void PowersIn<Arithmetic>::finish(int count) {
  while (this->count() < count) next();
  factor_ = {};
  has_factor_ = false;
}

template <class Arithmetic> void PowersIn<Arithmetic>::times_powers_of_two(int exponent, const Matrix& first) {
  factor_ = {};
  has_factor_ = false;
  columns_ = {};
  for (std::size_t k = 0; k < powers_.size(); ++k) {
    Matrix& power = powers_[k];
    power = k == 0 && !is_empty(first)
                ? first
                : arithmetic_->times_power_of_two(std::move(power), static_cast<int>(k + 1) * exponent);
  }
}

template <class Arithmetic>
typename Arithmetic::Written polynomial(Arithmetic& arithmetic, const Scheme& scheme,
                                        const PowersIn<Arithmetic>& powers) {
  const Symmetry symmetry = of_polynomial(powers.symmetry());
  return scheme.few != nullptr ? by_few_products(arithmetic, *scheme.few, scheme.squarings, powers.all(), symmetry)
                               : series(arithmetic, scheme, taylor_coefficients(scheme.degree), powers);
}

template <class Arithmetic>
typename Arithmetic::Written series(Arithmetic& arithmetic, const Scheme& scheme, std::span<const double> coefficients,
                                    const PowersIn<Arithmetic>& powers) {
  return paterson_stockmeyer(arithmetic, scheme, coefficients, powers.all(), of_polynomial(powers.symmetry()));
}

template <RealScalar T>
Trigonometric<T> trigonometric(ComplexArithmetic<T>& arithmetic, const TrigonometricScheme& scheme, const Parts<T>& A,
                               const Parts<T>& square, const Parts<T>& fourth) {
  const TrigonometricSeries series = trigonometric_series(scheme.degree(), scheme.theta);
  // Z = z A^2 - I.
  const double reached = scheme.theta * scheme.angles();
  const double z = -2.0 / reached / reached;
  const auto combined = [&](double identity, std::initializer_list<std::pair<double, Parts<T>>> terms) {
    std::vector<T> weights;
    std::vector<Parts<T>> matrices;
    for (const auto& [weight, term] : terms) {
      weights.push_back(static_cast<T>(weight));
      matrices.push_back(term);
    }
    return arithmetic.combine(identity, weights, matrices);
  };
  // T_1 ... T_powers, T_(i+j) = 2 T_i T_j - T_|i-j|.
  std::vector<Parts<T>> chebyshev = {combined(-1.0, {{z, square}})};
  for (int k = 2; k <= scheme.powers; ++k) {
    if (k == 2 && fourth.real) {
      chebyshev.push_back(combined(1.0, {{2.0 * z * z, fourth}, {-4.0 * z, square}}));
      continue;
    }
    const auto low = static_cast<std::size_t>(k / 2);
    const auto high = static_cast<std::size_t>(k - k / 2);
    WorkParts<T> rest = low == high ? combined(-1.0, {}) : combined(0.0, {{-1.0, chebyshev.front()}});
    chebyshev.push_back(arithmetic.multiply_add(T{2}, chebyshev[high - 1],
                                                arithmetic.right_factor(chebyshev[low - 1], {}, Symmetry::hermitian),
                                                std::move(rest), Symmetry::hermitian));
  }
  const RightFactor<T> factor =
      scheme.blocks > 1 ? arithmetic.right_factor(chebyshev.back(), {}, Symmetry::hermitian) : RightFactor<T>{};
  const auto evaluate = [&](const std::vector<double>& coefficients) {
    const auto blocks = horner_blocks(coefficients, scheme.powers);
    const auto block_of = [&](std::size_t block) {
      const std::vector<T> weights(blocks[block].begin() + 1, blocks[block].end());
      return arithmetic.combine(blocks[block].front(), weights,
                                std::span<const Parts<T>>(chebyshev).first(weights.size()));
    };
    WorkParts<T> result = block_of(blocks.size() - 1);
    for (std::size_t block = blocks.size() - 1; block-- > 0;) {
      result = arithmetic.multiply_add(T{1}, result.read(), factor, block_of(block), Symmetry::hermitian);
    }
    return result;
  };
  Trigonometric<T> E;
  E.cosine = evaluate(series.cosine);
  // The coefficients of sin(theta t) / t multiply A / (angles theta).
  E.sine = arithmetic.multiply(static_cast<T>(1.0 / reached), A,
                               arithmetic.right_factor(evaluate(series.sine), {}, Symmetry::hermitian),
                               Symmetry::skew_hermitian);
  return E;
}

namespace {

template <RealScalar T>
WorkParts<T> hermitian_product(ComplexArithmetic<T>& arithmetic, T alpha, const std::type_identity_t<Parts<T>>& X,
                               const std::type_identity_t<Parts<T>>& Y) {
  return arithmetic.multiply(alpha, X, arithmetic.right_factor(Y, {}, Symmetry::hermitian), Symmetry::hermitian);
}

// (cos H - sin H)(cos H + sin H), which is accurate for cos H near 1; E's sine may have either sign.
template <RealScalar T> WorkParts<T> cosine_of_twice(ComplexArithmetic<T>& arithmetic, const Trigonometric<T>& E) {
  const std::array<Parts<T>, 2> both = {E.cosine.read(), Parts<T>{E.sine.imaginary.read(), {}}};
  const Parts<T> sum = arithmetic.combine(0.0, std::array<T, 2>{1, 1}, both);
  const Parts<T> difference = arithmetic.combine(0.0, std::array<T, 2>{1, -1}, both);
  return hermitian_product(arithmetic, T{1}, sum, difference);
}

}  // namespace

template <RealScalar T> Trigonometric<T> squared(ComplexArithmetic<T>& arithmetic, const Trigonometric<T>& E) {
  Trigonometric<T> result;
  result.cosine = cosine_of_twice(arithmetic, E);
  result.sine.imaginary = hermitian_product(arithmetic, T{2}, E.cosine.read(), {E.sine.imaginary.read(), {}}).real;
  return result;
}

template <RealScalar T> Trigonometric<T> quintupled(ComplexArithmetic<T>& arithmetic, const Trigonometric<T>& E) {
  const Parts<T> twice = cosine_of_twice(arithmetic, E);
  // cos 4H = 2 twice^2 - I.
  const std::array<Parts<T>, 2> terms = {hermitian_product(arithmetic, T{1}, twice, twice), twice};
  Trigonometric<T> result;
  result.cosine =
      hermitian_product(arithmetic, T{1}, E.cosine.read(), arithmetic.combine(-1.0, std::array<T, 2>{4, -2}, terms));
  result.sine.imaginary = hermitian_product(arithmetic, T{1}, {E.sine.imaginary.read(), {}},
                                            arithmetic.combine(-1.0, std::array<T, 2>{4, 2}, terms))
                              .real;
  return result;
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template class PowersIn<ComplexArithmetic<T>>;                                                                 \
  template class PowersIn<DualArithmetic<T>>;                                                                    \
  template WorkParts<T> polynomial(ComplexArithmetic<T>&, const Scheme&, const Powers<T>&);                      \
  template WorkDual<T> polynomial(DualArithmetic<T>&, const Scheme&, const PowersIn<DualArithmetic<T>>&);        \
  template WorkParts<T> series(ComplexArithmetic<T>&, const Scheme&, std::span<const double>, const Powers<T>&); \
  template Trigonometric<T> trigonometric(ComplexArithmetic<T>&, const TrigonometricScheme&, const Parts<T>&,    \
                                          const Parts<T>&, const Parts<T>&);                                     \
  template Trigonometric<T> squared(ComplexArithmetic<T>&, const Trigonometric<T>&);                             \
  template Trigonometric<T> quintupled(ComplexArithmetic<T>&, const Trigonometric<T>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

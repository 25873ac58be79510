// The methods of Exponential: each chooses degree and squarings while it computes the powers that it needs, and
// finishes.
#include "core/complex_exponential.hpp"
#include "expm/dense/exponential.hpp"
#include "expm/dense/norm_estimate.hpp"
#include "expm/thin/spectral_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace heddle::impl {

template <RealScalar T>
WorkParts<T> Exponential<T>::by_polynomial(const Parts<T>& A, const Parts<T>& columns, double norm,
                                           ExpmReport& report) {
  const ProductCosts costs = costs_of(A);
  const Evaluations evaluations = options_.method == ExpmMethod::paterson_stockmeyer ? Evaluations::paterson_stockmeyer
                                  : options_.method == ExpmMethod::few_products      ? Evaluations::few_products
                                                                                     : Evaluations::all;
  Scheme& scheme = recipe_.scheme;
  recipe_.before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  PowerNorms power_norms(std::ldexp(norm, -recipe_.before), std::ldexp(least_root(), -recipe_.before));
  int made = 1;
  int halved = recipe_.before;  // Halvings of A in its powers, and in their norms.
  const auto choose = [&] {
    scheme = choose_scheme(power_norms, tolerance(), costs, evaluations, Wanted::exponential, halved,
                           static_cast<double>(unit_roundoff<T>));
    expected_products_ = products_of(scheme, costs, made) + halved * costs.square;
  };
  choose();
  const Arithmetic arithmetic = options_.gemm.arithmetic;
  Powers<T> powers(*arithmetic_, arithmetic_->times_power_of_two(A, -recipe_.before),
                   recipe_.before == 0 ? columns : Parts<T>{}, structure_.symmetry);
  // The current scheme uses each power that is computed, and so does each one that is chosen later, or costs no more.
  while (powers.count() < scheme.powers) {
    const Parts<T>& power = powers.next();
    made = powers.count();
    // An estimate of zero must be verified.
    const bool nothing_to_save = made == scheme.powers && scheme.blocks == 1 && scheme.few == nullptr &&
                                 scheme.squarings == -halved && power_norms.vanishing() != made;
    if (!nothing_to_save) {
      power_norms.add(norms_.bound_of(power));
      choose();
    }
    if (made >= scheme.powers && estimates_pay(arithmetic_->placement().rows(), recipe_.squarings(), arithmetic)) {
      learn_estimates(comm_, powers.all().back(), powers.count(), power_norms);
      choose();
    }
    // Undo halvings at once if further powers stay in range: those of small parts of A might underflow otherwise.
    if (halved > 0 && scheme.squarings == -halved &&
        powers_fit(power_norms, halved, std::numeric_limits<T>::max_exponent)) {
      undo_halvings(powers, A);
      power_norms.scale(halved);
      halved = 0;
    }
  }
  recipe_.method = scheme.few != nullptr ? ExpmMethod::few_products : ExpmMethod::paterson_stockmeyer;
  report.degree = scheme.degree;
  report.alpha = std::ldexp(power_norms.alpha(scheme.degree), halved);
  report.backward_error = backward_error(scheme, power_norms);
  undo_halvings(powers, A);
  return finish(powers, A);
}

template <RealScalar T> void Exponential<T>::undo_halvings(Powers<T>& powers, const Parts<T>& A) {
  int& squarings = recipe_.scheme.squarings;
  if (squarings >= 0) {
    return;
  }
  recipe_.undone = -squarings;
  recipe_.undone_after = powers.count();
  squarings = 0;
  powers.times_powers_of_two(recipe_.undone, recipe_.undone == recipe_.before ? A : Parts<T>{});
}

template <RealScalar T>
WorkParts<T> Exponential<T>::by_pade(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report) {
  const ProductCosts costs = costs_of(A);
  recipe_.method = ExpmMethod::pade;
  recipe_.before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  PowerNorms power_norms(std::ldexp(norm, -recipe_.before), std::ldexp(least_root(), -recipe_.before));
  double error = 0.0;
  const auto choose = [&] {
    double least = std::numeric_limits<double>::infinity();
    for (const int degree : pade_degrees) {
      const double alpha = power_norms.alpha(2 * degree);
      int squarings = fewest_squarings(alpha, recipe_.before);
      const auto error_of = [&] { return pade_backward_error(degree, std::ldexp(alpha, -squarings)); };
      while (!(error_of() <= tolerance())) ++squarings;
      // The linear system is the same at any degree.
      if (const double products = pade_products(degree, 1) + squarings; products < least) {
        least = products;
        error = error_of();
        recipe_.pade_degree = degree;
        recipe_.scheme.squarings = squarings;
      }
    }
    expected_products_ = (pade_products(recipe_.pade_degree, 1) + recipe_.squarings()) * costs.square;
  };
  choose();
  Powers<T> powers(*arithmetic_, arithmetic_->times_power_of_two(A, -recipe_.before),
                   recipe_.before == 0 ? columns : Parts<T>{}, structure_.symmetry);
  power_norms.add(norms_.bound_of(powers.next()));
  choose();
  if (estimates_pay(arithmetic_->placement().rows(), recipe_.squarings(), options_.gemm.arithmetic)) {
    learn_estimates(comm_, powers.all().back(), powers.count(), power_norms);
    choose();
  }
  if (const int zero = power_norms.vanishing(); zero > 0 && zero <= Scheme::most_powers) {
    // The series is finite: no linear system.
    recipe_.scheme = {};
    return by_polynomial(A, columns, norm, report);
  }
  report.degree = recipe_.pade_degree;
  report.alpha = std::ldexp(power_norms.alpha(2 * recipe_.pade_degree), recipe_.before);
  report.backward_error = error;
  undo_halvings(powers, A);
  return finish(powers, A);
}

template <RealScalar T> WorkParts<T> Exponential<T>::finish(Powers<T>& powers, const Parts<T>& A) {
  if (recipe_.method == ExpmMethod::pade) {
    powers.finish(2);
    return squared_up(pade(*arithmetic_, solver_, powers.all(), recipe_.pade_degree, recipe_.scheme.squarings), A);
  }
  powers.finish(recipe_.scheme.powers);
  return squared_up(polynomial(*arithmetic_, recipe_.scheme, powers), A);
}

template <RealScalar T> WorkParts<T> Exponential<T>::squared_up(WorkParts<T> result, const Parts<T>& A) {
  // Solving a linear system does not keep the symmetry of its matrix.
  const bool hermitian = structure_.symmetry == Symmetry::hermitian && recipe_.method != ExpmMethod::pade;
  const Symmetry symmetry = hermitian ? Symmetry::hermitian : Symmetry::none;
  int left = recipe_.squarings();
  result = times_exponential(recipe_.shift * std::ldexp(1.0, -left), std::move(result));
  std::optional<TriangularDiagonals> diagonals;
  if (structure_.triangular()) {
    // Diagonals of A before its mean was subtracted, which rounds.
    diagonals.emplace(comm_, unshifted_.real || unshifted_.imaginary ? unshifted_ : A, structure_,
                      unshifted_.real || unshifted_.imaginary ? std::complex<double>() : recipe_.shift);
    diagonals->correct(comm_, left, result);
  }
  while (left-- > 0) {
    const int headroom = headroom_ && left == 0 ? (std::is_same_v<T, float> ? 8 : 16) : 0;
    result = arithmetic_->scaled(std::ldexp(1.0, -headroom), std::move(result));
    result =
        arithmetic_->multiply(T{1}, result.read(), arithmetic_->right_factor(result.read(), {}, symmetry), symmetry);
    result = arithmetic_->scaled(std::ldexp(1.0, 2 * headroom), std::move(result));
    if (diagonals) diagonals->correct(comm_, left, result);
  }
  return result;
}

template <RealScalar T> WorkParts<T> Exponential<T>::times_exponential(std::complex<double> exponent, WorkParts<T> X) {
  if (exponent == 0.0) {
    return X;
  }
  if (!headroom_) {
    return arithmetic_->scaled(exponential(exponent), std::move(X));
  }
  // exp(exponent) may be out of range although its product with X is not.
  X = arithmetic_->scaled(exponential(0.5 * exponent), std::move(X));
  return arithmetic_->scaled(exponential(0.5 * exponent), std::move(X));
}

template <RealScalar T>
WorkParts<T> Exponential<T>::by_chebyshev(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report) {
  const int complex = options_.complex_products;
  const bool both = A.real && A.imaginary;
  // exp(2A) is a whole product of complex matrices, or two halves of real ones.
  const TrigonometricCosts costs = both     ? TrigonometricCosts{complex, 2 * complex, 0}
                                   : A.real ? TrigonometricCosts{1, 2, 0}
                                            : TrigonometricCosts{1, 2, 4};
  recipe_.before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  const Parts<T> B = arithmetic_->times_power_of_two(A, -recipe_.before);
  double bound = std::ldexp(norm, -recipe_.before);
  TrigonometricScheme& scheme = recipe_.trigonometric;
  const auto choose = [&](double other) {
    if (other < bound) bound = other;
    // Tolerance relative to ||A||, and not below the rounding of exp(A).
    const double of_a = tolerance() * std::min(std::ldexp(bound, recipe_.before), 1.0);
    scheme = choose_trigonometric(bound, std::max(of_a, static_cast<double>(unit_roundoff<T>)), costs);
    expected_products_ = products_of(scheme, costs) + recipe_.before * costs.square;
  };
  choose(bound);
  Parts<T> square;
  Parts<T> fourth;
  // ||A||_2^k = ||A^k||_2 <= ||A^k||_1. Only a power that the scheme uses is computed to improve the bound.
  if (scheme.powers > 0) {
    const Parts<T> there = recipe_.before == 0 ? columns : Parts<T>{};
    square = arithmetic_->multiply(T{1}, B, arithmetic_->right_factor(B, there, Symmetry::skew_hermitian),
                                   Symmetry::hermitian);
    choose(std::sqrt(norms_.bound_of(square)));
  }
  if (scheme.powers > 1) {
    fourth = arithmetic_->multiply(T{1}, square, arithmetic_->right_factor(square, {}, Symmetry::hermitian),
                                   Symmetry::hermitian);
    choose(std::sqrt(std::sqrt(norms_.bound_of(fourth))));
    // The 1-norm may be n^(1/8) times as large. A few products with vectors may save a part of a product.
    if (scheme.angles() > 1.0) choose(std::sqrt(std::sqrt(spectral_bound(comm_, fourth))));
  }
  recipe_.method = ExpmMethod::chebyshev;
  report.degree = 2 * scheme.degree() + 1;
  report.alpha = std::ldexp(bound, recipe_.before);
  report.backward_error = trigonometric_error(scheme.degree(), scheme.theta);
  return finish(B, square, fourth);
}

template <RealScalar T>
WorkParts<T> Exponential<T>::finish(const Parts<T>& A, const Parts<T>& square, const Parts<T>& fourth) {
  const TrigonometricScheme& scheme = recipe_.trigonometric;
  WorkParts<T> result;
  int left = recipe_.squarings();
  if (scheme.powers == 0) {
    const std::array<T, 1> one = {static_cast<T>(1.0 / scheme.angles())};
    result = arithmetic_->combine(1.0, one, std::span<const Parts<T>>(&A, 1));
  } else {
    Trigonometric<T> E = trigonometric(*arithmetic_, scheme, A, square, fourth);
    if (!A.real) {
      for (int k = 0; k < scheme.quintuplings; ++k) E = quintupled(*arithmetic_, E);
      for (; left > 0; --left) E = squared(*arithmetic_, E);
      result = {std::move(E.cosine.real), std::move(E.sine.imaginary)};
    } else {
      const std::array<Parts<T>, 2> terms = {E.cosine.read(), E.sine.read()};
      result = arithmetic_->combine(0.0, std::array<T, 2>{1, 1}, terms);
    }
  }
  for (; left > 0; --left) {
    result = arithmetic_->multiply(T{1}, result.read(), arithmetic_->right_factor(result.read()));
  }
  return times_exponential(recipe_.shift, std::move(result));
}

#define HEDDLE_INSTANTIATE(T)                                                                                 \
  template WorkParts<T> Exponential<T>::by_polynomial(const Parts<T>&, const Parts<T>&, double, ExpmReport&); \
  template WorkParts<T> Exponential<T>::by_pade(const Parts<T>&, const Parts<T>&, double, ExpmReport&);       \
  template WorkParts<T> Exponential<T>::by_chebyshev(const Parts<T>&, const Parts<T>&, double, ExpmReport&);  \
  template WorkParts<T> Exponential<T>::finish(Powers<T>&, const Parts<T>&);                                  \
  template WorkParts<T> Exponential<T>::finish(const Parts<T>&, const Parts<T>&, const Parts<T>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

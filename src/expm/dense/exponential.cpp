#include "expm/dense/exponential.hpp"

#include "core/elementary.hpp"
#include "expm/dense/norm_estimate.hpp"
#include "expm/dense/results.hpp"
#include "expm/dense/spectral_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::impl {
namespace {

ExpmStructure named(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::hermitian:
      return ExpmStructure::hermitian;
    case Symmetry::skew_hermitian:
      return ExpmStructure::skew_hermitian;
    case Symmetry::none:
      break;
  }
  return ExpmStructure::general;
}

// The mean of the eigenvalues; the sum rounds in an order of its own.
std::complex<double> mean(const std::vector<std::complex<double>>& values) {
  std::complex<double> sum;
  for (const std::complex<double>& value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

}  // namespace

template <RealScalar T>
Exponential<T>::Exponential(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const ExpmOptions& options)
    : comm_(comm),
      arithmetic_(&arithmetic),
      options_(options),
      norms_(comm, arithmetic.placement()),
      solver_(comm, arithmetic.placement().rows()) {}

template <RealScalar T> ProductCosts Exponential<T>::costs_of(const Parts<T>& A) const {
  if (!A.imaginary) {
    return {1, 1, 1};
  }
  const int complex = options_.complex_products;
  // Purely imaginary: powers alternate between real and imaginary, polynomials are complex.
  return A.real ? ProductCosts{complex, complex, complex} : ProductCosts{1, 2, complex};
}

template <RealScalar T> double Exponential<T>::bound_of(const Parts<T>& A) {
  double bound = 0.0;
  for (const Part<T>* part : {&A.real, &A.imaginary}) {
    if (*part) {
      bound += norms_.reproducible_bound(**part, norms_.measure(**part).largest);
    }
  }
  return bound;
}

template <RealScalar T> Parts<T> Exponential<T>::scaled(Parts<T> A, int exponent) {
  // A power of two scales without rounding, in two steps where one would underflow.
  while (exponent > 0) {
    const int step = std::min(exponent, 100);
    const std::array<T, 1> factor = {static_cast<T>(std::ldexp(1.0, -step))};
    A = arithmetic_->combine(0.0, factor, std::span<const Parts<T>>(&A, 1));
    exponent -= step;
  }
  return A;
}

template <RealScalar T>
Parts<T> Exponential<T>::term_by_term(const Parts<T>& A, const Parts<T>& columns, const Parts<T>& target) {
  SeriesSum<T> real(*arithmetic_, target.real, T{1});
  SeriesSum<T> imaginary(*arithmetic_, target.imaginary, T{0});
  real.add(A.real);
  imaginary.add(A.imaginary);
  if (options_.degree > 1) {
    // a_k = (1/k) A a_{k-1} = (1/k) a_{k-1} A: the factor that all terms share is the one that travels.
    const RightFactor<T> factor = arithmetic_->right_factor(A, columns);
    Parts<T> term = A;
    for (int k = 2; k <= options_.degree; ++k) {
      term = arithmetic_->multiply(T{1} / static_cast<T>(k), term, factor);
      real.add(term.real);
      imaginary.add(term.imaginary);
    }
  }
  return {real.finish(), imaginary.finish()};
}

template <RealScalar T> Parts<T> Exponential<T>::of_diagonal(const Parts<T>& A) {
  std::vector<std::complex<double>> values = diagonal_of(comm_, A, 0);
  for (std::complex<double>& value : values) value = exponential(value);
  const Parts<T> E = arithmetic_->combine({1.0, A.imaginary ? 1.0 : 0.0}, {}, {});
  set_diagonal(comm_, E, 0, values);
  return E;
}

template <RealScalar T> Parts<T> Exponential<T>::shifted(const Parts<T>& A, Parts<T>& columns, double& norm) {
  recipe_.shift = 0.0;
  std::complex<double> shift = mean(diagonal_of(comm_, A, 0));
  // What is not A's own would only round.
  if (structure_.symmetry == Symmetry::hermitian) shift = shift.real();
  if (structure_.symmetry == Symmetry::skew_hermitian) shift = {0.0, shift.imag()};
  shift = {static_cast<double>(static_cast<T>(shift.real())), static_cast<double>(static_cast<T>(shift.imag()))};
  if (!(std::abs(shift) > norm / 64.0)) {
    return A;
  }
  const std::array<T, 1> one = {1};
  Parts<T> less = arithmetic_->combine(-shift, one, std::span<const Parts<T>>(&A, 1));
  const double bound = bound_of(less);
  if (!(bound < norm)) {
    return A;
  }
  norm = bound;
  columns = {};
  recipe_.shift = shift;
  return less;
}

template <RealScalar T> void Exponential<T>::learn_estimates(const Powers<T>& powers, PowerNorms& norms) {
  PowerNormEstimate<T> estimate(comm_, powers.all().back());
  if (!estimate.finite()) {
    return;
  }
  for (const int k : {2, 3}) norms.learn(k * powers.count(), estimate.norm(k));
}

template <RealScalar T>
Parts<T> Exponential<T>::by_polynomial(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report) {
  const ProductCosts costs = costs_of(A);
  const Evaluations evaluations = options_.method == ExpmMethod::paterson_stockmeyer ? Evaluations::paterson_stockmeyer
                                  : options_.method == ExpmMethod::few_products      ? Evaluations::few_products
                                                                                     : Evaluations::all;
  Scheme& scheme = recipe_.scheme;
  recipe_.before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  PowerNorms power_norms(std::ldexp(norm, -recipe_.before));
  int made = 1;
  const auto choose = [&] {
    scheme = choose_scheme(power_norms, tolerance(), costs, evaluations);
    expected_products_ = products_of(scheme, costs, made) + recipe_.before * costs.square;
  };
  choose();
  Powers<T> powers(*arithmetic_, scaled(A, recipe_.before), recipe_.before == 0 ? columns : Parts<T>{},
                   structure_.symmetry);
  // The scheme of the moment uses each power that is made, and so does each one that is chosen later, or costs no more.
  while (powers.count() < scheme.powers) {
    const Parts<T>& power = powers.next();
    made = powers.count();
    const bool nothing_to_save =
        made == scheme.powers && scheme.blocks == 1 && scheme.few == nullptr && scheme.squarings == 0;
    if (!nothing_to_save) {
      power_norms.add(bound_of(power));
      choose();
    }
    if (made >= scheme.powers && scheme.squarings > 0) {
      learn_estimates(powers, power_norms);
      choose();
    }
  }
  recipe_.method = scheme.few != nullptr ? ExpmMethod::few_products : ExpmMethod::paterson_stockmeyer;
  report.degree = scheme.degree;
  report.alpha = std::ldexp(power_norms.alpha(scheme.degree), recipe_.before);
  report.backward_error = backward_error(scheme, power_norms);
  return finish(powers, A);
}

template <RealScalar T>
Parts<T> Exponential<T>::by_pade(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report) {
  const ProductCosts costs = costs_of(A);
  recipe_.method = ExpmMethod::pade;
  recipe_.before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  PowerNorms power_norms(std::ldexp(norm, -recipe_.before));
  double error = 0.0;
  const auto choose = [&] {
    double least = std::numeric_limits<double>::infinity();
    for (const int degree : pade_degrees) {
      int squarings = 0;
      const auto error_of = [&] {
        return pade_backward_error(degree, std::ldexp(power_norms.alpha(2 * degree), -squarings));
      };
      while (!(error_of() <= tolerance())) ++squarings;
      // The linear system is there at any degree.
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
  Powers<T> powers(*arithmetic_, scaled(A, recipe_.before), recipe_.before == 0 ? columns : Parts<T>{},
                   structure_.symmetry);
  power_norms.add(bound_of(powers.next()));
  choose();
  if (recipe_.scheme.squarings > 0) {
    learn_estimates(powers, power_norms);
    choose();
  }
  report.degree = recipe_.pade_degree;
  report.alpha = std::ldexp(power_norms.alpha(2 * recipe_.pade_degree), recipe_.before);
  report.backward_error = error;
  return finish(powers, A);
}

template <RealScalar T> Parts<T> Exponential<T>::finish(Powers<T>& powers, const Parts<T>& A) {
  if (recipe_.method == ExpmMethod::pade) {
    powers.finish(2);
    return squared_up(pade(*arithmetic_, solver_, powers.all(), recipe_.pade_degree, recipe_.scheme.squarings), A);
  }
  powers.finish(recipe_.scheme.powers);
  return squared_up(polynomial(*arithmetic_, recipe_.scheme, powers), A);
}

template <RealScalar T> Parts<T> Exponential<T>::squared_up(Parts<T> result, const Parts<T>& A) {
  // Solving a linear system does not keep the symmetry of its matrix.
  const bool hermitian = structure_.symmetry == Symmetry::hermitian && recipe_.method != ExpmMethod::pade;
  const Symmetry symmetry = hermitian ? Symmetry::hermitian : Symmetry::none;
  int left = recipe_.squarings();
  result = times_exponential(recipe_.shift * std::ldexp(1.0, -left), std::move(result));
  std::optional<TriangularDiagonals> diagonals;
  if (structure_.triangular()) {
    // Of A as it was before its mean was taken off, which rounds.
    diagonals.emplace(comm_, unshifted_.real || unshifted_.imaginary ? unshifted_ : A, structure_,
                      unshifted_.real || unshifted_.imaginary ? std::complex<double>() : recipe_.shift);
    diagonals->correct(comm_, left, result);
  }
  while (left-- > 0) {
    const int headroom = headroom_ && left == 0 ? (std::is_same_v<T, float> ? 8 : 16) : 0;
    result = arithmetic_->scaled(std::ldexp(1.0, -headroom), std::move(result));
    result = arithmetic_->multiply(T{1}, result, arithmetic_->right_factor(result, {}, symmetry), symmetry);
    result = arithmetic_->scaled(std::ldexp(1.0, 2 * headroom), std::move(result));
    if (diagonals) diagonals->correct(comm_, left, result);
  }
  return result;
}

template <RealScalar T> Parts<T> Exponential<T>::times_exponential(std::complex<double> exponent, Parts<T> X) {
  if (exponent == 0.0) {
    return X;
  }
  if (!headroom_) {
    return arithmetic_->scaled(exponential(exponent), std::move(X));
  }
  // exp(exponent) may be out of range where its product with X is not.
  X = arithmetic_->scaled(exponential(0.5 * exponent), std::move(X));
  return arithmetic_->scaled(exponential(0.5 * exponent), std::move(X));
}

template <RealScalar T>
Parts<T> Exponential<T>::by_chebyshev(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report) {
  const int complex = options_.complex_products;
  const bool both = A.real && A.imaginary;
  // exp(2A) is a whole product of complex matrices, or two halves of real ones.
  const TrigonometricCosts costs = both     ? TrigonometricCosts{complex, 2 * complex, 0}
                                   : A.real ? TrigonometricCosts{1, 2, 0}
                                            : TrigonometricCosts{1, 2, 4};
  recipe_.before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  const Parts<T> B = scaled(A, recipe_.before);
  double bound = std::ldexp(norm, -recipe_.before);
  TrigonometricScheme& scheme = recipe_.trigonometric;
  const auto choose = [&](double other) {
    if (other < bound) bound = other;
    scheme = choose_trigonometric(bound, tolerance(), costs);
    expected_products_ = products_of(scheme, costs) + recipe_.before * costs.square;
  };
  choose(bound);
  Parts<T> square;
  Parts<T> fourth;
  // ||A||_2^k = ||A^k||_2 <= ||A^k||_1. A power that is made to know more is one that is used.
  if (scheme.powers > 0) {
    const Parts<T> there = recipe_.before == 0 ? columns : Parts<T>{};
    square = arithmetic_->multiply(T{1}, B, arithmetic_->right_factor(B, there, Symmetry::skew_hermitian),
                                   Symmetry::hermitian);
    choose(std::sqrt(bound_of(square)));
  }
  if (scheme.powers > 1) {
    fourth = arithmetic_->multiply(T{1}, square, arithmetic_->right_factor(square, {}, Symmetry::hermitian),
                                   Symmetry::hermitian);
    choose(std::sqrt(std::sqrt(bound_of(fourth))));
    // The 1-norm may be n^(1/8) times as large. A few vectors more, and the share of a product less.
    if (scheme.angles() > 1.0) choose(std::sqrt(std::sqrt(spectral_bound(comm_, fourth))));
  }
  recipe_.method = ExpmMethod::chebyshev;
  report.degree = 2 * scheme.degree() + 1;
  report.alpha = std::ldexp(bound, recipe_.before);
  report.backward_error = trigonometric_error(scheme.degree(), scheme.theta);
  return finish(B, square, fourth);
}

template <RealScalar T>
Parts<T> Exponential<T>::finish(const Parts<T>& A, const Parts<T>& square, const Parts<T>& fourth) {
  const TrigonometricScheme& scheme = recipe_.trigonometric;
  Parts<T> result;
  int left = recipe_.squarings();
  if (scheme.powers == 0) {
    const std::array<T, 1> one = {static_cast<T>(1.0 / scheme.angles())};
    result = arithmetic_->combine(1.0, one, std::span<const Parts<T>>(&A, 1));
  } else {
    Trigonometric<T> E = trigonometric(*arithmetic_, scheme, A, square, fourth);
    if (!A.real) {
      for (int k = 0; k < scheme.quintuplings; ++k) E = quintupled(*arithmetic_, E);
      for (; left > 0; --left) E = squared(*arithmetic_, E);
      result = {E.cosine.real, E.sine.imaginary};
    } else {
      const std::array<Parts<T>, 2> terms = {E.cosine, E.sine};
      result = arithmetic_->combine(0.0, std::array<T, 2>{1, 1}, terms);
    }
  }
  for (; left > 0; --left) result = arithmetic_->multiply(T{1}, result, arithmetic_->right_factor(result));
  return times_exponential(recipe_.shift, std::move(result));
}

template <RealScalar T>
Parts<T> Exponential<T>::of(const Parts<T>& A, const Parts<T>& columns, const Parts<T>& target, ExpmReport& report) {
  double bound = 0.0;
  for (const Part<T>* part : {&A.real, &A.imaginary}) {
    if (*part) {
      const auto seen = norms_.measure(**part);
      report.norm1 += seen.one;
      // A series of given degree asks for nothing but a finite A.
      bound += options_.method == ExpmMethod::taylor ? seen.one : norms_.reproducible_bound(**part, seen.largest);
    }
  }
  if (!std::isfinite(bound)) {
    throw Error(ErrorKind::computation, "expm: A holds NaN or Inf, or its 1-norm overflows");
  }
  arithmetic_->after_product = {};
  if (options_.progress) {
    arithmetic_->after_product = [this] {
      options_.progress(std::min(arithmetic_->products(), expected_products_), expected_products_);
    };
  }
  recipe_ = {};
  structure_ = {};
  Parts<T> result;
  if (options_.method == ExpmMethod::taylor) {
    recipe_.method = ExpmMethod::taylor;
    expected_products_ = (options_.degree - 1) * costs_of(A).power;
    report.degree = options_.degree;
    if (arithmetic_->tests_scaling()) {
      using Trust = typename ComplexArithmetic<T>::Trust;
      arithmetic_->trust_norms(is_normal(A, columns) ? Trust::always : arithmetic_->trust_in(A));
    }
    result = term_by_term(A, columns, target);
  } else {
    Parts<T> B = A;
    Parts<T> in_columns = columns;
    if (options_.structure == ExpmStructure::automatic) {
      in_columns = arithmetic_->column_bands(A, columns);
      structure_ = structure_of(comm_, A, in_columns);
      // A part that is zero is as good as none.
      if (structure_.real_is_zero && A.imaginary) B.real = in_columns.real = {};
      if (structure_.imaginary_is_zero && B.real) B.imaginary = in_columns.imaginary = {};
    } else if (options_.structure != ExpmStructure::general) {
      structure_.symmetry =
          options_.structure == ExpmStructure::hermitian ? Symmetry::hermitian : Symmetry::skew_hermitian;
    }
    report.structure = named(structure_.symmetry);
    // Zero is skew-Hermitian too, and has no elements that would say so.
    if (options_.method == ExpmMethod::chebyshev && structure_.symmetry != Symmetry::skew_hermitian &&
        !structure_.zero()) {
      throw Error(ErrorKind::argument, "expm: the method chebyshev is for skew-Hermitian matrices, which A is not");
    }
    if (structure_.diagonal()) {
      result = of_diagonal(B);
    } else {
      double norm = bound;
      using Trust = typename ComplexArithmetic<T>::Trust;
      arithmetic_->trust_norms(Trust::always);
      if (structure_.symmetry == Symmetry::none) {
        // As A was given: what balancing makes of it may hide elements that matter in A.
        const Trust trust = arithmetic_->trust_in(B);
        B = balanced_where_it_helps(B, in_columns, norm);
        arithmetic_->trust_norms(trust);
      }
      report.balanced = !recipe_.balance.empty();
      unshifted_ = B;
      B = shifted(B, in_columns, norm);
      report.shift_real = recipe_.shift.real();
      report.shift_imaginary = recipe_.shift.imag();
      const bool trigonometric = structure_.symmetry == Symmetry::skew_hermitian &&
                                 (options_.method == ExpmMethod::automatic || options_.method == ExpmMethod::chebyshev);
      result = trigonometric                         ? by_chebyshev(B, in_columns, norm, report)
               : options_.method == ExpmMethod::pade ? by_pade(B, in_columns, norm, report)
                                                     : by_polynomial(B, in_columns, norm, report);
      unshifted_ = {};
      if (!recipe_.balance.empty()) undo_balance(comm_, recipe_.balance, result);
    }
    report.squarings = recipe_.squarings();
    report.quintuplings = recipe_.trigonometric.quintuplings;
  }
  report.method = recipe_.method;
  arithmetic_->after_product = {};
  return result;
}

template <RealScalar T>
Parts<T> Exponential<T>::balanced_where_it_helps(const Parts<T>& A, Parts<T>& columns, double& norm) {
  // Where nobody asked for it, it is to save squarings that ||A|| asks for and exp(A) does not.
  constexpr int far = std::numeric_limits<T>::max_exponent / 8;
  if (!options_.balance && norm <= std::ldexp(1.0, far)) {
    return A;
  }
  Balance found = balance(comm_, A);
  if (!found.needed || found.norm_before <= 1.0) {
    return A;
  }
  if (found.norm_after < 1.0) {
    // What is neglected of a small D^-1 A D may be large when D is taken off again: no further than to norm 1. Elements
    // change geometrically with the exponents.
    const double share = found.norm_after > 0.0
                             ? std::log2(found.norm_before) / std::log2(found.norm_before / found.norm_after)
                             : std::log2(found.norm_before) / 1100.0;
    for (int& exponent : found.exponents) exponent = static_cast<int>(std::lround(share * exponent));
  }
  recipe_.balance = std::move(found.exponents);
  Parts<T> B = balanced(A);
  const double norm_after = bound_of(B);
  if (options_.balance ? norm_after < norm : norm_after <= std::sqrt(norm)) {
    norm = norm_after;
    columns = {};
    return B;
  }
  recipe_.balance.clear();
  return A;
}

template <RealScalar T> bool Exponential<T>::is_normal(const Parts<T>& A, const Parts<T>& columns) {
  if (options_.structure != ExpmStructure::automatic) {
    return options_.structure != ExpmStructure::general;
  }
  return structure_of(comm_, A, arithmetic_->column_bands(A, columns)).symmetry != Symmetry::none;
}

template <RealScalar T> Parts<T> Exponential<T>::balanced(const Parts<T>& A) {
  const std::array<T, 1> one = {1};
  Parts<T> B = arithmetic_->combine(0.0, one, std::span<const Parts<T>>(&A, 1));
  apply_balance(comm_, recipe_.balance, B);
  return B;
}

template <RealScalar T> Parts<T> Exponential<T>::again(const Parts<T>& A) {
  if (recipe_.method == ExpmMethod::taylor) {
    return term_by_term(A, {}, {});
  }
  if (structure_.diagonal()) {
    return of_diagonal(A);
  }
  const Recipe kept = recipe_;
  recipe_.shift *= 0.5;
  Parts<T> B{structure_.real_is_zero && A.imaginary ? Part<T>{} : A.real,
             structure_.imaginary_is_zero && A.real ? Part<T>{} : A.imaginary};
  if (!recipe_.balance.empty()) B = balanced(B);
  if (recipe_.shift != 0.0) {
    const std::array<T, 1> one = {1};
    B = arithmetic_->combine(-recipe_.shift, one, std::span<const Parts<T>>(&B, 1));
  }
  const Parts<T> less = B;
  B = scaled(B, recipe_.before);
  Parts<T> result;
  if (recipe_.method == ExpmMethod::chebyshev) {
    Parts<T> square;
    if (recipe_.trigonometric.powers > 0) {
      square = arithmetic_->multiply(T{1}, B, arithmetic_->right_factor(B, {}, Symmetry::skew_hermitian),
                                     Symmetry::hermitian);
    }
    result = finish(B, square, {});
  } else {
    Powers<T> powers(*arithmetic_, B, {}, structure_.symmetry);
    result = finish(powers, less);
  }
  if (!recipe_.balance.empty()) undo_balance(comm_, recipe_.balance, result);
  recipe_ = kept;
  return result;
}

template class Exponential<float>;
template class Exponential<double>;

}  // namespace heddle::impl

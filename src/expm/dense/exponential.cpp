// Exponential: structure, balancing, shift and order of A, and the series term by term.
#include "expm/dense/exponential.hpp"

#include "core/complex_exponential.hpp"
#include "expm/dense/block_order.hpp"
#include "expm/dense/results.hpp"
#include "libm/functions.hpp"

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
  // For purely imaginary A, powers alternate between real and imaginary, and polynomials are complex.
  return A.real ? ProductCosts{complex, complex, complex} : ProductCosts{1, 2, complex};
}

template <RealScalar T> ExpmTerm Exponential<T>::seen(const Parts<T>& term) {
  ExpmTerm result;
  if (term.real) {
    result.norm1 += norms_.measure(*term.real).one;
    result.trace_real = static_cast<double>(trace(*term.real));
  }
  if (term.imaginary) {
    result.norm1 += norms_.measure(*term.imaginary).one;
    result.trace_imaginary = static_cast<double>(trace(*term.imaginary));
  }
  return result;
}

template <RealScalar T>
WorkParts<T> Exponential<T>::term_by_term(const Parts<T>& A, const Parts<T>& columns, WorkParts<T> target,
                                          std::vector<ExpmTerm>* terms) {
  if (terms != nullptr) {
    const auto n = static_cast<double>(arithmetic_->placement().rows());
    *terms = {{n > 0 ? 1.0 : 0.0, n, 0.0}, seen(A)};
  }
  SeriesSum<T> real(*arithmetic_, std::move(target.real), T{1});
  SeriesSum<T> imaginary(*arithmetic_, std::move(target.imaginary), T{0});
  real.add(A.real);
  imaginary.add(A.imaginary);
  if (options_.degree > 1) {
    // a_k = (1/k) A a_{k-1} = (1/k) a_{k-1} A: the common factor of all terms is the one that travels. It is halved if
    // sums in A^2 would leave the range, though A^2 itself might not.
    const int halved = recipe_.before;
    const RightFactor<T> factor =
        arithmetic_->right_factor(arithmetic_->times_power_of_two(A, -halved), halved == 0 ? columns : Parts<T>{});
    Parts<T> term = A;
    for (int k = 2; k <= options_.degree; ++k) {
      term = arithmetic_->multiply(T{1} / static_cast<T>(k), term, factor);
      term = arithmetic_->times_power_of_two(std::move(term), halved);
      real.add(term.real);
      imaginary.add(term.imaginary);
      if (terms != nullptr) terms->push_back(seen(term));
    }
  }
  return {real.finish(), imaginary.finish()};
}

template <RealScalar T> WorkParts<T> Exponential<T>::of_diagonal(const Parts<T>& A) {
  std::vector<std::complex<double>> values = diagonal_of(comm_, A, 0);
  for (std::complex<double>& value : values) value = exponential(value);
  WorkParts<T> E = arithmetic_->combine({1.0, A.imaginary ? 1.0 : 0.0}, {}, {});
  set_diagonal(comm_, E, 0, values);
  return E;
}

template <RealScalar T> Parts<T> Exponential<T>::shifted(const Parts<T>& A, Parts<T>& columns, double& norm) {
  recipe_.shift = 0.0;
  std::complex<double> shift = mean_eigenvalue(comm_, A);
  // A part of the mean that A's symmetry excludes is rounding.
  if (structure_.symmetry == Symmetry::hermitian) shift = shift.real();
  if (structure_.symmetry == Symmetry::skew_hermitian) shift = {0.0, shift.imag()};
  if (!(libm::hypot(shift.real(), shift.imag()) > norm / 64.0)) {
    return A;
  }
  const std::array<T, 1> one = {1};
  Parts<T> less = arithmetic_->combine(-shift, one, std::span<const Parts<T>>(&A, 1));
  const double bound = norms_.bound_of(less);
  if (!(bound < norm)) {
    return A;
  }
  norm = bound;
  columns = {};
  recipe_.shift = shift;
  return less;
}

template <RealScalar T>
WorkParts<T> Exponential<T>::of(const Parts<T>& A, const Parts<T>& columns, WorkParts<T> target, ExpmReport& report) {
  double bound = 0.0;
  double largest = 0.0;
  for (const SharedMatrix<T>* part : {&A.real, &A.imaginary}) {
    if (*part) {
      const auto seen = norms_.measure(**part);
      report.norm1 += seen.one;
      largest = std::max(largest, seen.largest);
      // A series of given degree only requires a finite A.
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
  WorkParts<T> result;
  if (options_.method == ExpmMethod::taylor) {
    recipe_.method = ExpmMethod::taylor;
    int exponent = 0;
    std::frexp(largest * static_cast<double>(arithmetic_->placement().rows()), &exponent);
    recipe_.before = std::max(2 * exponent + 4 - std::numeric_limits<T>::max_exponent, 0);
    expected_products_ = (options_.degree - 1) * costs_of(A).power;
    report.degree = options_.degree;
    if (arithmetic_->tests_scaling()) {
      arithmetic_->trust_norms(is_normal(A, columns) ? Trust::always : arithmetic_->trust_in(A));
    }
    result = term_by_term(A, columns, std::move(target), options_.terms ? &report.terms : nullptr);
  } else {
    result = by_structure(A, columns, bound, report);
    report.squarings = recipe_.squarings();
    report.quintuplings = recipe_.trigonometric.quintuplings;
  }
  report.method = recipe_.method;
  arithmetic_->after_product = {};
  return result;
}

template <RealScalar T> void Exponential<T>::find_structure(Parts<T>& A, Parts<T>& columns) {
  if (options_.structure == ExpmStructure::automatic) {
    columns = arithmetic_->column_bands(A, columns);
    structure_ = structure_of(comm_, A, columns);
    // A zero part is treated as absent.
    if (structure_.real_is_zero && A.imaginary) A.real = columns.real = {};
    if (structure_.imaginary_is_zero && A.real) A.imaginary = columns.imaginary = {};
  } else if (options_.structure != ExpmStructure::general) {
    structure_.symmetry =
        options_.structure == ExpmStructure::hermitian ? Symmetry::hermitian : Symmetry::skew_hermitian;
  }
}

template <RealScalar T>
WorkParts<T> Exponential<T>::by_structure(Parts<T> A, Parts<T> columns, double norm, ExpmReport& report) {
  find_structure(A, columns);
  report.structure = named(structure_.symmetry);
  // Zero is skew-Hermitian too, but has no elements that show it.
  if (options_.method == ExpmMethod::chebyshev && structure_.symmetry != Symmetry::skew_hermitian &&
      !structure_.zero()) {
    throw Error(ErrorKind::argument, "expm: the method chebyshev is for skew-Hermitian matrices, which A is not");
  }
  if (structure_.diagonal()) {
    return of_diagonal(A);
  }
  arithmetic_->trust_norms(Trust::always);
  if (structure_.symmetry == Symmetry::none) {
    // Test A as given: balancing may hide elements that matter in A.
    const Trust trust = arithmetic_->trust_in(A);
    A = balanced_where_it_helps(A, columns, norm);
    arithmetic_->trust_norms(trust);
  }
  report.balanced = !recipe_.balance.empty();
  unshifted_ = A;
  A = shifted(A, columns, norm);
  report.shift_real = recipe_.shift.real();
  report.shift_imaginary = recipe_.shift.imag();
  // Pivots of the linear system's matrix are sought below its diagonal, which mixes the zeros above a lower triangle.
  if (options_.method == ExpmMethod::pade && !structure_.upper && structure_.symmetry == Symmetry::none) {
    recipe_.order = block_order(comm_, A);
    A = in_block_order(std::move(A), columns);
  }
  const bool trigonometric = structure_.symmetry == Symmetry::skew_hermitian &&
                             (options_.method == ExpmMethod::automatic || options_.method == ExpmMethod::chebyshev);
  WorkParts<T> result = trigonometric                         ? by_chebyshev(A, columns, norm, report)
                        : options_.method == ExpmMethod::pade ? by_pade(A, columns, norm, report)
                                                              : by_polynomial(A, columns, norm, report);
  unshifted_ = {};
  return as_given(std::move(result));
}

template <RealScalar T> Parts<T> Exponential<T>::in_block_order(Parts<T> A, Parts<T>& columns) {
  if (recipe_.order.empty()) {
    return A;
  }
  columns = {};
  A = reordered(comm_, *arithmetic_, A, recipe_.order);
  unshifted_ = recipe_.shift == 0.0 ? A : reordered(comm_, *arithmetic_, unshifted_, recipe_.order);
  if (structure_.lower) std::swap(structure_.lower, structure_.upper);
  return A;
}

template <RealScalar T> WorkParts<T> Exponential<T>::as_given(WorkParts<T> result) {
  if (!recipe_.order.empty()) {
    result = reordered<T>(comm_, *arithmetic_, std::move(result), inverse_of(recipe_.order));
  }
  if (!recipe_.balance.empty()) undo_balance(comm_, recipe_.balance, result);
  return result;
}

template <RealScalar T>
Parts<T> Exponential<T>::balanced_where_it_helps(const Parts<T>& A, Parts<T>& columns, double& norm) {
  // If the caller did not request it, balance only to save squarings that ||A|| requires and exp(A) does not.
  constexpr int far = std::numeric_limits<T>::max_exponent / 8;
  if (!options_.balance && norm <= std::ldexp(1.0, far)) {
    return A;
  }
  // A part of A that large and without a cycle would have all of A halved, until nothing is left of smaller parts.
  Balance found = balance(comm_, A, norm > std::ldexp(1.0, far) ? 1.0 : 0.0);
  if (!found.needed || found.norm_before <= 1.0) {
    return A;
  }
  if (found.norm_after < 1.0) {
    // The terms neglected of a small D^-1 A D may be large when D is undone, so balance to norm 1 at most. Elements
    // change geometrically with the exponents.
    const double share = found.norm_after > 0.0
                             ? libm::log2(found.norm_before) / libm::log2(found.norm_before / found.norm_after)
                             : libm::log2(found.norm_before) / 1100.0;
    for (int& exponent : found.exponents) exponent = static_cast<int>(std::lround(share * exponent));
  }
  recipe_.balance = std::move(found.exponents);
  Parts<T> B = balanced(A);
  const double norm_after = norms_.bound_of(B);
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

template <RealScalar T> WorkParts<T> Exponential<T>::balanced(const Parts<T>& A) {
  const std::array<T, 1> one = {1};
  WorkParts<T> B = arithmetic_->combine(0.0, one, std::span<const Parts<T>>(&A, 1));
  apply_balance(comm_, recipe_.balance, B);
  return B;
}

template <RealScalar T> WorkParts<T> Exponential<T>::again(const Parts<T>& A) {
  if (recipe_.method == ExpmMethod::taylor) {
    return term_by_term(A, {}, {}, nullptr);
  }
  if (structure_.diagonal()) {
    return of_diagonal(A);
  }
  const Recipe kept = recipe_;
  recipe_.shift *= 0.5;
  Parts<T> B{structure_.real_is_zero && A.imaginary ? SharedMatrix<T>{} : A.real,
             structure_.imaginary_is_zero && A.real ? SharedMatrix<T>{} : A.imaginary};
  if (!recipe_.balance.empty()) B = balanced(B);
  if (recipe_.shift != 0.0) {
    const std::array<T, 1> one = {1};
    B = arithmetic_->combine(-recipe_.shift, one, std::span<const Parts<T>>(&B, 1));
  }
  if (!recipe_.order.empty()) B = reordered(comm_, *arithmetic_, B, recipe_.order);
  const Parts<T> less = B;
  B = arithmetic_->times_power_of_two(B, -recipe_.before);
  WorkParts<T> result;
  if (recipe_.method == ExpmMethod::chebyshev) {
    Parts<T> square;
    if (recipe_.trigonometric.powers > 0) {
      square = arithmetic_->multiply(T{1}, B, arithmetic_->right_factor(B, {}, Symmetry::skew_hermitian),
                                     Symmetry::hermitian);
    }
    result = finish(B, square, {});
  } else {
    Powers<T> powers(*arithmetic_, B, {}, structure_.symmetry);
    if (recipe_.undone > 0) {
      powers.finish(recipe_.undone_after);
      powers.times_powers_of_two(recipe_.undone, recipe_.undone == recipe_.before ? less : Parts<T>{});
    }
    result = finish(powers, less);
  }
  result = as_given(std::move(result));
  recipe_ = kept;
  return result;
}

template class Exponential<float>;
template class Exponential<double>;

}  // namespace heddle::impl

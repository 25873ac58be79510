// exp(A) of a matrix in row bands: the transformations of A, and their order.
#pragma once

#include "expm/dense/balance.hpp"
#include "expm/dense/norms.hpp"
#include "expm/dense/pade.hpp"
#include "expm/dense/polynomials.hpp"
#include "expm/dense/structure.hpp"
#include <heddle/expm/expm.hpp>

#include <complex>
#include <optional>
#include <vector>

namespace heddle::impl {

/// The transformations of one A, to be repeated for another of the same structure.
struct Recipe {
  ExpmMethod method = ExpmMethod::automatic;
  std::vector<int> balance;    ///< Exponents of D: A is D^-1 A D from here on; empty: no balancing.
  std::complex<double> shift;  ///< mu: exp(A) = exp(mu) exp(A - mu I).
  std::vector<Index> order;    ///< Order in which A is block upper triangular from here on; empty: unchanged.
  int before = 0;              ///< Halvings before powers are computed, to keep them in range.
  int undone = 0;              ///< Halvings of these that are undone in the powers, which turned out to be small.
  int undone_after = 1;        ///< Number of powers computed before that.
  Scheme scheme;               ///< The remaining parameters, by method.
  TrigonometricScheme trigonometric;
  int pade_degree = 0;

  [[nodiscard]] int squarings() const {
    return before - undone + (method == ExpmMethod::chebyshev ? trigonometric.squarings : scheme.squarings);
  }
};

template <RealScalar T> class Exponential {
 public:
  /// `arithmetic` must outlive this object.
  Exponential(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const ExpmOptions& options);

  /// exp(A) by the method of the options. `columns`: those parts of A that exist in column bands; `target`: storage for
  /// parts of the result, if any. Fills in method, structure, norms and errors of the report. Throws Error(computation)
  /// if A is not finite.
  [[nodiscard]] WorkParts<T> of(const Parts<T>& A, const Parts<T>& columns, WorkParts<T> target, ExpmReport& report);
  /// Repeat the steps for the last A with another, which must not be larger.
  [[nodiscard]] WorkParts<T> again(const Parts<T>& A);
  /// Set whether the last steps leave room for intermediate results larger than exp(A): two passes over memory more,
  /// and elements far below the largest one may lose bits.
  void leave_headroom(bool wanted) { headroom_ = wanted; }

 private:
  // Append the terms to `terms` unless it is null.
  [[nodiscard]] WorkParts<T> term_by_term(const Parts<T>& A, const Parts<T>& columns, WorkParts<T> target,
                                          std::vector<ExpmTerm>* terms);
  [[nodiscard]] ExpmTerm seen(const Parts<T>& term);
  // Use the method for the options and the structure of A. `norm`: a bound of ||A||_1.
  [[nodiscard]] WorkParts<T> by_structure(Parts<T> A, Parts<T> columns, double norm, ExpmReport& report);
  // Fill in structure_, and drop zero parts of A.
  void find_structure(Parts<T>& A, Parts<T>& columns);
  [[nodiscard]] WorkParts<T> of_diagonal(const Parts<T>& A);
  // A - mu I if that has a smaller norm; `columns` is then empty, and `norm` the new one.
  [[nodiscard]] Parts<T> shifted(const Parts<T>& A, Parts<T>& columns, double& norm);
  [[nodiscard]] WorkParts<T> by_polynomial(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report);
  [[nodiscard]] WorkParts<T> by_pade(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report);
  [[nodiscard]] WorkParts<T> by_chebyshev(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report);
  // If the scheme has a negative number of squarings, undo so many halvings of A in the powers.
  void undo_halvings(Powers<T>& powers, const Parts<T>& A);
  // Compute the result from the powers, or from A^2 and A^4; `A` before any halving, for its diagonals.
  [[nodiscard]] WorkParts<T> finish(Powers<T>& powers, const Parts<T>& A);
  [[nodiscard]] WorkParts<T> squared_up(WorkParts<T> result, const Parts<T>& A);
  [[nodiscard]] WorkParts<T> finish(const Parts<T>& A, const Parts<T>& square, const Parts<T>& fourth);
  // exp(exponent) X, in X's storage if the factor is real.
  [[nodiscard]] WorkParts<T> times_exponential(std::complex<double> exponent, WorkParts<T> X);
  // Whether A is known, or found, to be Hermitian or skew-Hermitian.
  [[nodiscard]] bool is_normal(const Parts<T>& A, const Parts<T>& columns);
  // A, and the copies kept of it, in the recipe's order.
  [[nodiscard]] Parts<T> in_block_order(Parts<T> A, Parts<T>& columns);
  // Undo the transformations of A in its exponential.
  [[nodiscard]] WorkParts<T> as_given(WorkParts<T> result);
  // A, balanced if the caller requested it or if it saves work; `columns` is then empty, and `norm` the new one.
  [[nodiscard]] Parts<T> balanced_where_it_helps(const Parts<T>& A, Parts<T>& columns, double& norm);
  // A copy of A, balanced by the recipe.
  [[nodiscard]] WorkParts<T> balanced(const Parts<T>& A);
  [[nodiscard]] ProductCosts costs_of(const Parts<T>& A) const;
  // Least root for PowerNorms. The terms that a polynomial neglects of an A balanced without request may be large once
  // D is undone, although its powers are small.
  [[nodiscard]] double least_root() const { return recipe_.balance.empty() || options_.balance ? 0.0 : 1.0; }
  [[nodiscard]] double tolerance() const {
    return options_.tolerance > 0.0 ? options_.tolerance : static_cast<double>(unit_roundoff<T>);
  }

  Communicator comm_;
  ComplexArithmetic<T>* arithmetic_;
  ExpmOptions options_;
  ColumnNorms<T> norms_;
  PartsSolver<T> solver_;
  Structure structure_;  // Structure of the last A.
  Recipe recipe_;
  int expected_products_ = 0;
  bool headroom_ = false;
  Parts<T> unshifted_;  // During a computation: the last A, balanced, with its mean.
};

}  // namespace heddle::impl

// exp(A) of a matrix in row bands: what is done to it, and in which order.
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

/// What was done to one A, so that it can be done to another of the same structure.
struct Recipe {
  ExpmMethod method = ExpmMethod::automatic;
  std::vector<int> balance;    ///< Exponents of D: A is D^-1 A D from here on; empty where it is A itself.
  std::complex<double> shift;  ///< mu: exp(A) = exp(mu) exp(A - mu I).
  std::vector<Index> order;    ///< In which A is block upper triangular from here on; empty where it is as it was.
  int before = 0;              ///< Halvings before powers are made, so that they stay in range.
  int undone = 0;              ///< So many of these are undone in the powers, which turned out to be small,
  int undone_after = 1;        ///< once so many were made.
  Scheme scheme;               ///< The rest, by method.
  TrigonometricScheme trigonometric;
  int pade_degree = 0;

  [[nodiscard]] int squarings() const {
    return before - undone + (method == ExpmMethod::chebyshev ? trigonometric.squarings : scheme.squarings);
  }
};

template <RealScalar T> class Exponential {
 public:
  /// `arithmetic` outlives it.
  Exponential(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const ExpmOptions& options);

  /// exp(A), by what the options ask for. `columns`: parts of A that are there in column bands; `target`: where parts
  /// of the result may be put, if they are there. Fills in what the report says of method, structure, norms and errors.
  /// Throws Error(computation) where A is not finite.
  [[nodiscard]] WorkParts<T> of(const Parts<T>& A, const Parts<T>& columns, WorkParts<T> target, ExpmReport& report);
  /// The same steps as those of the last A, of another, which is no larger.
  [[nodiscard]] WorkParts<T> again(const Parts<T>& A);
  /// Whether the last steps leave room for intermediate results that are larger than exp(A): two passes over memory
  /// more, and elements far below the largest one may lose bits.
  void leave_headroom(bool wanted) { headroom_ = wanted; }

 private:
  // Adds the terms to `terms`, where there is one.
  [[nodiscard]] WorkParts<T> term_by_term(const Parts<T>& A, const Parts<T>& columns, WorkParts<T> target,
                                          std::vector<ExpmTerm>* terms);
  [[nodiscard]] ExpmTerm seen(const Parts<T>& term);
  // By the method that the options and the structure of A ask for. `norm`: a bound of ||A||_1.
  [[nodiscard]] WorkParts<T> by_structure(Parts<T> A, Parts<T> columns, double norm, ExpmReport& report);
  // Fills in structure_, and leaves out parts of A that are zero.
  void find_structure(Parts<T>& A, Parts<T>& columns);
  [[nodiscard]] WorkParts<T> of_diagonal(const Parts<T>& A);
  // A - mu I where that has a smaller norm; `columns` is then empty, and `norm` the new one.
  [[nodiscard]] Parts<T> shifted(const Parts<T>& A, Parts<T>& columns, double& norm);
  [[nodiscard]] WorkParts<T> by_polynomial(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report);
  [[nodiscard]] WorkParts<T> by_pade(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report);
  [[nodiscard]] WorkParts<T> by_chebyshev(const Parts<T>& A, const Parts<T>& columns, double norm, ExpmReport& report);
  // Where the scheme has less than no squarings, so many halvings of A are undone in the powers that were made.
  void undo_halvings(Powers<T>& powers, const Parts<T>& A);
  // What is left when powers, or A^2 and A^4, are made; `A` before any halving, for its diagonals.
  [[nodiscard]] WorkParts<T> finish(Powers<T>& powers, const Parts<T>& A);
  [[nodiscard]] WorkParts<T> squared_up(WorkParts<T> result, const Parts<T>& A);
  [[nodiscard]] WorkParts<T> finish(const Parts<T>& A, const Parts<T>& square, const Parts<T>& fourth);
  // exp(exponent) X, in X's storage where that is real.
  [[nodiscard]] WorkParts<T> times_exponential(std::complex<double> exponent, WorkParts<T> X);
  // Whether A is known, or found, to be Hermitian or skew-Hermitian.
  [[nodiscard]] bool is_normal(const Parts<T>& A, const Parts<T>& columns);
  // A, and what is kept of it, in the recipe's order.
  [[nodiscard]] Parts<T> in_block_order(Parts<T> A, Parts<T>& columns);
  // What is done to A undone in its exponential.
  [[nodiscard]] WorkParts<T> as_given(WorkParts<T> result);
  // A balanced where that was asked for or saves work; `columns` is then empty, and `norm` the new one.
  [[nodiscard]] Parts<T> balanced_where_it_helps(const Parts<T>& A, Parts<T>& columns, double& norm);
  // A copy of it, balanced as the recipe says.
  [[nodiscard]] WorkParts<T> balanced(const Parts<T>& A);
  [[nodiscard]] ProductCosts costs_of(const Parts<T>& A) const;
  // As PowerNorms has it. What a polynomial neglects of a balanced A, whose powers may be small, may be large once D is
  // taken off again, which nobody asked for.
  [[nodiscard]] double least_root() const { return recipe_.balance.empty() || options_.balance ? 0.0 : 1.0; }
  [[nodiscard]] double tolerance() const {
    return options_.tolerance > 0.0 ? options_.tolerance : static_cast<double>(unit_roundoff<T>);
  }

  Communicator comm_;
  ComplexArithmetic<T>* arithmetic_;
  ExpmOptions options_;
  ColumnNorms<T> norms_;
  PartsSolver<T> solver_;
  Structure structure_;  // Of the last A.
  Recipe recipe_;
  int expected_products_ = 0;
  bool headroom_ = false;
  Parts<T> unshifted_;  // While exp of it is made: the last A, balanced, with its mean.
};

}  // namespace heddle::impl

// C - A B and L^-1 X in the arithmetic of a factorization.
#pragma once

#include "emulation/emulated.hpp"
#include "solve/grid/chain.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace heddle::impl {

/// The moduli that round-off needs leave errors like those of one native product, and an elimination adds them up group
/// by group; two more moduli make emulated factors the more accurate ones (docs/notes/solve.md).
inline constexpr int factor_moduli_more = 2;

/// Products of one factorization, on one instance. Native products are the BLAS's, for inner dimensions that are worth
/// a call. Emulated ones are products by integers if the inner dimension is above `chain_width`, each with one rounding
/// for the product and one for the difference, and otherwise chains of fused multiply-adds: the bits of both depend on
/// the element's row of A, column of B and element of C alone.
template <Scalar T> class Subtraction {
 public:
  /// For C of up to rows x columns and inner dimensions up to `inner`. A native product is one BLAS call for each
  /// `piece` columns of C, so that its bits do not depend on the number of pieces. `across`: most rows of take_rows()'s
  /// second argument.
  Subtraction(const ExecutionSpace& space, Arithmetic arithmetic, Index chain_width, Index piece, Index rows,
              Index columns, Index inner, Index across = 0);

  /// Bytes of the workspace of products with C of up to rows x columns, `right` vectors on the right, and the inner
  /// dimensions `inner`, of which `longest` is the longest of the factorization.
  [[nodiscard]] static double bytes(Arithmetic arithmetic, Index chain_width, Index rows, Index columns, Index right,
                                    Index longest, const std::set<Index>& inner);
  /// Add the inner dimensions of the products by which solve() solves with a triangle of `size` rows.
  static void add_inner(Index size, Index chain_width, Triangle triangle, std::set<Index>& inner);

  [[nodiscard]] const ExecutionSpace& space() const { return context_.space(); }
  /// Sets a function that is called from time to time between products; it must not block.
  void set_meanwhile(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  [[nodiscard]] bool native() const { return arithmetic_ == Arithmetic::native; }
  /// C = C - A B; pieces begin at columns of C that are multiples of `piece` when its first column counts as `first`.
  /// Does not block on GPUs. `same_A`: A is that of the last call with this inner dimension, whose residues are reused.
  void operator()(const MatrixView<const T>& A, const MatrixView<const T>& B, const MatrixView<T>& C, Index first = 0,
                  bool same_A = false);
  /// Whether take_rows() serves emulated products of this inner dimension: blocks must begin at multiples that integer
  /// units accept.
  [[nodiscard]] bool takes_rows(Index inner) const {
    return !native() && inner > chain_width_ && chain_width_ % QuantisedVectors<T>::vector_padding == 0;
  }
  /// Computes the residues of rows that subtract_rows() multiplies, valid until the next call; `across` may be `rows`.
  void take_rows(const MatrixView<const T>& rows, const MatrixView<const T>& across);
  /// C = C - A B^H, with the bits of operator(): A has the rows from number `row` on of the taken ones, B those from
  /// number `column` on of `across`, both multiples of the chains' width. Does not block on GPUs.
  void subtract_rows(Index row, Index column, const MatrixView<T>& C);
  /// X = M^-1 X for a triangle M, by halves of whole blocks counted from its first row, in the same pieces. The other
  /// triangle, and a unit diagonal, are not read. Does not block on GPUs.
  void solve(Triangle triangle, Diagonal diagonal, const MatrixView<const T>& M, const MatrixView<T>& X,
             Index first = 0);

 private:
  struct Factors {
    QuantisedVectors<T> left;
    QuantisedVectors<T> right;
  };
  Factors& factors_of(Index inner);
  void quantise(QuantisedVectors<T>& vectors, Operation op, const MatrixView<const T>& X);
  void subtract_natively(const MatrixView<const T>& A, const MatrixView<const T>& B, const MatrixView<T>& C,
                         Index first);
  void subtract_emulated(const MatrixView<const T>& A, const MatrixView<const T>& B, const MatrixView<T>& C,
                         bool same_A);

  blas::Context context_;
  Arithmetic arithmetic_;
  Index chain_width_;
  Index piece_;
  Index rows_;
  Index columns_;
  Index across_;
  int moduli_ = 0;
  std::unique_ptr<EmulatedProduct<T>> product_;  // Created on first use.
  std::map<Index, Factors> factors_;             // By the inner dimension.
  QuantisedOperands<T> taken_{};                 // By take_rows().
  std::function<void()> meanwhile_;
};

}  // namespace heddle::impl

// General square matrices whose rows and columns are made alike in size, for eigenvalues.
#pragma once

#include <heddle/core/scalar.hpp>

#include <vector>

namespace heddle::impl::interpose {

/// A becomes P^-1 D^-1 A D P: a permutation moves rows that are zero but for their diagonal to the end, and columns to
/// the beginning, so that only rows and columns low ... high - 1 are left to be looked at; these are scaled by powers
/// of two, without rounding, until a row's and its column's sums of magnitudes differ by little (B. N. Parlett, C.
/// Reinsch, Numer. Math. 13, 1969; with the diagonal in the sums, after R. James, J. Langou, B. R. Lowery, 2014).
template <Scalar T> class Balance {
 public:
  using R = Real<T>;
  /// Without the scaling unless `scaled`.
  Balance(Index n, T* A, Index leading, bool scaled);

  [[nodiscard]] Index low() const { return low_; }
  [[nodiscard]] Index high() const { return high_; }
  /// Eigenvectors of A from those of the balanced matrix: right ones by D P, left ones by D^-1 P.
  void restore(bool left, Index columns, T* V, Index leading) const;

 private:
  void exchange(Index one, Index other);
  bool isolate_row();
  bool isolate_column();
  bool scale();

  Index n_;
  T* A_;
  Index leading_;
  Index low_ = 0;
  Index high_;
  std::vector<int> exponents_;    // Of D.
  std::vector<Index> exchanged_;  // Of each place outside, with which it changed.
};

}  // namespace heddle::impl::interpose

// Singular values and vectors of any matrix, in a fixed sequence of operations.
#pragma once

#include <heddle/core/scalar.hpp>

#include <vector>

namespace heddle::impl::interpose {

/// How many singular vectors there are to be: none, as many as the smaller extent, or a whole unitary matrix.
enum class Vectors { none, some, all };

/// A matrix of any shape as Q S of Q's reflectors and a square matrix S, or where it has more columns than rows as
/// (Q S)^H; Q is the identity's where it is square. Its numbers are scaled by a power of two, so that the largest part
/// is near 1.
template <Scalar T> struct SquarePart {
  SquarePart(Index m, Index n, const T* A, Index leading);
  /// C = Q C or Q^H C.
  void multiply_with_q(bool adjoint, Index columns, T* C, Index leading) const;

  bool flipped;      ///< More columns than rows.
  bool finite;       ///< Without NaN and infinity; otherwise nothing else is there but what follows.
  bool number;       ///< Without NaN.
  Index rows;        ///< Of Q, the larger extent.
  Index order;       ///< Of S, the smaller one.
  int exponent;      ///< A's numbers are 2^exponent times these.
  std::vector<T> S;  ///< By columns.

 private:
  std::vector<T> reflectors_;
  std::vector<T> tau_;
};

/// S = U diag(d) V^H of a square matrix by columns, which is destroyed: d descending, U and V square where they are
/// wanted and else empty. By reflectors to a bidiagonal matrix, whose columns' and rows' products are sums of eight
/// partial ones, and that by diagonalise(). Every element has its operations in one order, whatever the number of
/// threads. Cost: 8/3 n^3 operations, and about 8 n^3 for each of U and V. Returns 0, or how many elements beside the
/// diagonal did not converge.
template <Scalar T>
Index square_svd(Index n, std::vector<T>& S, bool left, bool right, std::vector<Real<T>>& d, std::vector<T>& U,
                 std::vector<T>& V);

/// A = U diag(s) V^H, s descending: m x n, U m x min(m, n) or m x m, V n x min(m, n) or n x n, by columns.
template <Scalar T> struct Svd {
  Svd(Index m, Index n, const T* A, Index leading, Vectors left, Vectors right);

  std::vector<Real<T>> values;
  std::vector<T> U;
  std::vector<T> V;
  bool number;    ///< Whether A is without NaN.
  Index missing;  ///< 0, or how many elements did not converge, as those of matrices with NaN or infinity don't: all
                  ///< is NaN for these.
};

}  // namespace heddle::impl::interpose

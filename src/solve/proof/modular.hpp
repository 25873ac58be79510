// Proofs that elements of solutions are given numbers, from solutions modulo primes.
#pragma once

#include "exact/products/inner.hpp"
#include "solve/grid/placed_matrix.hpp"

#include <optional>
#include <vector>

namespace heddle::impl {

/// The claim that a part of an element of X is (low + high) / 2.
struct Claim {
  Index row;
  Index column;
  int part;  ///< 0, or 1 for the imaginary part.
  double low;
  double high;
  bool proven = false;
};

/// Sets `proven` for the claims that hold for the solution X of M X = B, M regular.
///
/// Rows of [M B] times powers of two are integers. A claim says that a certain integer, of which Hadamard's inequality
/// bounds the size, is zero: by Cramer's rule the difference of two determinants. It holds if that is so modulo primes
/// whose product is above the bound, that is if X modulo each prime has the claimed element (J. D. Dixon, "Exact
/// solution of linear equations using p-adic expansions", 1982, has the bound). Complex systems are real ones of twice
/// the order.
///
/// Nothing is done if that takes more than some 4e9 operations: for random numbers of double beyond an order of some
/// 150, for small integers beyond 300. Collective; `claims` are alike on every rank. Cost: n^3 / 3 operations for each
/// 30 bits of the bound, shared by the ranks and their host threads, and n^2 numbers of every rank.
template <Scalar T> void prove(const PlacedMatrix<T>& M, const PlacedMatrix<T>& B, std::vector<Claim>& claims);

/// number 2^exponent, with parts that round as those of a determinant; the larger one is in [1/2, 1) in size, unless
/// both are zero.
template <Scalar T> struct ExactDeterminant {
  exact::impl::ExactSum<T> number;
  Index exponent = 0;
};
/// Return the determinant of a matrix of finite numbers, from determinants modulo so many primes that their product is
/// above twice Hadamard's bound, by the Chinese remainder theorem. In complex matrices i is replaced by both roots of
/// -1 modulo primes that have them. None if it takes more than some 4e9 operations, as above. Collective. Cost: n^3 / 3
/// operations (complex: twice that) for each 30 bits of the bound, shared as above.
template <Scalar T>
[[nodiscard]] std::optional<ExactDeterminant<T>> determinant_modulo_primes(const PlacedMatrix<T>& M);

}  // namespace heddle::impl

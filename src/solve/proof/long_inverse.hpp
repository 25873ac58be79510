// Inverses whose elements are the numbers nearest to the exact ones.
#pragma once

#include "solve/proof/correct_rounding.hpp"

#include <vector>

namespace heddle::impl {

/// Replaces an approximate inverse V of R A C, R and C with powers of two `rows` and `columns`, by the inverse C V R of
/// A, each element (of complex numbers each part) rounded once, ties to even, as far as that can be proven. V is not
/// changed if no bound of the errors is.
///
/// All columns are refined together: for Z = V, scaled once more so that rows and columns have one size, and S = R A C
/// likewise, each step computes E = I - S Z and Z + Z (E + E^2 + E^3) by long products (LongProduct), with the bound
/// |E|^4 / (1 - |E|) of the series' remainder in norms of infinity, beside those of all roundings. Elements that stay
/// undecided may be zero or half way between two numbers: patterns of zeros in S and V prove the former for block
/// triangular matrices, prove() both for small ones; up to 256 columns with others, as with elements that are far
/// smaller than others of their row and column, are refined as round_correctly() does.
///
/// A in any placement, V in blocks of whole columns. Collective. Bits: a decided element depends on A alone. Cost: for
/// each step (one for well-conditioned matrices of double, two or three of float) some 30 products of order n, and a
/// rounding of all elements on every rank. Memory: 18 matrices of double.
template <Scalar T>
[[nodiscard]] RoundingReport round_inverse(const PlacedMatrix<T>& A, const PlacedMatrix<T>& V,
                                           const std::vector<Index>& rows, const std::vector<Index>& columns);

}  // namespace heddle::impl

// Solutions whose elements are the numbers nearest to the exact ones.
#pragma once

#include "solve/proof/certificate.hpp"
#include <heddle/solve/solve.hpp>

namespace heddle::impl {

/// Replaces approximate solutions X of M X = B by the exact ones, each element of `rows` (of complex numbers each part)
/// rounded once, ties to even, as far as that can be proven; M is the matrix of `inverse`. X is not changed if the
/// error of a column cannot be bounded.
///
/// A column z of C^-1 X, times a power of two, is held as an unevaluated sum of several T. Each step adds V r for the
/// exact residual r = R b - S z, rounded once, and bounds the new error by |G| |e|, the rounding of V r and that of r
/// (ApproximateInverse has the notation). An element is decided if both ends of its enclosure round to one number; the
/// enclosure is a point where the residual is zero. Elements that stay undecided may be zero or half way between two
/// numbers, which prove() decides for small systems.
///
/// X and B have one placement, in blocks of whole columns. Collective. Bits: a decided element depends on M and B
/// alone. Cost: for each column some three steps (at most 200), each an exact product with S for each T of the sum, one
/// with V, and a few passes over S and V.
template <Scalar T>
[[nodiscard]] RoundingReport round_correctly(const PlacedMatrix<T>& M, const ApproximateInverse<T>& inverse,
                                             const PlacedMatrix<T>& B, const PlacedMatrix<T>& X, Range rows);

}  // namespace heddle::impl

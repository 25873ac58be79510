// Correctly rounded rows of solutions of a system that is scaled beforehand.
#pragma once

#include "solve/system/equilibration.hpp"
#include <heddle/solve/solve.hpp>

namespace heddle::impl {

/// solve() of A X = B with Rounding::correct, which concerns `rows` of X alone, by the factors of A scaled by
/// `scaling`. If nothing is proven, X may be unchanged. Collective.
template <Scalar T>
[[nodiscard]] RoundingReport solve_rounded(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                                           const FactorOptions& options, const Equilibration<T>& scaling, Range rows);

}  // namespace heddle::impl

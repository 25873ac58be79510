// Proven bounds of the errors of solutions.
#pragma once

#include "solve/grid/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// Return a proven bound of the largest |x_j - M^-1 b_j| / |x_j|, in norms of infinity, over the right-hand sides b_j
/// of a matrix M: infinite if none could be proven, 0 if all solutions are zero.
///
/// With S = R M C for diagonal powers of two R and C, any V, G = I - V S and a residual r = b - M x: if |G| < 1, M is
/// regular, and the error e of C^-1 x, which is V R r + G e, is in element i at most |V R r|_i + |G|_i |V R r| / (1 -
/// |G|), |G|_i being the sum over row i (S. Rump, "Verification methods", Acta Numerica 19, 2010, section 10). Powers
/// of two are kept separately, so that no size over- or underflows. `A` holds S, each element rounded once, `inverse`
/// V, ideally an approximate inverse, and `residuals` r, times 2^p for the power p of its column, with each element
/// rounded once; `rows` and `columns` are the exponents of R and C. V S is computed natively, and |G| is enlarged by
/// the error bound of such products, (n + 2) u |V| |S| for real numbers; V R r is rounded once from its exact value;
/// sums of absolute values are in double precision and enlarged by the bound of their own roundings.
///
/// X and `residuals` have one placement, in blocks of whole columns; A and V have any. Collective. Bits: no promise.
/// Cost: a product of A's order, an exact product for each right-hand side, and as much memory as A.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): a scaled system, its solution and residuals
[[nodiscard]] double proven_error(const PlacedMatrix<T>& A, const PlacedMatrix<T>& inverse, const PlacedMatrix<T>& X,
                                  const PlacedMatrix<T>& residuals, const std::vector<Index>& powers,
                                  const std::vector<Index>& rows, const std::vector<Index>& columns);

}  // namespace heddle::impl

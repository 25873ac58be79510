// Proven bounds of the errors of solutions.
#pragma once

#include "solve/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// A proven bound of the largest |x_j - A^-1 b_j| / |x_j|, in norms of infinity, over the right-hand sides b_j:
/// infinity where none could be proven, 0 where all are exact.
///
/// With any R, G = I - R A and a residual r = b - A x: if |G| < 1, A is regular and |x - A^-1 b| <= |R r| / (1 - |G|)
/// (S. Rump, "Verification methods", Acta Numerica 19, 2010, section 10). `inverse` is R, best an approximate inverse,
/// and `residuals` holds r, times 2^p for the power p of its column, with each element rounded once. R A is computed
/// natively, and |G| taken to be as large as it may be by the bound of such products, (n + 2) u |R| |A| for real
/// numbers; sums of absolute values are in double precision and enlarged by what their own roundings may come to.
///
/// X and `residuals` have one placement, in blocks of whole columns; A and R have any. Collective. Bits: none. Cost: a
/// product of A's order, and as much memory as A.
template <Scalar T>
[[nodiscard]] double proven_error(const PlacedMatrix<T>& A, const PlacedMatrix<T>& inverse, const PlacedMatrix<T>& X,
                                  const PlacedMatrix<T>& residuals, const std::vector<Index>& powers);

}  // namespace heddle::impl

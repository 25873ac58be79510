// A proof of how far a matrix is from an exponential.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/split_matrix.hpp>

namespace heddle::impl {

struct Certificate {
  /// Upper bound of ||E - exp(A)||_1 / ||exp(A)||_1; infinity where none was found.
  double bound = 0.0;
  int limbs = 0;  ///< Of the exponential that E was compared with.
  int width = 0;  ///< Bits of a limb.
  int squarings = 0;
  int attempts = 0;    ///< Exponentials computed, with more limbs each.
  Index products = 0;  ///< Real n x n products in all.
};

/// Certifies E = exp(A), both n x n with at least one part in any placement. exp(A) is computed anew, by scaling and
/// squaring in fixed-point matrices of as many limbs as it takes, with exact products and a bound of every other error;
/// E is compared with that.
///
/// With F_k for exp(A / 2^(s-k)) and D_k what F_k is off: D_(k+1) = F_k D_k + D_k F_k - D_k^2 + R, where R is what the
/// product left out. The bounds of D are carried on in the 1-norm, with ||F_k||_1 as measured, and in the 2-norm, with
/// the least of sqrt(||F_k||_1 ||F_k||_infinity), exp(m) where m bounds the eigenvalues of (A + A^H) / 2^(s-k+1), and,
/// for Hermitian A, ||exp(A)||_2^(2^(k-s)). A is balanced first where that makes it smaller; the bound is that of the
/// matrix as it was.
///
/// `roundoff`: unit round-off of what E was computed in: digits are added until the proof's own part of the bound is
/// below 4 n roundoff or a tenth of the distance found. `tile`: of the products, 0: chosen; it changes no bit, nor
/// does `alone`: matrices of at most so many rows are certified on rank 0, as messages would take longer than products.
/// Collective; blocks. Bits: for one A and E the same on any number of ranks.
template <RealScalar T>
[[nodiscard]] Certificate certify(const Communicator& comm, const SplitMatrix<T>& A, const SplitMatrix<T>& E,
                                  double roundoff, Index tile = 0, Index alone = 256);

}  // namespace heddle::impl

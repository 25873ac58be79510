// Certificates: proven bounds of the distance between a matrix and an exponential.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/split_matrix.hpp>

namespace heddle::impl {

struct Certificate {
  /// Upper bound of ||E - exp(A)||_1 / ||exp(A)||_1; infinity if none was found.
  double bound = 0.0;
  int limbs = 0;  ///< Number of limbs of the exponential that E was compared with.
  int width = 0;  ///< Bits of a limb.
  int squarings = 0;
  int attempts = 0;    ///< Number of exponentials computed, each with more limbs.
  Index products = 0;  ///< Real n x n products in all.
};

/// Certifies E = exp(A), both n x n with at least one part in any placement. exp(A) is computed again, by scaling and
/// squaring in fixed-point matrices of as many limbs as necessary, with exact products and a bound of every other
/// error, and E is compared with it.
///
/// With F_k for exp(A / 2^(s-k)) and its error D_k: D_(k+1) = F_k D_k + D_k F_k - D_k^2 + R, where R is the error of
/// the product. The bounds of D are computed in the 1-norm, with ||F_k||_1 as measured, and in the 2-norm, with the
/// least of sqrt(||F_k||_1 ||F_k||_infinity), exp(m) where m bounds the eigenvalues of (A + A^H) / 2^(s-k+1), and, for
/// Hermitian A, ||exp(A)||_2^(2^(k-s)). A is balanced first where that makes it smaller; the bound holds for the
/// original matrix.
///
/// `roundoff`: unit round-off of E's arithmetic: digits are added until the proof's own part of the bound is below 4 n
/// roundoff or a tenth of the distance found. `tile`: tile of the products, 0: chosen here. `alone`: matrices of at
/// most so many rows are certified on rank 0, as messages would take longer than products. Neither changes any bit.
/// Collective; blocks. Bits: for one A and E the same on any number of ranks.
template <RealScalar T>
[[nodiscard]] Certificate certify(const Communicator& comm, const SplitMatrix<T>& A, const SplitMatrix<T>& E,
                                  double roundoff, Index tile = 0, Index alone = 256);

}  // namespace heddle::impl

// Positive definite matrices whose diagonal spans more powers of two than products of elements can.
#pragma once

#include <heddle/core/strided.hpp>
#include <heddle/eigen/jacobi.hpp>

#include <limits>

namespace heddle::eigen::impl {

/// Powers of two that the diagonal may span where products of two inner products are compared (small matrices), and
/// where nothing but inner products themselves must not underflow (block columns; rotations of whole matrices).
/// Eigenvalues may be less than the diagonal by the condition of the scaled matrix; that is counted.
template <class R> inline constexpr int small_spread = std::numeric_limits<R>::digits > 24 ? 400 : 24;
template <class R> inline constexpr int large_spread = std::numeric_limits<R>::digits > 24 ? 800 : 80;

/// A diagonal that spans more powers of two has its columns sorted, the largest first, before they are factored.
/// One-sided rotations of the factor converge in any order, but, begun with the smallest, only by 1/u a sweep.
inline constexpr int sorted_spread = 4;

/// Eigenvalues and eigenvectors of A = D S D, D powers of two and S with a diagonal between 1 and 4, over the whole
/// range of the type: float's in double, double's on the host with an exponent for each row and column.
///
/// `round_robin` up to n = 64, `cyclic` and `round_robin` rotate S from both sides in the order asked for, D beside it;
/// others the columns of the Cholesky factor, largest first, each with its exponent, in the order of Brent and Luk (J.
/// Demmel, K. Veselic, SIAM J. Matrix Anal. Appl. 13, 1204 (1992), algorithm 4.4). Sets the report's accuracy and what
/// follows it; false, and nothing written, where A is not positive definite. Blocks. Bits: reproducible for any number
/// of threads.
template <Scalar T>
[[nodiscard]] bool solve_graded(const ExecutionSpace& space, const StridedMatrix<const T>& A,
                                const StridedVector<Real<T>>& w, const StridedMatrix<T>* V,
                                const JacobiOptions& options, JacobiReport& report);

}  // namespace heddle::eigen::impl

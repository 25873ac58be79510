// Diagonal similarities that make a badly scaled matrix smaller.
#pragma once

#include "expm/arithmetic/parts.hpp"

#include <span>
#include <vector>

namespace heddle::impl {

/// B = D^-1 A D with D = diag(2^exponents).
struct Balance {
  /// Whether D changes A; the exponents are zero otherwise.
  bool needed = false;
  std::vector<int> exponents;
  double norm_before = 0.0;  ///< ||A||_1, with |Re a| + |Im a| for |a|.
  double norm_after = 0.0;   ///< ||B||_1.
  int sweeps = 0;
};

/// Find D such that the rows and columns of B have 1-norms about equal: within a factor 2 before the exponents are
/// rounded to integers, within 4 after, if `sweeps` is below 20; ||B||_1 is at most 0.95 ||A||_1 if D is not 1.
///
/// One sweep scales all rows and columns at once. Alone, row and column i with norms r and c would both become sqrt(r
/// c) (E. Osborne 1960, B. Parlett, C. Reinsch 1969). All at once may overshoot; exponents half as large do not, as
/// each element is then the geometric mean, so at most the arithmetic one, of its values under its row's and its
/// column's own scaling: their sum falls to sum_i sqrt(r_i c_i) or less. The first sweeps are not halved, until one
/// falls short of that.
/// Norms are those of whole rows and columns, diagonal included, and those within a factor 1.93 stay, so that elements
/// small beside the diagonal are not enlarged (after R. James, J. Langou, B. Lowery 2014). `least` is added to each
/// norm: rows and columns of zeros, and all whose elements belong to no cycle, are reduced to about that, or stay
/// unchanged if it is 0. Rows and columns are not permuted. The changes at the ends of a chain of neighbours fade
/// towards its middle: long chains, as in banded matrices, may stay unbalanced. Exponents are within 511 of 0, so that
/// the difference of two is the exponent of a normal number.
///
/// A in row bands over all ranks, real, imaginary or both. NaN and Inf: not balanced. Bits: rank-invariant (sums over
/// columns are sums of integers). Collective; blocks. Cost: three passes over A if it is balanced, and three more for
/// each sweep and the last check.
template <RealScalar T> [[nodiscard]] Balance balance(const Communicator& comm, const Parts<T>& A, double least = 0.0);

/// X = D^-1 X D in place: x_ij 2^(e_j - e_i), rounded once if it leaves the normal range. Blocks. Cost: one pass.
template <RealScalar T> void apply_balance(const Communicator& comm, std::span<const int> exponents, WorkParts<T>& X);
/// X = D X D^-1: undo apply_balance(), to the bit unless it underflowed; exp(A) = D exp(B) D^-1.
template <RealScalar T> void undo_balance(const Communicator& comm, std::span<const int> exponents, WorkParts<T>& X);

}  // namespace heddle::impl

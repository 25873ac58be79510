// QR with pivoting, and least squares by it.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl::interpose {

/// A P = Q R of an m x n matrix, as LAPACK's geqp3 keeps it: before each reflector, of the columns that are left the
/// one that is longest below the rows that are done changes places with the first, the first of equals. Lengths are
/// taken on from one step to the next while enough of their digits are left (Z. Drmac, Z. Bujanovic, ACM TOMS 35,
/// 2008). Columns whose pivot is not zero before stay in front. Pivots count from 1.
template <Scalar T, class I> void geqp3(Index m, Index n, T* A, Index leading, I* pivots, T* tau);

/// The shortest of the x that minimise |b - A x|, for each column b of B, which has max(m, n) rows; x takes the place
/// of its first n. As many rows of R count as form a leading triangle whose largest singular value is less than 1 /
/// relative times the smallest; they are made a triangle T by QR from the other side. A becomes T, what R has beside
/// and below it, and the reflectors. Returns how many rows count.
template <Scalar T, class I>
Index solve_by_geqp3(Index m, Index n, Index columns, T* A, Index leading, T* B, Index leading_b, I* pivots,
                     Real<T> relative);

}  // namespace heddle::impl::interpose

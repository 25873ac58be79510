// Scaling of right-hand sides and solutions, so that no intermediate number over- or underflows.
#pragma once

#include "solve/grid/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// Numbers of this rank's columns.
using OfColumns = Kokkos::View<Index*, MemorySpace>;

/// Return 1 for each of this rank's columns that holds a number that is not finite, and 0 for the others. M in blocks
/// of whole columns.
template <Scalar T> [[nodiscard]] OfColumns columns_not_finite(const PlacedMatrix<T>& M);

/// b_ij = b_ij 2^(rows_i + p_j), rounded once, for B in blocks of whole columns; returns p of this rank's columns. p_j
/// is 0 unless a number of the column would exceed 2^-room times the largest one, or be denormal: it then brings the
/// largest to the root of the range's end, or the smallest up as far as that allows. If `careful` is 1 (an empty view:
/// 0) it brings the largest down, for systems whose solution overflowed before it was scaled back: to the root of the
/// range's lower end times 2^size, the size of the matrix, so that neither the solution nor products with it need leave
/// the range.
///
/// Bits: powers of two that follow from a column and `rows` alone. Ordered on B's instance.
template <Scalar T>
[[nodiscard]] OfColumns scale_right(const PlacedMatrix<T>& B, const std::vector<Index>& rows,
                                    const OfColumns& careful = {}, Index size = 0, Index room = 0);
/// x_ij = x_ij 2^(rows_i - p_j - more_j), rounded once; more_j belongs to column j of the whole matrix, and is 0 if the
/// list is empty.
template <Scalar T>
void scale_solution(const PlacedMatrix<T>& X, const std::vector<Index>& rows, const OfColumns& powers,
                    const std::vector<Index>& more = {});

/// X = X + R, in one placement, except elements of R that are not finite: those of an overflowed solution carry no
/// information.
template <Scalar T> void correct(const PlacedMatrix<T>& X, const PlacedMatrix<T>& R);

/// Replaces elements of X that are not finite by those of Y, in one placement.
template <Scalar T> void take_for_not_finite(const PlacedMatrix<T>& X, const PlacedMatrix<T>& Y);

/// Return the first column of X, counted from 1, that holds a number that is not finite while B's column is finite, or
/// 0. Both in the same blocks of whole columns. Collective.
template <Scalar T> [[nodiscard]] Index first_overflow(const PlacedMatrix<T>& B, const PlacedMatrix<T>& X);

}  // namespace heddle::impl

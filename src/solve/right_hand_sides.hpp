// Right-hand sides and solutions, scaled so that no number of theirs over- or underflows on its way.
#pragma once

#include "solve/placed_matrix.hpp"

#include <vector>

namespace heddle::impl {

/// Numbers of this rank's columns.
using OfColumns = Kokkos::View<Index*, MemorySpace>;

/// 1 for each of this rank's columns that holds a number that is not finite, and 0 for the others. M in blocks of whole
/// columns.
template <Scalar T> [[nodiscard]] OfColumns columns_not_finite(const PlacedMatrix<T>& M);

/// b_ij = b_ij 2^(rows_i + p_j), rounded once, for B in blocks of whole columns; returns p of this rank's columns. p_j
/// is 0 but where a number of the column would be above 2^-room times the largest one, or one be denormal: it brings
/// the largest to the root of the range's end then, or the smallest up as far as that allows. Where `careful` says 1 it
/// brings the largest down, for systems whose solution overflowed before it was scaled back: to the root of the range's
/// lower end times 2^size, the size of the matrix, so that neither what is solved for nor products with it need leave
/// the range; an empty view says 0.
///
/// Bits: powers of two, which follow from a column and `rows` alone. Ordered on B's instance.
template <Scalar T>
[[nodiscard]] OfColumns scale_right(const PlacedMatrix<T>& B, const std::vector<Index>& rows,
                                    const OfColumns& careful = {}, Index size = 0, Index room = 0);
/// x_ij = x_ij 2^(rows_i - p_j - more_j), rounded once; more_j is of column j of the whole matrix, and none of an empty
/// list.
template <Scalar T>
void scale_solution(const PlacedMatrix<T>& X, const std::vector<Index>& rows, const OfColumns& powers,
                    const std::vector<Index>& more = {});

/// X = X + R, of one placement, but for elements of R that are not finite: those of a solution that overflows say
/// nothing.
template <Scalar T> void correct(const PlacedMatrix<T>& X, const PlacedMatrix<T>& R);

/// Elements of X that are not finite become those of Y, of one placement.
template <Scalar T> void take_for_not_finite(const PlacedMatrix<T>& X, const PlacedMatrix<T>& Y);

/// The first column of X, counted from 1, that holds a number that is not finite while B's column is finite; 0 where
/// none does. Both in the same blocks of whole columns. Collective.
template <Scalar T> [[nodiscard]] Index first_overflow(const PlacedMatrix<T>& B, const PlacedMatrix<T>& X);

}  // namespace heddle::impl

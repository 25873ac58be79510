// Bidiagonal matrices, which singular values are found from.
#pragma once

#include "interpose/eigen/fixed_order.hpp"

namespace heddle::impl::interpose {

/// The upper bidiagonal matrix of d and the n - 1 numbers e above it becomes diagonal by implicit QR: with a shift, or
/// without one where a shift would cost small singular values their relative accuracy (J. Demmel, W. Kahan, SISSC 11,
/// 1990); from whichever end is larger to the other. `left` and `right` get the rotations of the columns of U and V of
/// U B V^H. The largest elements are to be near 1; d is neither sorted nor made positive. Returns how many of e are not
/// zero at the end, 0 but for matrices that hold no numbers.
template <Scalar T> Index diagonalise(Index n, Real<T>* d, Real<T>* e, Rotations<T>& left, Rotations<T>& right);

}  // namespace heddle::impl::interpose

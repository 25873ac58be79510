// BLAS 1 that moves numbers and rotates pairs of them.
#pragma once

#include "interpose/blas/vectors.hpp"

namespace heddle::impl::interpose {

/// The index, from 0, of the first of the largest |Re x| + |Im x|; one that is no number is larger than others only
/// where it is the first. -1 where there is none.
template <Scalar T> Index largest_of(Index n, const T* x, Index step);
template <Scalar T> void copy(Index n, const T* x, Index step_x, T* y, Index step_y);
template <Scalar T> void swap(Index n, T* x, Index step_x, T* y, Index step_y);

/// (x, y) = (c x + s y, c y - conj(s) x): multiply_add(c, x, s y), part by part where c and s are real.
template <Scalar T, class S>
void rotate(Index n, T* x, Index step_x, T* y, Index step_y, Real<T> cosine, const S& sine);
/// The rotation that takes (a, b) to (r, 0): r in a's place, and of real numbers in b's what c and s can be had from.
/// Numbers are scaled by a power of two first, so that squares neither overflow nor vanish.
template <Scalar T> void make_rotation(T& a, T& b, Real<T>& cosine, T& sine);

/// H (x, y) of the modified rotation that `parameters` describe as in the reference BLAS: -1, 0, 1 or -2 for H with all
/// elements, with ones on the diagonal, off it, or the identity; then h11, h21, h12, h22.
template <RealScalar T> void rotate_modified(Index n, T* x, Index step_x, T* y, Index step_y, const T* parameters);
/// The modified rotation that takes (root(d1) x1, root(d2) y1) to (r, 0), after S. Hammarling, and C. L. Lawson et al.,
/// ACM TOMS 5, 1979: d1, d2 and x1 change with it, scaled by 4096 while they are far from 1.
template <RealScalar T> void make_modified_rotation(T& d1, T& d2, T& x1, T y1, T* parameters);

}  // namespace heddle::impl::interpose

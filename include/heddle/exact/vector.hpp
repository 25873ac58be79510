// Elementwise operations on vectors, each of which is rounded once.
#pragma once

#include <heddle/exact/reduce.hpp>

namespace heddle::exact {

namespace compiled {

template <Scalar T> void scal(const ExecutionSpace& space, T alpha, const StridedVector<T>& x);
template <Scalar T> void invscal(const ExecutionSpace& space, T alpha, const StridedVector<T>& x);
template <Scalar T>
void axpy(const ExecutionSpace& space, T alpha, const StridedVector<const T>& x, const StridedVector<T>& y);

}  // namespace compiled

/// Computes x = alpha x with every element correctly rounded (for complex numbers each part, unlike a plain product).
/// Any stride. Blocks. Cost: that of reading and writing x.
template <class View> void scal(const ExecutionSpace& space, typename View::non_const_value_type alpha, const View& x) {
  compiled::scal<typename View::non_const_value_type>(space, alpha, strided(x));
}

/// Computes x = x / alpha by division, not by a product with the inverse, with every element correctly rounded. For
/// complex numbers, each part of the exact quotient is correctly rounded over the whole range: it overflows only if the
/// exact one does, and denormal parts are rounded once too. Any stride. Blocks.
///
/// Complex numbers divided by c + id: if c or d is zero, both parts are divided by the nonzero one, as real numbers
/// are. Otherwise a part that is zero has the sign that IEEE 754 gives to ac + bd or bc - ad. For an infinite a + ib
/// the parts are those sums, infinite or NaNs; a finite number divided by infinite c or d is zero; all other quotients
/// of such numbers are NaNs. Cost: some 60 flops, and some 10^4 integer operations if these don't decide how the
/// quotient rounds, as at ties and among denormal numbers.
template <class View>
void invscal(const ExecutionSpace& space, typename View::non_const_value_type alpha, const View& x) {
  compiled::invscal<typename View::non_const_value_type>(space, alpha, strided(x));
}

/// Computes y = alpha x + y with every element rounded once (for complex numbers, each part). y may be x itself but
/// must not overlap it otherwise. Throws Error(argument) for unequal lengths. Any strides. Blocks.
template <class ViewX, class ViewY>
void axpy(const ExecutionSpace& space, typename ViewY::non_const_value_type alpha, const ViewX& x, const ViewY& y) {
  compiled::axpy<typename ViewY::non_const_value_type>(space, alpha, strided(x), strided(y));
}

}  // namespace heddle::exact

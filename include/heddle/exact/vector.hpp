// Vectors, element by element, each rounded once.
#pragma once

#include <heddle/exact/reduce.hpp>

namespace heddle::exact {

namespace compiled {

template <Scalar T> void scal(const ExecutionSpace& space, T alpha, const StridedVector<T>& x);
template <Scalar T> void invscal(const ExecutionSpace& space, T alpha, const StridedVector<T>& x);
template <Scalar T>
void axpy(const ExecutionSpace& space, T alpha, const StridedVector<const T>& x, const StridedVector<T>& y);

}  // namespace compiled

/// x = alpha x: every element correctly rounded (of complex numbers, each part, which plain products are not). Any
/// stride. Blocks. Cost: that of reading and writing x.
template <class View> void scal(const ExecutionSpace& space, typename View::non_const_value_type alpha, const View& x) {
  compiled::scal<typename View::non_const_value_type>(space, alpha, strided(x));
}

/// x = x / alpha, by division, not by a product with the inverse: every element correctly rounded, of complex numbers
/// each part of the exact quotient, over the whole range: it overflows only where the exact one does, and denormal
/// parts are rounded once too. Otherwise as scal().
///
/// Complex numbers by c + id, where c or d is zero: both parts are divided by the other as real numbers are. Else a
/// zero part has the sign that IEEE 754 gives to ac + bd or bc - ad. Of infinite a + ib the parts are those sums,
/// infinite or NaNs; finite numbers by infinite c or d are zero; else NaNs. Cost: some 60 flops, and where these don't
/// tell how the quotient rounds, as at ties and among denormal numbers, some 10^4 integer operations.
template <class View>
void invscal(const ExecutionSpace& space, typename View::non_const_value_type alpha, const View& x) {
  compiled::invscal<typename View::non_const_value_type>(space, alpha, strided(x));
}

/// y = alpha x + y, every element (each part) rounded once. y must not overlap x but be it. Throws Error(argument) for
/// unequal lengths. Otherwise as scal().
template <class ViewX, class ViewY>
void axpy(const ExecutionSpace& space, typename ViewY::non_const_value_type alpha, const ViewX& x, const ViewY& y) {
  compiled::axpy<typename ViewY::non_const_value_type>(space, alpha, strided(x), strided(y));
}

}  // namespace heddle::exact

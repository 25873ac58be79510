// Vectors, element by element, each rounded once.
#pragma once

#include <heddle/exact/reduce.hpp>

namespace heddle::exact {

namespace impl {

template <Scalar T> void scal(const ExecutionSpace& space, T alpha, const VectorView<T>& x);
template <Scalar T> void invscal(const ExecutionSpace& space, T alpha, const VectorView<T>& x);
template <Scalar T>
void axpy(const ExecutionSpace& space, T alpha, const VectorView<const T>& x, const VectorView<T>& y);

}  // namespace impl

/// x = alpha x: every element correctly rounded (of complex numbers, each part, which plain products are not). Any
/// stride. Blocks. Cost: that of reading and writing x.
template <class View> void scal(const ExecutionSpace& space, typename View::non_const_value_type alpha, const View& x) {
  impl::scal<typename View::non_const_value_type>(space, alpha, impl::vector_to(x));
}

/// x = x / alpha, by division, not by a product with the inverse: every element correctly rounded. Complex quotients
/// are reproducible, each part within 2 units of the last place where nothing over- or underflows. Otherwise as scal().
template <class View>
void invscal(const ExecutionSpace& space, typename View::non_const_value_type alpha, const View& x) {
  impl::invscal<typename View::non_const_value_type>(space, alpha, impl::vector_to(x));
}

/// y = alpha x + y, every element (each part) rounded once. y must not overlap x but be it. Throws Error(argument) for
/// unequal lengths. Otherwise as scal().
template <class ViewX, class ViewY>
void axpy(const ExecutionSpace& space, typename ViewY::non_const_value_type alpha, const ViewX& x, const ViewY& y) {
  impl::axpy<typename ViewY::non_const_value_type>(space, alpha, impl::vector_of(x), impl::vector_to(y));
}

}  // namespace heddle::exact

// Sums and inner products, correctly rounded.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <type_traits>

namespace heddle::exact {

namespace compiled {

template <Scalar T> T sum(const ExecutionSpace& space, const StridedVector<const T>& x);
template <Scalar T> Real<T> asum(const ExecutionSpace& space, const StridedVector<const T>& x);
template <Scalar T>
T dot(const ExecutionSpace& space, const StridedVector<const T>& x, const StridedVector<const T>& y, bool conjugated);
template <Scalar T> Real<T> nrm2(const ExecutionSpace& space, const StridedVector<const T>& x);

}  // namespace compiled

/// x_1 + ... + x_n, as if computed exactly and rounded once, to nearest, ties to even; 0 of no elements. float, double,
/// and Kokkos::complex of both, of which each part is rounded once.
///
/// The same bits for any order of the elements, number of threads and backend, whatever the caller's rounding mode.
/// Infinities and NaNs as in Accumulator; -0 only where every element is. Blocks. Cost: one pass over x, as fast as
/// memory (9 flops a number), where twice the precision tells how the sum rounds; where it does not, as with sums that
/// cancel, another, several times slower.
template <class View> [[nodiscard]] auto sum(const ExecutionSpace& space, const View& x) {
  return compiled::sum<typename View::non_const_value_type>(space, strided(x));
}

/// |x_1| + ... + |x_n|, correctly rounded; of complex x the sum of |real| and |imaginary| parts, as in BLAS. Otherwise
/// as sum().
template <class View> [[nodiscard]] auto asum(const ExecutionSpace& space, const View& x) {
  return compiled::asum<typename View::non_const_value_type>(space, strided(x));
}

/// x_1 y_1 + ... + x_n y_n, correctly rounded (of complex numbers, each part): products that underflow count too.
/// Otherwise as sum(), 11 flops a product. Throws Error(argument) for unequal lengths.
template <class ViewX, class ViewY>
[[nodiscard]] auto dot(const ExecutionSpace& space, const ViewX& x, const ViewY& y) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return compiled::dot<typename ViewX::non_const_value_type>(space, strided(x), strided(y), false);
}

/// The same with conj(x_k).
template <class ViewX, class ViewY>
[[nodiscard]] auto dotc(const ExecutionSpace& space, const ViewX& x, const ViewY& y) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return compiled::dot<typename ViewX::non_const_value_type>(space, strided(x), strided(y), true);
}

/// (|x_1|^2 + ... + |x_n|^2)^(1/2), correctly rounded: the root of the exact sum. No square over- or underflows.
/// Otherwise as dot().
template <class View> [[nodiscard]] auto nrm2(const ExecutionSpace& space, const View& x) {
  return compiled::nrm2<typename View::non_const_value_type>(space, strided(x));
}

}  // namespace heddle::exact

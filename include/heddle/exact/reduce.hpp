// Sums and inner products, correctly rounded.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <type_traits>

namespace heddle::exact {

/// Elements of a vector, any distance apart.
template <class T> using VectorView = Kokkos::View<T*, Kokkos::LayoutStride, MemorySpace>;

namespace impl {

template <Scalar T> T sum(const ExecutionSpace& space, const VectorView<const T>& x);
template <Scalar T> Real<T> asum(const ExecutionSpace& space, const VectorView<const T>& x);
template <Scalar T>
T dot(const ExecutionSpace& space, const VectorView<const T>& x, const VectorView<const T>& y, bool conjugated);
template <Scalar T> Real<T> nrm2(const ExecutionSpace& space, const VectorView<const T>& x);

template <class View> VectorView<typename View::value_type> vector_to(const View& view) {
  static_assert(View::rank() == 1, "exact: vectors, please");
  static_assert(Kokkos::SpaceAccessibility<MemorySpace, typename View::memory_space>::accessible,
                "exact: views in heddle::MemorySpace, please");
  return VectorView<typename View::value_type>(
      view.data(), Kokkos::LayoutStride(view.extent(0), view.extent(0) > 0 ? view.stride(0) : 1));
}
template <class View> VectorView<const typename View::non_const_value_type> vector_of(const View& view) {
  return vector_to(view);
}

}  // namespace impl

/// x_1 + ... + x_n, as if computed exactly and rounded once, to nearest, ties to even; 0 of no elements. float, double,
/// and Kokkos::complex of both, of which each part is rounded once.
///
/// The same bits for any order of the elements, number of threads and backend, whatever the caller's rounding mode.
/// Infinities and NaNs as in Accumulator; -0 only where every element is. Blocks. Cost: one pass over x, as fast as
/// memory (9 flops a number), where twice the precision tells how the sum rounds; where it does not, as with sums that
/// cancel, another, several times slower.
template <class View> [[nodiscard]] auto sum(const ExecutionSpace& space, const View& x) {
  return impl::sum<typename View::non_const_value_type>(space, impl::vector_of(x));
}

/// |x_1| + ... + |x_n|, correctly rounded; of complex x the sum of |real| and |imaginary| parts, as in BLAS. Otherwise
/// as sum().
template <class View> [[nodiscard]] auto asum(const ExecutionSpace& space, const View& x) {
  return impl::asum<typename View::non_const_value_type>(space, impl::vector_of(x));
}

/// x_1 y_1 + ... + x_n y_n, correctly rounded (of complex numbers, each part): products that underflow count too.
/// Otherwise as sum(), 11 flops a product. Throws Error(argument) for unequal lengths.
template <class ViewX, class ViewY>
[[nodiscard]] auto dot(const ExecutionSpace& space, const ViewX& x, const ViewY& y) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return impl::dot<typename ViewX::non_const_value_type>(space, impl::vector_of(x), impl::vector_of(y), false);
}

/// The same with conj(x_k).
template <class ViewX, class ViewY>
[[nodiscard]] auto dotc(const ExecutionSpace& space, const ViewX& x, const ViewY& y) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return impl::dot<typename ViewX::non_const_value_type>(space, impl::vector_of(x), impl::vector_of(y), true);
}

/// (|x_1|^2 + ... + |x_n|^2)^(1/2), correctly rounded: the root of the exact sum. No square over- or underflows.
/// Otherwise as dot().
template <class View> [[nodiscard]] auto nrm2(const ExecutionSpace& space, const View& x) {
  return impl::nrm2<typename View::non_const_value_type>(space, impl::vector_of(x));
}

}  // namespace heddle::exact

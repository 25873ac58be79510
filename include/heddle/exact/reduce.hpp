// Sums and inner products, correctly rounded.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <type_traits>

namespace heddle::exact {

/// Elements of a vector, any distance apart.
template <class T> using VectorView = Kokkos::View<T*, Kokkos::LayoutStride, MemorySpace>;

namespace impl {

template <RealScalar T> T sum(const ExecutionSpace& space, const VectorView<const T>& x);
template <RealScalar T> T asum(const ExecutionSpace& space, const VectorView<const T>& x);
template <RealScalar T> T dot(const ExecutionSpace& space, const VectorView<const T>& x, const VectorView<const T>& y);

template <class View> VectorView<const typename View::non_const_value_type> vector_of(const View& view) {
  static_assert(View::rank() == 1, "exact: vectors, please");
  static_assert(Kokkos::SpaceAccessibility<MemorySpace, typename View::memory_space>::accessible,
                "exact: views in heddle::MemorySpace, please");
  return VectorView<const typename View::non_const_value_type>(
      view.data(), Kokkos::LayoutStride(view.extent(0), view.extent(0) > 0 ? view.stride(0) : 1));
}

}  // namespace impl

/// x_1 + ... + x_n, as if computed exactly and rounded once, to nearest, ties to even; 0 of no elements.
///
/// The same bits for any order of the elements, number of threads and backend. Infinities and NaNs as in Accumulator;
/// -0 only where every element is. Blocks. Cost: one pass over x; on CPUs as fast as memory for tame data, some times
/// slower where exponents spread over hundreds of bits.
template <class View> [[nodiscard]] auto sum(const ExecutionSpace& space, const View& x) {
  return impl::sum<typename View::non_const_value_type>(space, impl::vector_of(x));
}

/// |x_1| + ... + |x_n|, correctly rounded. Otherwise as sum().
template <class View> [[nodiscard]] auto asum(const ExecutionSpace& space, const View& x) {
  return impl::asum<typename View::non_const_value_type>(space, impl::vector_of(x));
}

/// x_1 y_1 + ... + x_n y_n, correctly rounded: products that underflow count too. Otherwise as sum(). Throws
/// Error(argument) for unequal lengths.
template <class ViewX, class ViewY>
[[nodiscard]] auto dot(const ExecutionSpace& space, const ViewX& x, const ViewY& y) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return impl::dot<typename ViewX::non_const_value_type>(space, impl::vector_of(x), impl::vector_of(y));
}

}  // namespace heddle::exact

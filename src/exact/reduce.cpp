#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "exact/arithmetic.hpp"
#include "exact/reductions.hpp"
#include "exact/root.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <array>

#ifdef __FAST_MATH__
#error "exact/reduce.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

template <RealScalar T, class Terms> T reduced(const ExecutionSpace& space, const Terms& terms, Index n) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::reduce");
  const DefaultArithmetic arithmetic;
  T rounded;
  if (n > 0 && compensated(space, terms, n).rounds_to(additions_in_a_row(n), lost_in<Terms>(n), rounded)) {
    return rounded;
  }
  const Accumulator<double> sum = accumulated(space, terms, n);
  const T value = sum.value<T>();
  return value == T(0) && sum.sign() == 0 && all_negative_zeros(space, terms, n) ? -T(0) : value;
}

}  // namespace

template <Scalar T> T sum(const ExecutionSpace& space, const StridedVector<const T>& x) {
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] = with_numbers<false>(
        x, p, [&](const auto& terms) { return reduced<Real<T>>(space, terms, static_cast<Index>(x.extent(0))); });
  }
  return scalar_of<T>(parts);
}

template <Scalar T> Real<T> asum(const ExecutionSpace& space, const StridedVector<const T>& x) {
  const auto n = static_cast<Index>(x.extent(0));
  if constexpr (is_complex<T>) {
    if (x.extent(0) <= 1 || x.stride(0) == 1) {
      return reduced<Real<T>>(space, Numbers<Real<T>, true, true>{reinterpret_cast<const Real<T>*>(x.data()), 1},
                              2 * n);
    }
    // Real and imaginary parts in one row.
    const Kokkos::View<T*, MemorySpace> dense(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::x"), x.extent(0));
    heddle::impl::copy_vector<T>(space, x, strided(dense));
    return reduced<Real<T>>(space, Numbers<Real<T>, true, true>{reinterpret_cast<const Real<T>*>(dense.data()), 1},
                            2 * n);
  } else {
    return with_numbers<true>(x, 0, [&](const auto& terms) { return reduced<T>(space, terms, n); });
  }
}

template <Scalar T>
T dot(const ExecutionSpace& space, const StridedVector<const T>& x, const StridedVector<const T>& y, bool conjugated) {
  require(x.extent(0) == y.extent(0), "exact::dot: vectors of ", x.extent(0), " and ", y.extent(0), " elements");
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] =
        with_products(x.data(), static_cast<Index>(x.stride(0)), y.data(), static_cast<Index>(y.stride(0)), p,
                      conjugated, [&](const auto& terms) {
                        return reduced<Real<T>>(space, terms, static_cast<Index>(x.extent(0)) * parts_of_scalar<T>);
                      });
  }
  return scalar_of<T>(parts);
}

template <Scalar T> Real<T> nrm2(const ExecutionSpace& space, const StridedVector<const T>& x) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::nrm2");
  const DefaultArithmetic arithmetic;
  // The real part of conj(x) x.
  const auto stride = static_cast<Index>(x.stride(0));
  const auto n = static_cast<Index>(x.extent(0)) * parts_of_scalar<T>;
  return with_products(x.data(), stride, x.data(), stride, 0, true, [&]<class Terms>(const Terms& squares) {
    Real<T> root = 0;
    if (n == 0 || square_root(compensated(space, squares, n), additions_in_a_row(n), lost_in<Terms>(n), root)) {
      return root;
    }
    return SquareRoot::of<Real<T>>(accumulated(space, squares, n));
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                   \
  template T sum<T>(const ExecutionSpace&, const StridedVector<const T>&);                                      \
  template Real<T> asum<T>(const ExecutionSpace&, const StridedVector<const T>&);                               \
  template T dot<T>(const ExecutionSpace&, const StridedVector<const T>&, const StridedVector<const T>&, bool); \
  template Real<T> nrm2<T>(const ExecutionSpace&, const StridedVector<const T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled

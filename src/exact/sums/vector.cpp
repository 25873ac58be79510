// Elementwise operations on vectors, each rounded once.
#include "core/instantiate.hpp"
#include "exact/products/quotient.hpp"
#include "exact/sums/chunks.hpp"
#include <heddle/exact/vector.hpp>

#ifdef __FAST_MATH__
#error "exact/sums/vector.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

// Elements that a thread of the host takes at a time.
constexpr Index chunk = 4096;

// Returns a b + c, each part rounded once.
template <Scalar T> KOKKOS_INLINE_FUNCTION T product_and_sum(const T& a, const T& b, const T& c) {
  if constexpr (is_complex<T>) {
    InnerSum<T> sum;
    sum.add_product(a, b);
    sum.add(c);
    T result;
    if (!sum.rounds_to(1, result)) {
      ExactSum<T> exact;
      exact.add_product(a, b);
      exact.add(c);
      result = exact.value();
    }
    return result;
  } else {
    return Kokkos::fma(a, b, c);
  }
}
template <Scalar T> KOKKOS_INLINE_FUNCTION T product(const T& a, const T& b) {
  if constexpr (is_complex<T>) {
    // Adding -0 changes no zero's sign.
    return product_and_sum(a, b, T(-Real<T>(0), -Real<T>(0)));
  } else {
    return rounded_product(a, b);
  }
}

}  // namespace

template <Scalar T> void scal(const ExecutionSpace& space, T alpha, const StridedVector<T>& x) {
  for_each_index(
      space, "heddle::exact::scal", x.extent(0), chunk, KOKKOS_LAMBDA(Index i) { x(i) = product(alpha, x(i)); });
}
template <Scalar T> void invscal(const ExecutionSpace& space, T alpha, const StridedVector<T>& x) {
  for_each_index(
      space, "heddle::exact::invscal", x.extent(0), chunk, KOKKOS_LAMBDA(Index i) { x(i) = quotient(x(i), alpha); });
}
template <Scalar T>
void axpy(const ExecutionSpace& space, T alpha, const StridedVector<const T>& x, const StridedVector<T>& y) {
  require(x.extent(0) == y.extent(0), "exact::axpy: vectors of ", x.extent(0), " and ", y.extent(0), " elements");
  for_each_index(
      space, "heddle::exact::axpy", y.extent(0), chunk,
      KOKKOS_LAMBDA(Index i) { y(i) = product_and_sum(alpha, x(i), y(i)); });
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template void scal<T>(const ExecutionSpace&, T, const StridedVector<T>&);    \
  template void invscal<T>(const ExecutionSpace&, T, const StridedVector<T>&); \
  template void axpy<T>(const ExecutionSpace&, T, const StridedVector<const T>&, const StridedVector<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled

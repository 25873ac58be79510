// Magnitudes of any exponent, and the residual bounds of a system.
#pragma once

#include "exact/products/operand.hpp"
#include "exact/products/quotient.hpp"
#include "exact/sums/chunks.hpp"

#include <limits>
#include <vector>

namespace heddle::exact::impl {

/// value 2^power, not negative: its products and sums neither over- nor underflow. `value` is infinite or a NaN if the
/// size is.
struct Size {
  double value = 0;
  int power = 0;

  KOKKOS_INLINE_FUNCTION void add(const Size& other) {
    // If the powers differ by more than this, the smaller number changes nothing.
    constexpr int most = 200;
    if (other.value == 0) {
      return;
    }
    if (!is_finite(value) || !is_finite(other.value)) {
      value += other.value;
      return;
    }
    const int apart = power - other.power;
    if (value == 0 || apart < -most) {
      *this = other;
    } else if (apart < 0) {
      value = rounded_sum(scaled(value, apart), other.value);
      power = other.power;
    } else if (apart <= most) {
      value = rounded_sum(value, scaled(other.value, -apart));
    }
  }
};
/// Returns |value| 2^power with a value between one and two.
KOKKOS_INLINE_FUNCTION Size normal_size(double value, int power) {
  if (value == 0 || !is_finite(value)) {
    return {Kokkos::abs(value), 0};
  }
  const int own = power_of(value);
  return {Kokkos::abs(scaled(value, -own)), power + own};
}
/// Returns |x| 2^power.
template <Scalar T> KOKKOS_INLINE_FUNCTION Size size_of(const T& x, int power = 0) {
  if constexpr (is_complex<T>) {
    const Size re = normal_size(static_cast<double>(x.real()), 0);
    const Size im = normal_size(static_cast<double>(x.imag()), 0);
    const bool re_is_larger = im.value == 0 || (re.value != 0 && re.power >= im.power);
    const Size& most = re_is_larger ? re : im;
    const Size& least = re_is_larger ? im : re;
    if (!is_finite(re.value) || !is_finite(im.value)) {
      return {re.value + im.value, 0};
    }
    const int apart = most.power - least.power;
    const double other = least.value == 0 || apart > 100 ? 0 : scaled(least.value, -apart);
    const double root =
        Kokkos::sqrt(rounded_sum(rounded_product(most.value, most.value), rounded_product(other, other)));
    return {root, most.power + power};
  } else {
    return normal_size(static_cast<double>(x), power);
  }
}
KOKKOS_INLINE_FUNCTION Size product(const Size& x, const Size& y) {
  return {rounded_product(x.value, y.value), x.power + y.power};
}
/// Returns x / y as a number; infinite if that is not finite.
inline double ratio(const Size& x, const Size& y) {
  if (x.value == 0 && is_finite(y.value)) {
    return 0;
  }
  const double quotient = x.value / y.value;
  if (!is_finite(quotient) || !is_finite(y.value)) {
    return std::numeric_limits<double>::infinity();
  }
  return scaled(quotient, x.power - y.power);
}

/// Returns |A| |x| + |b|: the same on any backend, whatever the number of threads; blocks.
template <Scalar T>
std::vector<Size> sizes_of_system(const ExecutionSpace& space, const StridedMatrix<const T>& A,
                                  const Kokkos::View<T*, MemorySpace>& x, const StridedVector<const T>& b) {
  const std::size_t n = A.extent(0);
  const Kokkos::View<Size*, MemorySpace> sizes(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sizes"), n);
  const Operand<T> rows(Operation::none, A);
  for_each_index(
      space, "heddle::exact::sizes", n, 16, KOKKOS_LAMBDA(Index i) {
        Size sum = size_of(b(i));
        for (Index j = 0; j < rows.columns; ++j) {
          sum.add(product(size_of(rows(i, j)), size_of(x(j))));
        }
        sizes(i) = sum;
      });
  std::vector<Size> all(n);
  const Kokkos::View<Size*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(all.data(), n);
  Kokkos::deep_copy(space, host, sizes);
  space.fence("heddle::exact::sizes");
  return all;
}

}  // namespace heddle::exact::impl

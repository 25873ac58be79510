// Operations on the digits of one element, and loops over elements and rows.
#pragma once

#include "core/hypotenuse.hpp"
#include "core/on_host.hpp"
#include <heddle/core/scalar.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>

#include <string>

namespace heddle::impl::fixed_point {

using Elements1D = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

/// 2^e, -1022 <= e <= 1023.
KOKKOS_INLINE_FUNCTION double power_of_two(int e) {
  return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

/// x 2^e for any e, in steps that over- or underflow only if the result does; rounded if that is denormal.
KOKKOS_INLINE_FUNCTION double times_power(double x, int e) {
  for (; e > 1000; e -= 1000) {
    x *= power_of_two(1000);
    if (x == 0.0 || !(Kokkos::abs(x) <= 0x1p1000)) break;
  }
  for (; e < -1000; e += 1000) {
    x *= power_of_two(-1000);
    if (x == 0.0 || !(Kokkos::abs(x) <= 0x1p1000)) break;
  }
  e = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
  return x * power_of_two(e);
}

/// The exponent of a normal number: 2^exponent <= |x| < 2^(exponent + 1).
KOKKOS_INLINE_FUNCTION int exponent_of(double x) {
  return static_cast<int>((Kokkos::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1023;
}

/// The nearest integer, |x| < 2^51.
KOKKOS_INLINE_FUNCTION double nearest(double x) {
  constexpr double shift = 0x1.8p52;
  return (x + shift) - shift;
}

/// Value of digits, relative to their unit, to a relative error of 2^-50.
KOKKOS_INLINE_FUNCTION double value_of(const double* digits, Index stride, int count, double down) {
  double value = 0.0;
  for (int k = count - 1; k >= 0; --k) value = (value + digits[k * stride]) * down;
  return value;
}

/// Upper bound of |x + i y|.
KOKKOS_INLINE_FUNCTION double modulus_bound(double x, double y) {
  return y == 0.0 ? Kokkos::abs(x) : hypotenuse(x, y) * (1.0 + 0x1p-48);
}

template <class Function> struct LargestSumOfRows {
  /// CPUs take several rows at a time, so that columns are read in whole cache lines.
  static constexpr Index height = on_host ? 64 : 1;
  Index rows;
  Index columns;
  Function f;
  KOKKOS_INLINE_FUNCTION void operator()(Index block, double& most) const {
    const Index begin = block * height;
    const Index count = rows - begin < height ? rows - begin : height;
    double sum[height] = {};
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < count; ++i) sum[i] += f(begin + i, j);
    }
    for (Index i = 0; i < count; ++i) {
      if (sum[i] > most) most = sum[i];
    }
  }
};

/// The largest over all local rows i of sum_j f(i, j), each summed in order of j; `least` if there are none. Blocks.
template <class Function>
double largest_row_sum(const ExecutionSpace& space, const std::string& label, Index rows, Index columns, double least,
                       const Function& f) {
  constexpr Index height = LargestSumOfRows<Function>::height;
  double largest = least;
  if (rows == 0) return largest;
  Kokkos::parallel_reduce(label, Elements1D(space, 0, (rows + height - 1) / height),
                          LargestSumOfRows<Function>{rows, columns, f}, Kokkos::Max<double>(largest));
  return largest;
}

}  // namespace heddle::impl::fixed_point

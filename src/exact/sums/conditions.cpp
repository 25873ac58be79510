// Condition numbers of sums and inner products over ranks, from exact sums.
#include "core/instantiate.hpp"
#include "exact/products/size.hpp"
#include "exact/sums/arithmetic.hpp"
#include "exact/sums/reductions.hpp"
#include "exact/sums/wide.hpp"
#include <heddle/exact/distributed.hpp>

#include <cmath>
#include <limits>

#ifdef __FAST_MATH__
#error "exact/sums/conditions.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

// |x_k| and |y_k|.
template <RealScalar T> struct RealSizes {
  using Real = T;
  RealFactors<T, false> factors;
  KOKKOS_FORCEINLINE_FUNCTION void get(Index k, T& a, T& b) const {
    factors.get(k, a, b);
    a = Kokkos::abs(a);
    b = Kokkos::abs(b);
  }
};
// Two doubles whose product is |x_k| |y_k| 2^shift, or |x_k| 2^shift if y is null, rounded like one double with an
// unbounded exponent.
template <RealScalar T> struct ComplexSizes {
  using Real = double;
  const Kokkos::complex<T>* x;
  Index x_stride;
  const Kokkos::complex<T>* y;
  Index y_stride;
  int shift;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Size size(Index k) const {
    const Size of_x = size_of(x[k * x_stride]);
    return y == nullptr ? of_x : of_x * size_of(y[k * y_stride]);
  }
  KOKKOS_INLINE_FUNCTION void get(Index k, double& a, double& b) const {
    const Size all = size(k);
    const int power = all.power + shift;
    a = scaled(all.number, power / 2);
    b = scaled(1.0, power - power / 2);
  }
};

// Returns the exact sum of the terms of all ranks.
template <class Terms> Accumulator<double> sum_of(const Communicator& comm, const Terms& terms, Index n) {
  Accumulator<double> sum = accumulated(comm.space(), terms, n);
  exact::all_reduce(comm, std::span<Accumulator<double>>(&sum, 1));
  return sum;
}

// Returns the sum of complex magnitudes times 2^shift, which leaves room at both ends.
template <RealScalar T>
Accumulator<double> sum_of_sizes(const Communicator& comm, ComplexSizes<T> sizes, Index n, int& shift) {
  int most = -(1 << 20);
  Kokkos::parallel_reduce(
      "heddle::exact::largest", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, n),
      KOKKOS_LAMBDA(Index k, int& largest) {
        const Size size = sizes.size(k);
        if (size.number != 0 && size.power > largest) {
          largest = size.power;
        }
      },
      Kokkos::Max<int>(most));
  // The product's last bits at one end; a sum of 2^60 terms at the other.
  shift = comm.all_reduce(static_cast<Index>(most), Reduction::maximum) < 1800 ? 120 : -20;
  sizes.shift = shift;
  return sum_of(comm, Products<ComplexSizes<T>>{sizes}, n);
}

// Returns |whole 2^-shift / part|, rounded once; infinite if `part` is zero.
double inverse_part(const Accumulator<double>& whole, int shift, const Accumulator<double>& part) {
  if (part.sign() == 0) {
    return std::numeric_limits<double>::infinity();
  }
  WideSum above;
  WideSum below;
  above.add_scaled(whole, scaled(1.0, -shift));
  below.add_scaled(part, 1.0);
  return std::abs(above.quotient<double>(below));
}
bool is_special(const Accumulator<double>& sum) {
  WideSum wide;
  wide.add_scaled(sum, 1.0);
  return wide.is_special();
}

double condition_of(const Accumulator<double>& sizes, const Accumulator<double>& sum) {
  if (is_special(sizes) || is_special(sum)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sizes.sign() == 0 ? 1.0 : inverse_part(sizes, 0, sum);
}
double condition_of(const Accumulator<double>& sizes, int shift, const Accumulator<double>& re,
                    const Accumulator<double>& im) {
  if (is_special(sizes) || is_special(re) || is_special(im)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (sizes.sign() == 0) {
    return 1.0;
  }
  const double of_re = inverse_part(sizes, shift, re);
  const double of_im = inverse_part(sizes, shift, im);
  const double least = std::fmin(of_re, of_im);
  const double most = std::fmax(of_re, of_im);
  if (std::isinf(least)) {
    return least;
  }
  // The sizes were rounded, so that the quotient might otherwise fall below 1.
  const double ratio = least / most;
  return std::fmax(1.0, least / std::sqrt(1 + rounded_product(ratio, ratio)));
}

}  // namespace

template <Scalar T> double sum_condition(const Communicator& comm, const StridedVector<const T>& x) {
  return comm.together([&] {
    const DefaultArithmetic arithmetic;
    const auto n = static_cast<Index>(x.extent(0));
    const auto part = [&](int which) {
      return with_numbers<false>(x, which, [&](const auto& terms) { return sum_of(comm, terms, n); });
    };
    if constexpr (is_complex<T>) {
      int shift = 0;
      const Accumulator<double> sizes =
          sum_of_sizes(comm, ComplexSizes<Real<T>>{x.data(), static_cast<Index>(x.stride(0)), nullptr, 0, 0}, n, shift);
      return condition_of(sizes, shift, part(0), part(1));
    } else {
      return condition_of(with_numbers<true>(x, 0, [&](const auto& terms) { return sum_of(comm, terms, n); }), part(0));
    }
  });
}

template <Scalar T>
double dot_condition(const Communicator& comm, const StridedVector<const T>& x, const StridedVector<const T>& y,
                     bool conjugated) {
  return comm.together([&] {
    const DefaultArithmetic arithmetic;
    const auto n = static_cast<Index>(x.extent(0));
    const Index others = static_cast<Index>(y.extent(0)) == n ? 0 : 1;
    require(comm.all_reduce(others, Reduction::maximum) == 0,
            "exact::dot_condition: parts of different lengths on a rank; here of ", n, " and ", y.extent(0),
            " elements");
    const auto x_stride = static_cast<Index>(x.stride(0));
    const auto y_stride = static_cast<Index>(y.stride(0));
    const auto part = [&](int which) {
      return with_products(x.data(), x_stride, y.data(), y_stride, which, conjugated,
                           [&](const auto& terms) { return sum_of(comm, terms, n * terms_per_product<T>); });
    };
    if constexpr (is_complex<T>) {
      int shift = 0;
      const Accumulator<double> sizes =
          sum_of_sizes(comm, ComplexSizes<Real<T>>{x.data(), x_stride, y.data(), y_stride, 0}, n, shift);
      return condition_of(sizes, shift, part(0), part(1));
    } else {
      const Products<RealSizes<T>> sizes{RealSizes<T>{RealFactors<T, false>{x.data(), x_stride, y.data(), y_stride}}};
      return condition_of(sum_of(comm, sizes, n), part(0));
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template double sum_condition<T>(const Communicator&, const StridedVector<const T>&);                               \
  template double dot_condition<T>(const Communicator&, const StridedVector<const T>&, const StridedVector<const T>&, \
                                   bool)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled

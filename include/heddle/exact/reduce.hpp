// Sums, inner products and norms of vectors, correctly rounded.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>
#include <heddle/exact/algorithm.hpp>

#include <type_traits>

namespace heddle::exact {

namespace compiled {

template <Scalar T>
T sum(const ExecutionSpace& space, const StridedVector<const T>& x, Algorithm algorithm = Algorithm::automatic);
template <Scalar T> Real<T> asum(const ExecutionSpace& space, const StridedVector<const T>& x);
template <Scalar T>
T dot(const ExecutionSpace& space, const StridedVector<const T>& x, const StridedVector<const T>& y, bool conjugated,
      Algorithm algorithm = Algorithm::automatic);
template <Scalar T> Real<T> nrm2(const ExecutionSpace& space, const StridedVector<const T>& x);

}  // namespace compiled

/// Returns the sum x_1 + ... + x_n as if computed exactly and rounded once, to nearest, ties to even; 0 for an empty x.
/// The elements are float, double or Kokkos::complex of these; each part of a complex sum is rounded once.
///
/// Bits: the same for any order of the elements, number of threads and backend, whatever the caller's rounding mode.
/// Infinities and NaNs are treated as in Accumulator; the sum is -0 only if every element is. Blocks. Cost: one pass
/// over x at memory speed (9 flops a number) if twice the precision decides how the sum rounds. If it does not, as for
/// sums that cancel, another pass, several times slower. All this applies to Algorithm::automatic; other algorithms may
/// be chosen for comparison, and copy an x whose elements are not contiguous.
template <class View>
[[nodiscard]] auto sum(const ExecutionSpace& space, const View& x, Algorithm algorithm = Algorithm::automatic) {
  return compiled::sum<typename View::non_const_value_type>(space, strided(x), algorithm);
}

/// Returns the sum |x_1| + ... + |x_n|, correctly rounded; for complex x the sum of the |real| and |imaginary| parts,
/// as in BLAS. Everything else is as for sum().
template <class View> [[nodiscard]] auto asum(const ExecutionSpace& space, const View& x) {
  return compiled::asum<typename View::non_const_value_type>(space, strided(x));
}

/// Returns the inner product x_1 y_1 + ... + x_n y_n, correctly rounded (for complex numbers, each part); products that
/// underflow count too. Throws Error(argument) for unequal lengths. Cost: 11 flops for each product. Everything else is
/// as for sum().
template <class ViewX, class ViewY>
[[nodiscard]] auto dot(const ExecutionSpace& space, const ViewX& x, const ViewY& y,
                       Algorithm algorithm = Algorithm::automatic) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return compiled::dot<typename ViewX::non_const_value_type>(space, strided(x), strided(y), false, algorithm);
}

/// Returns the inner product conj(x_1) y_1 + ... + conj(x_n) y_n, correctly rounded. Everything else is as for dot().
template <class ViewX, class ViewY>
[[nodiscard]] auto dotc(const ExecutionSpace& space, const ViewX& x, const ViewY& y,
                        Algorithm algorithm = Algorithm::automatic) {
  static_assert(std::is_same_v<typename ViewX::non_const_value_type, typename ViewY::non_const_value_type>);
  return compiled::dot<typename ViewX::non_const_value_type>(space, strided(x), strided(y), true, algorithm);
}

/// Returns the 2-norm (|x_1|^2 + ... + |x_n|^2)^(1/2), correctly rounded from the exact sum. No square over- or
/// underflows. Everything else is as for dot().
template <class View> [[nodiscard]] auto nrm2(const ExecutionSpace& space, const View& x) {
  return compiled::nrm2<typename View::non_const_value_type>(space, strided(x));
}

}  // namespace heddle::exact

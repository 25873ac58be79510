// Scalars, and vectors of them, in long double, as references for results.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

namespace heddle::test {

template <Scalar T> using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;
template <Scalar T> Wide<T> wide(const T& x) {
  if constexpr (is_complex<T>) {
    return {static_cast<long double>(x.real()), static_cast<long double>(x.imag())};
  } else {
    return x;
  }
}
template <class W> W conjugate_of(const W& x) {
  if constexpr (std::is_same_v<W, long double>) {
    return x;
  } else {
    return std::conj(x);
  }
}
/// |x|_2, for elements of any size; the largest element if it is not finite.
template <class W> long double norm_of(const std::vector<W>& x) {
  long double most = 0;
  for (const W& element : x) most = std::max(most, std::abs(element));
  if (most == 0 || !std::isfinite(most)) return most;
  long double sum = 0;
  for (const W& element : x) sum += std::norm(element / most);
  return most * std::sqrt(sum);
}

}  // namespace heddle::test

// The exponential of complex numbers, whose bits do not depend on a mathematical library.
#pragma once

#include <complex>

namespace heddle::impl {

/// exp z: exp x times cos y and exp x times sin y, each factor correctly rounded and each product rounded once more. A
/// part is finite if its exact value is in range, though exp x may overflow; the imaginary part is exactly y where y is
/// a zero.
[[nodiscard]] std::complex<double> exponential(const std::complex<double>& z);

}  // namespace heddle::impl

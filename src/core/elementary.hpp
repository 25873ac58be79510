// Functions whose bits do not depend on a mathematical library.
#pragma once

#include <complex>

namespace heddle::impl {

/// sin x, cos x, exp x and exp z by a fixed sequence of correctly rounded operations on pairs of doubles: the same bits
/// wherever doubles are IEEE's, and but for one argument in some 2^40 the correctly rounded ones (products of two of
/// them for complex z, each part finite where it is, though exp of the real part overflows; real where z is). |x| <
/// 2^52 for sin and cos; beyond that the library's. Some 500 operations.
[[nodiscard]] double sine(double x);
[[nodiscard]] double cosine(double x);
[[nodiscard]] double exponential(double x);
[[nodiscard]] std::complex<double> exponential(const std::complex<double>& z);

}  // namespace heddle::impl

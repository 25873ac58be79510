// Bessel functions of one argument and many orders, for Chebyshev series of exponentials.
#pragma once

#include <vector>

namespace heddle::impl {

/// J_k(x), or exp(-x) I_k(x).
enum class Bessel { first_kind, modified };

/// Return orders 0 ... count for x >= 0, to some units of the last place of the largest, by Miller's recurrence
/// downwards, normalised by J_0 + 2 J_2 + 2 J_4 ... = 1 or I_0 + 2 I_1 + 2 I_2 ... = exp(x) (Abramowitz, Stegun 9.12).
[[nodiscard]] std::vector<double> bessel_functions(double x, int count, Bessel kind = Bessel::first_kind);

}  // namespace heddle::impl

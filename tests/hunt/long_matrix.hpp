// Numbers in long double, and matrices of them.
#pragma once

#include "hunt/matrix_of.hpp"

#include <complex>

namespace heddle::hunt {

/// Numbers whose range and precision exceed those of all scalars: sums of a few hundred terms have errors below 2^-54
/// of their sizes.
using Long = std::complex<long double>;
using LongMatrix = MatrixOf<Long>;

}  // namespace heddle::hunt

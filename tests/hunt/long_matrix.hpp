// Numbers in long double, and matrices of them.
#pragma once

#include "hunt/matrix_of.hpp"

#include <complex>

namespace heddle::hunt {

/// Numbers whose range and precision are beyond those of all scalars: sums of a few hundred terms are off by less than
/// 2^-54 of their sizes.
using Long = std::complex<long double>;
using LongMatrix = MatrixOf<Long>;

}  // namespace heddle::hunt

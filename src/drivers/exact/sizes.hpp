// Helpers that commands on exact matrices of one rank share.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/core/scalar.hpp>

#include <cmath>

namespace heddle::driver {

/// Return |x| 2^-power: matrices of huge or denormal numbers are compared after division by their own power of two.
template <Scalar T> [[nodiscard]] double size_of(const T& x, int power = 0) {
  if constexpr (is_complex<T>) {
    return std::hypot(std::ldexp(static_cast<double>(x.real()), -power),
                      std::ldexp(static_cast<double>(x.imag()), -power));
  } else {
    return std::ldexp(std::abs(static_cast<double>(x)), -power);
  }
}

/// Throws Error(argument) if there are several ranks.
inline void require_one_rank(const Context& context, const char* command) {
  require(context.comm().size() == 1, command, " runs on one rank, and all threads or the GPU of it; there are ",
          context.comm().size());
}

}  // namespace heddle::driver

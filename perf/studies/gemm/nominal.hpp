// The rates that vendors state for their devices.
#pragma once

#include <heddle/blas/math_mode.hpp>

#include <optional>
#include <string_view>

namespace heddle::driver {

/// Return the rate in 10^9 operations a second of a device of this name for products of a scalar type (as --scalars
/// names it; complex products count as the real ones that they are made of) in a math mode; empty if the device, or
/// that rate of it, is not known. Dense products, at the boost clock, from the vendors' data sheets.
[[nodiscard]] std::optional<double> nominal_gflops(std::string_view device, std::string_view scalar, MathMode mode);

}  // namespace heddle::driver

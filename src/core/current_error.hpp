// Conversion of any exception to an Error.
#pragma once

#include <heddle/core/error.hpp>

namespace heddle::impl {

/// The exception that is being handled, as an Error: Kokkos and the standard library throw others if memory is short or
/// a kernel fails. Only within a handler.
[[nodiscard]] Error current_error();

}  // namespace heddle::impl

// The operation op(X) on a factor, as in level-3 BLAS.
#pragma once

#include <string_view>

namespace heddle {

/// Operation op(X): X itself, its transpose, or its conjugate transpose (for real X the transpose).
enum class Operation { none, transpose, conjugate_transpose };

/// The name of an operation as in BLAS: "N", "T" or "C".
[[nodiscard]] std::string_view to_string(Operation operation);

/// The operation that "N", "T" or "C" names, in either case. Throws Error(argument) for any other text.
[[nodiscard]] Operation operation_from(std::string_view text);

}  // namespace heddle

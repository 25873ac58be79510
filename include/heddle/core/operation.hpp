// op(X) of level-3 BLAS.
#pragma once

#include <string_view>

namespace heddle {

/// op(X): X, its transpose, or its conjugate transpose (the transpose, for real X).
enum class Operation { none, transpose, conjugate_transpose };

/// "N", "T" or "C", as BLAS writes it.
[[nodiscard]] std::string_view to_string(Operation operation);

/// Reads "N", "T" or "C" in either case; throws Error(argument) for anything else.
[[nodiscard]] Operation operation_from(std::string_view text);

}  // namespace heddle

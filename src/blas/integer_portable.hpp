#pragma once

#include "blas/integer.hpp"

namespace heddle::impl {

/// integer_gemm() without any vendor's library.
void portable_integer_gemm(const ExecutionSpace& space, const IntegerProducts& products);

}  // namespace heddle::impl

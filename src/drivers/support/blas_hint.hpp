// A BLAS that works far below this machine.
#pragma once

#include <string>

namespace heddle::driver {

/// Advice where OpenBLAS runs its oldest kernels on a CPU with AVX2 or AVX-512, as it does on CPUs younger than itself;
/// empty otherwise.
[[nodiscard]] std::string blas_hint();

}  // namespace heddle::driver

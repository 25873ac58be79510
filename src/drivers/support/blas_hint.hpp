// Advice for an OpenBLAS whose kernels are too old for this CPU.
#pragma once

#include <string>

namespace heddle::driver {

/// Return advice if OpenBLAS runs its oldest kernels on a CPU with AVX2 or AVX-512, as it does on CPUs younger than
/// itself; empty otherwise.
[[nodiscard]] std::string blas_hint();

}  // namespace heddle::driver

// Advice for an OpenBLAS whose kernels are too old for this CPU.
#include "drivers/support/blas_hint.hpp"

#include <heddle/blas/blas.hpp>

namespace heddle::driver {

std::string blas_hint() {
#if defined(__x86_64__)
  const std::string description = blas::description();
  const bool oldest =
      description.find("OpenBLAS") != std::string::npos &&
      (description.find("Prescott") != std::string::npos || description.find("Core2") != std::string::npos ||
       description.find("Generic") != std::string::npos);
  if (oldest && __builtin_cpu_supports("avx2") != 0) {
    const bool wide = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    return std::string("hint: OpenBLAS does not know this CPU and runs its oldest kernels; OPENBLAS_CORETYPE=") +
           (wide ? "SkylakeX" : "Haswell") + " in the environment makes products several times faster";
  }
#endif
  return {};
}

}  // namespace heddle::driver

// Floating-point arithmetic as IEEE 754 has it by default, whatever the caller's settings.
#pragma once

#include <cfenv>

namespace heddle::exact::impl {

/// Sets this thread, during its lifetime, to rounding to nearest, no traps, and on x86-64 no flush of denormals to
/// zero, which programs linked with -ffast-math start with. Each thread that computes on the host needs its own.
class DefaultArithmetic {
 public:
  DefaultArithmetic() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&callers_); }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace heddle::exact::impl

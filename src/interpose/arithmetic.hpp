// Floating-point arithmetic as IEEE 754 has it by default, at a cost that calls of a few numbers can bear.
#pragma once

#include "exact/arithmetic.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace heddle::impl::interpose {

#if defined(__x86_64__)
/// What exact::impl::DefaultArithmetic does, for as long as it lives, of the vector units' control word alone: nothing
/// here is computed by the older unit, whose state takes a tenth of a microsecond to save.
class Arithmetic {
 public:
  Arithmetic() : callers_(_mm_getcsr()) {
    if ((callers_ & ~flags) != standard) _mm_setcsr(standard);
  }
  ~Arithmetic() {
    if ((callers_ & ~flags) != standard) _mm_setcsr(callers_);
  }
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

 private:
  static constexpr unsigned flags = 0x3f;       // Of exceptions that were.
  static constexpr unsigned standard = 0x1f80;  // To nearest, no trap, denormals as they are.
  unsigned callers_;
};
#else
using Arithmetic = exact::impl::DefaultArithmetic;
#endif

}  // namespace heddle::impl::interpose

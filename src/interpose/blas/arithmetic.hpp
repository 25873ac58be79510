// Floating-point arithmetic as IEEE 754 has it by default, at a cost that calls of a few numbers can bear, and the
// exceptions of what is computed, whatever steps compute it.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace heddle::impl::interpose {

#if defined(__x86_64__)
namespace control {
inline constexpr unsigned exceptions = 0x3f;  // Flags of those that were raised; FE_INVALID and the others are of them.
inline constexpr unsigned standard = 0x1f80;  // To nearest, no trap, denormals as they are.
}  // namespace control

/// Do as exact::impl::DefaultArithmetic, but set the vector units' control word alone: nothing
/// here is computed by the older unit, whose state takes a tenth of a microsecond to save. Exceptions that are raised
/// stay raised.
class Arithmetic {
 public:
  Arithmetic() : callers_(_mm_getcsr() & ~control::exceptions) {
    if (callers_ != control::standard) _mm_setcsr(control::standard | (_mm_getcsr() & control::exceptions));
  }
  ~Arithmetic() {
    if (callers_ != control::standard) _mm_setcsr(callers_ | (_mm_getcsr() & control::exceptions));
  }
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

 private:
  unsigned callers_;
};

/// Forgets the exceptions that this thread raises while it lives, but for those that raise() names: the sums here are
/// made of steps that lose nothing together, though each may be inexact, underflow, or meet infinity.
class Quiet {
 public:
  Quiet() : before_(_mm_getcsr() & control::exceptions) { keep_order(); }
  ~Quiet() {
    keep_order();
    const unsigned now = _mm_getcsr();
    if ((now & control::exceptions) != before_) _mm_setcsr((now & ~control::exceptions) | before_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  void raise(int exceptions) { before_ |= static_cast<unsigned>(exceptions); }
  /// x is computed here, not later, when exceptions count again: to a compiler arithmetic has no other effects.
  template <class T> static void settle(T& x) { asm volatile("" : "+m"(x) : : "memory"); }

 private:
  static void keep_order() { asm volatile("" : : : "memory"); }
  unsigned before_;
};
#else
class Arithmetic {
 public:
  Arithmetic() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~Arithmetic() { std::feupdateenv(&callers_); }
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

 private:
  std::fenv_t callers_;
};

class Quiet {
 public:
  Quiet() {
    std::fegetexceptflag(&before_, FE_ALL_EXCEPT);
    keep_order();
  }
  ~Quiet() {
    keep_order();
    std::fesetexceptflag(&before_, FE_ALL_EXCEPT);
    if (raised_ != 0) std::feraiseexcept(raised_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  void raise(int exceptions) { raised_ |= exceptions; }
  template <class T> static void settle(T& x) { asm volatile("" : "+m"(x) : : "memory"); }

 private:
  static void keep_order() { asm volatile("" : : : "memory"); }
  std::fexcept_t before_;
  int raised_ = 0;
};
#endif

/// The exceptions that this thread has raised, and more of them.
inline int exceptions_raised() {
#if defined(__x86_64__)
  return static_cast<int>(_mm_getcsr() & control::exceptions);
#else
  return std::fetestexcept(FE_ALL_EXCEPT);
#endif
}
inline void raise_exceptions(int exceptions) {
  Quiet quiet;
  quiet.raise(exceptions);
}

}  // namespace heddle::impl::interpose

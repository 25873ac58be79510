// Names, availability and error bounds of the math modes.
#include "blas/backend.hpp"
#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "core/scalar_name.hpp"
#include <heddle/blas/math_mode.hpp>

namespace heddle {
namespace {

constexpr impl::Names<MathMode, 4> modes = {{{MathMode::automatic, "auto"},
                                             {MathMode::tensor, "tensor"},
                                             {MathMode::plain, "plain"},
                                             {MathMode::tf32, "tf32"}}};

}  // namespace

std::string_view to_string(MathMode mode) {
  return impl::name_of(modes, mode, "math mode");
}

MathMode math_mode_from(std::string_view text) {
  return impl::value_of(modes, text, "math mode");
}

namespace blas {

template <Scalar T> std::string trouble_with(MathMode mode) {
  const std::string_view name = to_string(mode);
  if (mode == MathMode::automatic) return {};
  if (const std::string trouble = impl::backend_math_trouble(mode); !trouble.empty()) {
    return message_of("math mode ", name, ": ", trouble);
  }
  constexpr bool single = std::is_same_v<Real<T>, float>;
  if (mode == MathMode::tensor && single) {
    return message_of("math mode tensor of ", impl::scalar_name<T>,
                      ": tensor cores lack its precision; expected tf32, plain or auto");
  }
  if (mode == MathMode::tf32 && !single) {
    return message_of("math mode tf32 of ", impl::scalar_name<T>,
                      ": it is for float and complex float; expected tensor, plain or auto");
  }
  return {};
}

template <Scalar T> double added_error(MathMode mode) {
  if (mode != MathMode::tf32) return 0.0;
  constexpr double real = 0x1p-10 + 0x1p-22;
  return is_complex<T> ? 1.4142135623730951 * real : real;
}

#define HEDDLE_INSTANTIATE(T)                     \
  template std::string trouble_with<T>(MathMode); \
  template double added_error<T>(MathMode)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace blas
}  // namespace heddle

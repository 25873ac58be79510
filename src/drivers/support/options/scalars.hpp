// Scalar types and numbers as options name them.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <complex>
#include <string>

namespace heddle::driver {

/// INSTANTIATE(T); for each of the four scalar types.
#define HEDDLE_FOR_EACH_DRIVER_SCALAR(INSTANTIATE) \
  INSTANTIATE(float);                              \
  INSTANTIATE(double);                             \
  INSTANTIATE(Kokkos::complex<float>);             \
  INSTANTIATE(Kokkos::complex<double>)

/// Calls work.operator()<T>() for the type that --scalar names.
template <class Work> auto with_scalar(const std::string& name, const Work& work) {
  if (name == "float") return work.template operator()<float>();
  if (name == "double") return work.template operator()<double>();
  if (name == "complex-float") return work.template operator()<Kokkos::complex<float>>();
  if (name == "complex-double") return work.template operator()<Kokkos::complex<double>>();
  throw Error(ErrorKind::argument, message_of("--scalar '", name, "' is no scalar type"));
}

/// Reads "re" or "re,im", both finite; throws Error(argument) naming `option`.
[[nodiscard]] std::complex<double> number_from(const std::string& option, const std::string& text);

/// The same number as a T; throws Error(argument) where it has an imaginary part and T has none.
template <Scalar T> [[nodiscard]] T scalar_from(const std::string& option, const std::complex<double>& number) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(number.real()), static_cast<Real<T>>(number.imag()));
  } else {
    require(number.imag() == 0, option, ": ", number.real(), ",", number.imag(), " is not real, but the matrices are");
    return static_cast<T>(number.real());
  }
}

}  // namespace heddle::driver

// The names of the types of elements.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string_view>

namespace heddle::impl {

/// As files and messages name the types of elements.
template <Scalar T> inline constexpr std::string_view scalar_name = "double";
template <> inline constexpr std::string_view scalar_name<float> = "float";
template <> inline constexpr std::string_view scalar_name<Kokkos::complex<float>> = "complex-float";
template <> inline constexpr std::string_view scalar_name<Kokkos::complex<double>> = "complex-double";

}  // namespace heddle::impl

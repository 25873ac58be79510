// Exponentials of the small matrices of Krylov subspaces, applied to e_1.
#pragma once

#include <Kokkos_Complex.hpp>

#include <complex>
#include <span>
#include <vector>

namespace heddle::impl {

/// 2^exponent y = exp(time H) e_1.
struct ProjectedExponential {
  std::vector<Kokkos::complex<double>> y;
  double exponent = 0.0;
  /// Arnoldi: ||y' - y||_2 / ||y||_2, where y' is from a matrix with random errors relative to its largest element.
  /// Lanczos: 0.
  double sensitivity = 0.0;
};

/// Exponential of the projection of a Hermitian matrix on m Lanczos vectors, a real symmetric tridiagonal matrix with
/// the off-diagonal `beside`; if `skew`, of i times it. Computed by its eigenvectors, for any size of `time`.
[[nodiscard]] ProjectedExponential exponential_of_lanczos(std::span<const double> diagonal,
                                                          std::span<const double> beside,
                                                          const std::complex<double>& time, bool skew);

/// Exponential of the leading m x m block of H, column-major with a leading dimension, by Taylor series in steps, or by
/// scaling and squaring if that costs less. `unit`: size of the errors for `sensitivity`.
[[nodiscard]] ProjectedExponential exponential_of_arnoldi(std::span<const Kokkos::complex<double>> H, int leading,
                                                          int m, const std::complex<double>& time, double unit);

}  // namespace heddle::impl

// Exponentials of the small matrices of Krylov subspaces, applied to e_1.
#pragma once

#include <Kokkos_Complex.hpp>

#include <complex>
#include <span>
#include <vector>

namespace heddle::impl {

/// 2^exponent y = exp(time H) e_1.
struct SmallExponential {
  std::vector<Kokkos::complex<double>> y;
  double exponent = 0.0;
  /// Arnoldi: ||y' - y||_2 / ||y||_2, y' of a matrix with random relative errors of the largest element. Lanczos: 0.
  double sensitivity = 0.0;
};

/// Of the projection of a Hermitian matrix on m Lanczos vectors, a real symmetric tridiagonal matrix with `beside`
/// beside its diagonal; of i times it where `skew`. By its eigenvectors: however large `time` is.
[[nodiscard]] SmallExponential exponential_of_lanczos(std::span<const double> diagonal, std::span<const double> beside,
                                                      const std::complex<double>& time, bool skew);

/// Of the leading m x m block of H, column-major with a leading dimension. By Taylor series in steps, or, where these
/// are more than scaling and squaring costs, by that. `unit`: the size of the errors that `sensitivity` asks about.
[[nodiscard]] SmallExponential exponential_of_arnoldi(std::span<const Kokkos::complex<double>> H, int leading, int m,
                                                      const std::complex<double>& time, double unit);

}  // namespace heddle::impl

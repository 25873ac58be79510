// Products of two Gaussian shells as sums of Hermite Gaussians, and the Coulomb integrals of these.
#pragma once

#include <heddle/models/gaussian_basis.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace heddle::impl {

/// Number of Hermite Gaussians of a degree t + u + v up to L.
[[nodiscard]] constexpr std::size_t hermite_count(int L) {
  return static_cast<std::size_t>((L + 1) * (L + 2) * (L + 3) / 6);
}
/// Index of a Hermite Gaussian in all lists, which go degree by degree.
[[nodiscard]] constexpr std::size_t hermite_index(int t, int u, int v) {
  const int degree = t + u + v;
  const int below = degree - t;
  return static_cast<std::size_t>(degree * (degree + 1) * (degree + 2) / 6 + below * (below + 1) / 2 + below - u);
}

/// Recurrence of the Hermite Coulomb integrals R_tuv of degrees up to L.
class HermiteTable {
 public:
  explicit HermiteTable(int L);

  /// Computes R_tuv = (d/dX)^t (d/dY)^u (d/dZ)^v F_0(alpha |R|^2) into `result`; `scratch` is as long, `boys` has L + 1
  /// doubles.
  void coulomb(int L, double alpha, const std::array<double, 3>& R, double* result, double* scratch,
               double* boys) const;

 private:
  struct Step {
    std::size_t axis, first, second;  // R_h = X_axis R_first + factor R_second.
    double factor;
  };
  std::vector<Step> steps_;
};

/// Product of two primitives: hermite[h * components + ab] are the coefficients of Hermite Gaussian h in the product of
/// functions a and b, including the contraction.
struct PrimitivePair {
  double exponent = 0;  ///< Exponent p = a + b.
  std::array<double, 3> centre = {};
  std::vector<double> hermite;
};
struct ShellPair {
  std::size_t first = 0, second = 0;  ///< Shells, first >= second.
  int degree = 0;                     ///< l_a + l_b.
  std::size_t rows = 0, columns = 0;  ///< 2l_a + 1 and 2l_b + 1; ab = a * columns + b.
  std::vector<PrimitivePair> parts;
  [[nodiscard]] std::size_t components() const { return rows * columns; }
};

/// The Hermite expansion along one axis: E_t of x_A^i x_B^j exp(-a x_A^2 - b x_B^2), t = 0 ... i + j, at
/// [(i * (most_b + 1) + j) * (most_a + most_b + 1) + t].
[[nodiscard]] std::vector<double> hermite_expansion(int most_a, int most_b, double a, double b, double A, double B);

/// All pairs of shells of a basis.
[[nodiscard]] std::vector<ShellPair> shell_pairs(const models::GaussianBasis& basis);

}  // namespace heddle::impl

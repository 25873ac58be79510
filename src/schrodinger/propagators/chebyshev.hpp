// exp(-i H t) psi by products of H and psi.
#pragma once

#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/hamiltonian/grid_values.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

#include <memory>
#include <vector>

namespace heddle::impl {

/// 2 J_k(x) for k = 0 ... count - 1, but J_0(x) for k = 0; x >= 0, count >= 1.
[[nodiscard]] std::vector<double> bessel_coefficients(double x, int count);

/// Of a series in Chebyshev polynomials of (H - centre - i W)/radius.
struct ChebyshevSeries {
  int repeats = 1;                   ///< exp() is the product of so many equal ones.
  std::vector<double> coefficients;  ///< Of one of them.
};

/// exp(-i x radius duration) = sum_k c_k (-i)^k T_k(x), as short as `tolerance` allows for each x within [-1, 1] +/- i
/// absorption/radius.
///
/// Off the real line T_k grows as rho^k, rho being the sum of the axes of the ellipse with foci -1 and 1 around that
/// rectangle, and the terms grow before they fall. They are kept below 100, so that no more than two digits are lost,
/// by taking the duration in parts.
///
/// Sources: H. Tal-Ezer, R. Kosloff, J. Chem. Phys. 81, 3967 (1984); the ellipse: D. J. Tannor, Introduction to Quantum
/// Mechanics (2007), 11.6; that it also bounds polynomials of matrices that are not normal, but for a factor 1 +
/// sqrt(2): M. Crouzeix, C. Palencia, SIAM J. Matrix Anal. Appl. 38, 649 (2017).
[[nodiscard]] ChebyshevSeries chebyshev_series(double radius, double absorption, double duration, double tolerance);

/// psi = exp(-i (T + V - i W) duration) psi, by as many products with H as the series has terms: some 10 more than
/// radius duration, radius being half the spread of H's values, and (2w + 1) n multiplications each. Where T is dense
/// (sinc) its product with psi is a circulant's, by Fourier transforms, where the build has them.
///
/// One kernel does the whole series of differences: a team for each of the real and imaginary part, which H does not
/// mix; with W one team for both.
class ChebyshevExponential {
 public:
  ChebyshevExponential(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian, double tolerance);

  /// For one V and duration. Blocks, for the bounds of V.
  void prepare(const DeviceValues& potential, double duration);
  void apply(const DeviceComplexes& psi) const;
  /// Products of H and psi that an apply() takes.
  [[nodiscard]] int products() const;

 private:
  void sum_by_transforms(const DeviceComplexes& psi) const;

  ExecutionSpace space_;
  double tolerance_;
  Index points_;
  Index width_;
  double kinetic_diagonal_;
  double largest_kinetic_;
  double middle_absorption_ = 0.0;
  double spread_absorption_ = 0.0;  // W is within middle -/+ spread
  double centre_ = 0.0;
  double radius_ = 1.0;
  double duration_ = 0.0;
  ChebyshevSeries series_;
  DeviceValues kinetic_;     // t_d
  DeviceValues absorption_;  // W - middle; empty without
  DeviceValues diagonal_;    // (t_0 + V - centre)/radius
  Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> work_;
  std::unique_ptr<Fourier> fourier_;
  DeviceComplexes spectrum_;
  DeviceComplexes line_;
};

}  // namespace heddle::impl

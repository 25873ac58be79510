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

/// A series in Chebyshev polynomials of (H - centre - i W)/radius.
struct ChebyshevSeries {
  int repeats = 1;                   ///< Number of equal series whose product is exp().
  std::vector<double> coefficients;  ///< Coefficients of one of them.
};

/// exp(-i x radius duration) = sum_k c_k (-i)^k T_k(x), as short as `tolerance` allows for each x in [-1, 1] +/- i
/// absorption/radius.
///
/// Off the real line T_k grows as rho^k, where rho is the sum of the axes of the ellipse with foci -1 and 1 around that
/// rectangle, and the terms grow before they fall. The duration is divided into parts that keep them below 100, so that
/// no more than two digits are lost.
///
/// Sources: H. Tal-Ezer, R. Kosloff, J. Chem. Phys. 81, 3967 (1984); the ellipse: D. J. Tannor, Introduction to Quantum
/// Mechanics (2007), 11.6; its bound for polynomials of non-normal matrices, up to a factor 1 + sqrt(2): M. Crouzeix,
/// C. Palencia, SIAM J. Matrix Anal. Appl. 38, 649 (2017).
[[nodiscard]] ChebyshevSeries chebyshev_series(double radius, double absorption, double duration, double tolerance);

/// psi = exp(-i (T + V - i W) duration) psi, by as many products with H as the series has terms: about 10 more than
/// radius duration, with the radius half the spread of H's values, and (2w + 1) n multiplications each. If T is dense
/// (sinc), its product with psi is that of a circulant, by Fourier transforms, if the build has them.
///
/// With differences one kernel computes the whole series: one team each for the real and imaginary part, which H does
/// not couple; with W one team for both.
class ChebyshevExponential {
 public:
  ChebyshevExponential(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian, double tolerance);

  /// Prepare for one V and duration. Blocks, for the bounds of V.
  void prepare(const DeviceValues& potential, double duration);
  void apply(const DeviceComplexes& psi) const;
  /// Number of products of H and psi in an apply().
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

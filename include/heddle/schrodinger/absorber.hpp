// What takes a wave function away before it reaches the ends of the grid.
#pragma once

#include <heddle/schrodinger/grid.hpp>

#include <string_view>
#include <vector>

namespace heddle::schrodinger {

enum class AbsorberKind {
  none,
  polynomial,         ///< H - i W, W = strength s^power
  transmission_free,  ///< H - i W, W = energy y(x): no transmission, little reflection above `energy`
  mask,               ///< psi is multiplied by cos(pi s/2)^(dt/(8 time)) after each step
};
/// "none", "polynomial", "transmission-free" or "mask".
[[nodiscard]] std::string_view to_string(AbsorberKind kind);
[[nodiscard]] AbsorberKind absorber_kind_from(std::string_view text);

/// Two layers of `width` at the ends of the grid, in which s runs from 0 inside to 1 at the end; atomic units.
///
/// What a wave of momentum k meets: the probability that comes back is about exp(-4/k int W dx) through the layer and
/// back, plus what W's rise reflects, which falls with k width.
///
/// polynomial: the integral is strength width/(power + 1). For a probability of 1e-4 take strength = 2.3 (power + 1)
/// k/width with the k of the fastest wave that matters and a width of some wavelengths, 2 pi/k, of the slowest. power 0
/// is a step.
///
/// transmission_free: y(x) = a x - b x^3 + 4/(c - x)^2 - 4/(c + x)^2 with c the lemniscate constant 2.62206, a = 1 -
/// 16/c^3 and b = (1 - 17/c^3)/c^2, x running from 0 inside to c at the wall, one spacing behind the last point, so
/// that W is finite on the grid. `energy` is the least that is to be absorbed: of it 0.6% come back where width =
/// c/(0.4 sqrt(2 energy)), 0.1% at twice the width, and at twice the energy less than a tenth of either.
///
/// mask: as W = -ln(cos(pi s/2))/(8 time) split off from H, to first order in dt; the integral is width ln(2)/(8 time).
/// As it stands, cos^(1/8), it is what an interval of `time` applies, whatever dt.
///
/// Sources: U. V. Riss, H.-D. Meyer, J. Phys. B 26, 4503 (1993); D. E. Manolopoulos, J. Chem. Phys. 117, 9552 (2002);
/// J. L. Krause, K. J. Schafer, K. C. Kulander, Phys. Rev. A 45, 4998 (1992).
struct Absorber {
  AbsorberKind kind = AbsorberKind::none;
  double width = 10.0;    ///< bohr
  double strength = 1.0;  ///< eta of the polynomial, hartree
  double power = 2.0;     ///< p of the polynomial
  double energy = 0.1;    ///< Of the transmission-free form, hartree.
  double time = 0.25;     ///< Of the mask, atomic units of time.
};

/// Throws Error(argument) for values that are not finite, a width <= 0 or over half the grid's, a negative strength or
/// power, an energy or a time <= 0.
void validate(const Grid& grid, const Absorber& absorber);

/// W(x_i) >= 0 in hartree; empty without a complex potential.
[[nodiscard]] std::vector<double> absorbing_potential(const Grid& grid, const Absorber& absorber);
/// What psi(x_i) is multiplied by after a step; empty without a mask.
[[nodiscard]] std::vector<double> mask_of_step(const Grid& grid, const Absorber& absorber, double time_step);

}  // namespace heddle::schrodinger

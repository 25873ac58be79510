// Absorbers, which remove a wave function before it reaches the ends of the grid.
#pragma once

#include <heddle/schrodinger/grid.hpp>

#include <string_view>
#include <vector>

namespace heddle::schrodinger {

/// How a wave function is absorbed; Absorber explains the symbols.
enum class AbsorberKind {
  /// Nothing is absorbed.
  none,
  polynomial,  ///< A complex potential H - i W with W = strength s^power.
  /// A complex potential H - i W with W = energy y(x): no transmission, and little reflection above `energy`.
  transmission_free,
  mask,  ///< psi is multiplied by cos(pi s/2)^(dt/(8 time)) after each step.
};
/// The name of a kind: "none", "polynomial", "transmission-free" or "mask".
[[nodiscard]] std::string_view to_string(AbsorberKind kind);
/// The kind with this name. Throws Error(argument) for any other text.
[[nodiscard]] AbsorberKind absorber_kind_from(std::string_view text);

/// Two absorbing layers of `width` at the ends of the grid. In each of them s runs from 0 inside to 1 at the end.
/// Atomic units.
///
/// A wave of momentum k returns with a probability of about exp(-4/k int W dx) after passing through the layer and
/// back, plus the reflection by the rise of W, which falls with k width.
///
/// polynomial: the integral of W is strength width/(power + 1). For a probability of 1e-4 take strength = 2.3 (power +
/// 1) k/width with the k of the fastest wave that matters, and a width of some wavelengths, 2 pi/k, of the slowest.
/// power 0 is a step.
///
/// transmission_free: y(x) = a x - b x^3 + 4/(c - x)^2 - 4/(c + x)^2 with the lemniscate constant c = 2.62206, a = 1 -
/// 16/c^3 and b = (1 - 17/c^3)/c^2. x runs from 0 inside to c at the wall, one spacing behind the last point, so that W
/// is finite on the grid. `energy` is the least energy that is to be absorbed: a wave of this energy is reflected by
/// 0.6% if width = c/(0.4 sqrt(2 energy)), and by 0.1% at twice that width; a wave of twice the energy by less than a
/// tenth of either.
///
/// mask: this acts as W = -ln(cos(pi s/2))/(8 time) split off from H, to first order in dt; the integral of W is width
/// ln(2)/(8 time). An interval of `time` applies the factor cos^(1/8), whatever dt is.
///
/// Sources: U. V. Riss, H.-D. Meyer, J. Phys. B 26, 4503 (1993); D. E. Manolopoulos, J. Chem. Phys. 117, 9552 (2002);
/// J. L. Krause, K. J. Schafer, K. C. Kulander, Phys. Rev. A 45, 4998 (1992).
struct Absorber {
  AbsorberKind kind = AbsorberKind::none;  ///< How a wave function is absorbed.
  double width = 10.0;                     ///< Width of each layer, bohr.
  double strength = 1.0;                   ///< Strength eta of the polynomial, hartree.
  double power = 2.0;                      ///< Power p of the polynomial.
  double energy = 0.1;                     ///< Least energy that the transmission-free form is to absorb, hartree.
  double time = 0.25;                      ///< Interval in which the mask applies cos^(1/8), atomic units of time.
};

/// Throws Error(argument) for values that are not finite, a width that is not positive or exceeds half of the grid's
/// length, a negative strength or power, and an energy or a time that is not positive.
void validate(const Grid& grid, const Absorber& absorber);

/// W(x_i) >= 0 at all points of the grid, in hartree; empty if the absorber is no complex potential. Throws
/// Error(argument) as validate() of the grid and of the absorber does.
[[nodiscard]] std::vector<double> absorbing_potential(const Grid& grid, const Absorber& absorber);
/// The factors that psi(x_i) is multiplied by after a step of `time_step`; empty if the absorber is no mask.
/// Throws as absorbing_potential() does, and Error(argument) for a time step that is not finite and positive.
[[nodiscard]] std::vector<double> mask_of_step(const Grid& grid, const Absorber& absorber, double time_step);

}  // namespace heddle::schrodinger

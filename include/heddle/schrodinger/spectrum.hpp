// Spectra of what a simulation recorded.
#pragma once

#include <complex>
#include <span>
#include <string_view>
#include <vector>

namespace heddle::schrodinger {

/// w of a record from t = 0 to T: what cuts it off softly.
enum class Window {
  hann,         ///< cos^2(pi t/(2 T)) of an autocorrelation, sin^2(pi t/T) of a dipole moment
  rectangular,  ///< 1: the sharpest lines, with side lobes of a fifth of their height
};
/// "hann" or "rectangular".
[[nodiscard]] std::string_view to_string(Window window);
[[nodiscard]] Window window_from(std::string_view text);

/// S(E) = 1/pi Re int_0^T C(t) w(t) exp(i E t) dt at each of `energies`, by the trapezoidal rule over `times`, which
/// rise evenly from 0 to T.
///
/// C(t) = <psi(0)|psi(t)> of an H that does not move: S has a line at each eigenvalue E_k, of area |<phi_k|psi(0)>|^2.
/// Its full width at half maximum is 2 pi/T (hann) or 1.21 pi/T (rectangular): nearer levels are not told apart. What
/// lies beyond pi/dt of an energy, dt being the spacing of the times, is seen 2 pi/dt away (aliasing).
///
/// Cost: times.size() energies.size() operations, some nanoseconds each. On the calling thread. Throws Error(argument)
/// for fewer than two times, times that do not rise evenly from 0, or another number of values.
///
/// Source: E. J. Heller, Acc. Chem. Res. 14, 368 (1981).
[[nodiscard]] std::vector<double> autocorrelation_spectrum(std::span<const double> times,
                                                           std::span<const std::complex<double>> autocorrelation,
                                                           std::span<const double> energies,
                                                           Window window = Window::hann);

/// omega^4 |int_0^T (d(t) - d(0)) w(t) exp(i omega t) dt|^2 at each of `frequencies`: what a dipole moment d radiates,
/// up to a factor, as harmonics of the pulse that drives it. Cost and errors as above.
[[nodiscard]] std::vector<double> dipole_spectrum(std::span<const double> times, std::span<const double> dipole,
                                                  std::span<const double> frequencies, Window window = Window::hann);

}  // namespace heddle::schrodinger

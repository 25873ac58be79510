// Spectra of the records of a simulation over time.
#pragma once

#include <complex>
#include <span>
#include <string_view>
#include <vector>

namespace heddle::schrodinger {

/// The window w(t) that smoothly ends a record from t = 0 to T.
enum class Window {
  hann,         ///< cos^2(pi t/(2 T)) for an autocorrelation, sin^2(pi t/T) for a dipole moment.
  rectangular,  ///< w = 1: the sharpest lines, with side lobes of a fifth of their height.
};
/// The name of a window: "hann" or "rectangular".
[[nodiscard]] std::string_view to_string(Window window);
/// The window with this name. Throws Error(argument) for any other text.
[[nodiscard]] Window window_from(std::string_view text);

/// The spectrum S(E) = 1/pi Re int_0^T C(t) w(t) exp(i E t) dt at each of `energies`, by the trapezoidal rule over
/// `times`, which rise evenly from 0 to T.
///
/// C(t) = <psi(0)|psi(t)> is the autocorrelation for an H that does not depend on time: S then has a line at each
/// eigenvalue E_k, of area |<phi_k|psi(0)>|^2. Its full width at half maximum is 2 pi/T (hann) or 1.21 pi/T
/// (rectangular); closer levels are not resolved. With the spacing dt of the times, a line farther than pi/dt from an
/// energy appears 2 pi/dt away (aliasing).
///
/// Throws Error(argument) for fewer than two times, times that do not rise evenly from 0, or another number of values.
/// Cost: times.size() energies.size() operations, some nanoseconds each, on the calling thread.
///
/// Source: E. J. Heller, Acc. Chem. Res. 14, 368 (1981).
[[nodiscard]] std::vector<double> autocorrelation_spectrum(std::span<const double> times,
                                                           std::span<const std::complex<double>> autocorrelation,
                                                           std::span<const double> energies,
                                                           Window window = Window::hann);

/// The spectrum omega^4 |int_0^T (d(t) - d(0)) w(t) exp(i omega t) dt|^2 at each of `frequencies`: the radiation of a
/// dipole moment d, up to a factor, as harmonics of the pulse that drives it. Cost and errors are those of
/// autocorrelation_spectrum().
[[nodiscard]] std::vector<double> dipole_spectrum(std::span<const double> times, std::span<const double> dipole,
                                                  std::span<const double> frequencies, Window window = Window::hann);

}  // namespace heddle::schrodinger

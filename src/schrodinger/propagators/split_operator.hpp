// Products of exponentials of the potential and the kinetic energy.
#pragma once

#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/hamiltonian/grid_values.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

#include <vector>

namespace heddle::impl {

/// Applies exp(-i T a), where T's eigenvectors are the sines sin(pi (i + 1) k/(n + 1)), k = 1 ... n, and its
/// eigenvalues kinetic_symbol() at pi k/(n + 1): psi is continued as an odd function of period 2 (n + 1), which
/// vanishes at walls one spacing outside the grid, and convolved.
///
/// For fd2 this is the matrix T. For the wider differences and sinc it differs near the walls, where psi is continued
/// as an odd function instead of by zeros: the matrix is then T less t_(i+j+2), and its mirror image at the other end.
/// This matters only if psi reaches the walls.
///
/// Transforms of a period with large prime factors are slow. The convolution is then done on a longer line, about 3 n
/// values, the outermost of which are not used.
class SineTransform {
 public:
  SineTransform(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian);

  [[nodiscard]] Index length() const { return length_; }
  /// A line of values for the members below.
  [[nodiscard]] DeviceComplexes line() const;
  void load(const DeviceComplexes& psi, const DeviceComplexes& line) const;
  void store(const DeviceComplexes& line, const DeviceComplexes& psi) const;
  /// psi_i *= phases_i.
  void multiply(const DeviceComplexes& phases, const DeviceComplexes& line) const;
  /// Spectrum of exp(-i T duration), for convolve().
  [[nodiscard]] DeviceComplexes spectrum(double duration) const;
  void convolve(const DeviceComplexes& spectrum, const DeviceComplexes& line) const;

 private:
  ExecutionSpace space_;
  schrodinger::Hamiltonian hamiltonian_;
  Index walls_;  // n + 1
  Index length_;
  Fourier fourier_;
};

/// Stage of a step: exp(-i kick V(time) dt), then exp(-i drift T dt); the last has no drift.
struct SplitStage {
  double kick;
  double time;  ///< Time from the middle of the step, in units of dt.
  double drift;
};

/// Order 2: half of V, T, half of V, with V at the middle (Strang). Order 4: 7 exponentials of V and 6 of T, with V in
/// each at the time that the previous drifts have reached, which preserves the order for a time-dependent H.
///
/// Sources: M. D. Feit, J. A. Fleck, A. Steiger, J. Comput. Phys. 47, 412 (1982); S. Blanes, P. C. Moan, J. Comput.
/// Appl. Math. 142, 313 (2002), table 3, the method of 6 stages and order 4 for Runge-Kutta-Nystrom problems.
[[nodiscard]] std::vector<SplitStage> split_stages(int order);

}  // namespace heddle::impl

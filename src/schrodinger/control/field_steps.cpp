// Corners of the field of the pulses, and the number of steps that resolve it.
#include "schrodinger/control/field_steps.hpp"

#include <algorithm>

namespace heddle::impl {

using schrodinger::Envelope;
using schrodinger::Hamiltonian;
using schrodinger::Pulse;

std::vector<double> field_corners(const Hamiltonian& hamiltonian, double begin, double end) {
  std::vector<double> corners;
  // A corner within round-off of the end of the step is that end.
  const double least = std::max(rounding_of_time(begin), rounding_of_time(end));
  const auto add = [&](double time) {
    if (time > begin + least && time < end - least) corners.push_back(time);
  };
  for (const Pulse& pulse : hamiltonian.pulses()) {
    if (pulse.amplitude == 0) continue;
    const auto [first, last] = pulse.interval();
    add(first);
    add(last);
    if (pulse.envelope != Envelope::trapezoid || pulse.ramp == 0) continue;
    add(first + pulse.ramp);
    add(last - pulse.ramp);
  }
  std::sort(corners.begin(), corners.end());
  const auto same = [&](double a, double b) { return b - a <= least; };
  corners.erase(std::unique(corners.begin(), corners.end(), same), corners.end());
  return corners;
}

double steps_for_field(const Hamiltonian& hamiltonian, double begin, double end) {
  double steps = 1.0;
  for (const Pulse& pulse : hamiltonian.pulses()) {
    const auto [first, last] = pulse.interval();
    if (pulse.amplitude == 0 || first >= end || last <= begin) continue;
    const bool curved = pulse.envelope == Envelope::sine_squared || pulse.envelope == Envelope::gaussian;
    steps = std::max({steps, (end - begin) * pulse.omega, curved ? 8 * (end - begin) / pulse.duration : 1.0});
  }
  return steps;
}

}  // namespace heddle::impl

// The choice of the steps whose error is estimated.
#include "schrodinger/control/error_schedule.hpp"

#include "schrodinger/control/field_steps.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {

using schrodinger::Hamiltonian;
using schrodinger::Pulse;

namespace {

constexpr double golden = 0.6180339887498949;
constexpr double least_samples = 8;
constexpr double least_stride = 16;

double fraction(double value) {
  return value - std::floor(value);
}

}  // namespace

ErrorSchedule::ErrorSchedule(const Hamiltonian& hamiltonian, double time_step, double cost)
    : hamiltonian_(hamiltonian), time_step_(time_step), stride_(std::max(8 * cost, least_stride)) {}

bool ErrorSchedule::takes(Index step) const {
  const double begin = static_cast<double>(step) * time_step_;
  const double end = static_cast<double>(step + 1) * time_step_;
  if (step == 0 || field_changes_at(hamiltonian_, begin, time_step_)) return true;
  if (!field_corners(hamiltonian_, begin, end).empty()) return true;
  double stride = std::min(stride_, std::max(static_cast<double>(step) / least_samples, least_stride));
  for (const Pulse& pulse : hamiltonian_.pulses()) {
    const auto [first, last] = pulse.interval();
    if (pulse.amplitude == 0 || first >= end || last <= begin) continue;
    stride = std::min(stride, (last - first) / time_step_ / least_samples);
  }
  return fraction(static_cast<double>(step) * golden) * std::max(stride, 1.0) < 1.0;
}

bool field_changes_at(const Hamiltonian& hamiltonian, double begin, double time_step) {
  const double least = rounding_of_time(begin);
  const auto changed = [&](double time) { return time > begin - time_step + least && time <= begin + least; };
  return std::any_of(hamiltonian.pulses().begin(), hamiltonian.pulses().end(), [&](const Pulse& pulse) {
    const auto [first, last] = pulse.interval();
    return pulse.amplitude != 0 && (changed(first) || changed(last));
  });
}

}  // namespace heddle::impl

// Corners of the field of the pulses, and the number of steps that resolve it.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <cmath>
#include <vector>

namespace heddle::impl {

/// Rounding error of times near `time`, as sums and products.
[[nodiscard]] inline double rounding_of_time(double time) {
  return 0x1p-46 * std::abs(time);
}

/// Times after `begin` and before `end` at which a pulse begins, ends or has the corner of a ramp, in rising order.
/// Between two of them the field is smooth.
[[nodiscard]] std::vector<double> field_corners(const schrodinger::Hamiltonian& hamiltonian, double begin, double end);

/// Number of equal steps from `begin` to `end` that resolve the field: for each pulse in that time, steps of at most
/// one radian of its carrier and an eighth of its envelope's duration; at least 1. A trapezoid and a constant envelope
/// have no curvature between their corners, so that only their carrier matters.
[[nodiscard]] double steps_for_field(const schrodinger::Hamiltonian& hamiltonian, double begin, double end);

}  // namespace heddle::impl

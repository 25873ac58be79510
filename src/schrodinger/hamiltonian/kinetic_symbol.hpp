// Kinetic energy of the waves exp(i theta j) on a grid.
#pragma once

#include "libm/functions.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

#include <cmath>
#include <numbers>

namespace heddle::impl {

/// Kinetic energy of the wave whose phase changes by theta from point to point: t_0 + 2 sum_d t_d cos(d theta), for
/// sinc theta^2/(2 dx^2). Between 0 and its value at pi, which bounds the eigenvalues of the matrix T.
[[nodiscard]] inline double kinetic_symbol(const schrodinger::Hamiltonian& hamiltonian, double theta) {
  const schrodinger::Grid& grid = hamiltonian.grid();
  if (grid.kinetic == schrodinger::Kinetic::sinc) {
    const double momentum = theta / grid.spacing();
    return 0.5 * momentum * momentum;
  }
  const auto band = hamiltonian.kinetic();
  double sum = band[0];
  for (std::size_t d = 1; d < band.size(); ++d) sum += 2 * band[d] * libm::cos(static_cast<double>(d) * theta);
  return sum;
}

[[nodiscard]] inline double largest_kinetic(const schrodinger::Hamiltonian& hamiltonian) {
  return kinetic_symbol(hamiltonian, std::numbers::pi);
}

}  // namespace heddle::impl

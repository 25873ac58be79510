// Kinetic energy of the waves exp(i theta j) on a grid, by its band or its closed form.
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"

#include "libm/functions.hpp"

#include <numbers>

namespace heddle::impl {

double kinetic_symbol(const schrodinger::Hamiltonian& hamiltonian, double theta) {
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

double largest_kinetic(const schrodinger::Hamiltonian& hamiltonian) {
  return kinetic_symbol(hamiltonian, std::numbers::pi);
}

}  // namespace heddle::impl

// Lowest eigenstates of a Hamiltonian by bisection, Davidson's method or reflectors.
#include "blas/symmetric.hpp"
#include "schrodinger/hamiltonian/davidson.hpp"
#include "schrodinger/propagators/normalise.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/eigenstates.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace heddle::impl {

void normalise(const schrodinger::Grid& grid, schrodinger::Eigenstates& states) {
  const double scale = 1.0 / std::sqrt(grid.spacing());
  const auto n = static_cast<std::size_t>(states.points);
  for (std::size_t k = 0; k < states.energies.size(); ++k) {
    double* state = states.values.data() + k * n;
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(state[i]));
    std::size_t first = 0;
    while (first + 1 < n && std::abs(state[first]) <= 1e-3 * largest) ++first;
    const double factor = state[first] < 0 ? -scale : scale;
    for (std::size_t i = 0; i < n; ++i) state[i] *= factor;
  }
}

}  // namespace heddle::impl

namespace heddle::schrodinger {

namespace {

std::vector<double> diagonal_of(const Hamiltonian& hamiltonian, std::span<const double> potential) {
  std::vector<double> diagonal(potential.begin(), potential.end());
  for (double& value : diagonal) value += hamiltonian.kinetic()[0];
  return diagonal;
}

// Lower triangle, column-major.
std::vector<double> dense_of(const Hamiltonian& hamiltonian, std::span<const double> diagonal) {
  const std::size_t n = diagonal.size();
  const auto kinetic = hamiltonian.kinetic();
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    matrix[j * n + j] = diagonal[j];
    for (std::size_t d = 1; d < kinetic.size() && j + d < n; ++d) matrix[j * n + j + d] = kinetic[d];
  }
  return matrix;
}

}  // namespace

Eigenstates lowest_eigenstates(const Hamiltonian& hamiltonian, double time, Index count) {
  const Grid& grid = hamiltonian.grid();
  require(count >= 1 && count <= grid.points, count, " eigenstates of a Hamiltonian on ", grid.points,
          " points: expected 1 to ", grid.points);
  const std::vector<double> potential = hamiltonian.potential_at(time);
  const std::vector<double> diagonal = diagonal_of(hamiltonian, potential);
  require(std::all_of(diagonal.begin(), diagonal.end(), [](double value) { return std::isfinite(value); }),
          "eigenstates at t = ", time, ": the potential is not finite there");
  Eigenstates states;
  states.points = grid.points;
  if (hamiltonian.kinetic().size() == 2) {
    const std::vector<double> off_diagonal(grid.points - 1, hamiltonian.kinetic()[1]);
    impl::symmetric::tridiagonal_lowest(diagonal, off_diagonal, static_cast<std::size_t>(count), states.energies,
                                        states.values);
  } else if (!impl::davidson_lowest(hamiltonian, potential, count, states.energies, states.values)) {
    std::vector<double> matrix = dense_of(hamiltonian, diagonal);
    impl::symmetric::dense_lowest(diagonal.size(), matrix, static_cast<std::size_t>(count), states.energies,
                                  states.values);
  }
  impl::normalise(grid, states);
  return states;
}

}  // namespace heddle::schrodinger

// Initial wave functions: normalisation, momentum, Gaussian packets and eigenstates.
#include "core/complex_exponential.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/eigenstates.hpp>
#include <heddle/schrodinger/initial_state.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::schrodinger {

State normalised(const Grid& grid, State state) {
  require(static_cast<Index>(state.size()) == grid.points, "initial state: ", state.size(), " values for ", grid.points,
          " points");
  double largest = 0.0;
  for (const auto& value : state) {
    require(std::isfinite(value.real()) && std::isfinite(value.imag()), "initial state: its values must be finite");
    largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  }
  require(largest > 0, "initial state: it is zero on the whole grid");
  // Scaled first, so that squares neither overflow nor vanish.
  double sum = 0.0;
  for (auto& value : state) {
    value /= largest;
    sum += std::norm(value);
  }
  const double scale = 1.0 / std::sqrt(sum * grid.spacing());
  for (auto& value : state) value *= scale;
  return state;
}

State moved(const Grid& grid, State state, double momentum) {
  require(static_cast<Index>(state.size()) == grid.points, "initial state: ", state.size(), " values for ", grid.points,
          " points");
  if (momentum != 0.0) {
    for (Index i = 0; i < grid.points; ++i) state[i] *= impl::exponential(std::complex(0.0, momentum * grid.x(i)));
  }
  return normalised(grid, std::move(state));
}

State gaussian_packet(const Grid& grid, double position, double momentum, double width) {
  validate(grid);
  require(std::isfinite(position) && std::isfinite(momentum), "initial.position = ", position,
          " and initial.momentum = ", momentum, " must be finite");
  require(std::isfinite(width) && width > 0, "initial.width = ", width, " must be positive");
  State state(grid.points);
  for (Index i = 0; i < grid.points; ++i) {
    const double distance = (grid.x(i) - position) / (2 * width);
    state[i] = impl::exponential(std::complex(-distance * distance, momentum * grid.x(i)));
  }
  require(std::any_of(state.begin(), state.end(), [](const auto& value) { return value != 0.0; }),
          "initial state: a Gaussian at initial.position = ", position, " with initial.width = ", width,
          " is zero on the whole grid");
  return normalised(grid, std::move(state));
}

State eigenstate(const Hamiltonian& hamiltonian, Index level, double momentum) {
  const Grid& grid = hamiltonian.grid();
  require(level >= 0 && level < grid.points, "initial.level = ", level, ": the grid has levels 0 to ", grid.points - 1);
  require(std::isfinite(momentum), "initial.momentum = ", momentum, " must be finite");
  const Eigenstates states = lowest_eigenstates(hamiltonian.bare(), 0.0, level + 1);
  const auto values = states.state(level);
  return moved(grid, State(values.begin(), values.end()), momentum);
}

}  // namespace heddle::schrodinger

// Initial wave functions of simulations.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::schrodinger {

/// The wave function `state` normalised to sum |psi|^2 dx = 1. Throws Error(argument) for values that are not finite or
/// all zero, or a length other than the grid's.
[[nodiscard]] State normalised(const Grid& grid, State state);

/// The wave function exp(i momentum x) psi, normalised. Throws Error(argument) as normalised() does.
[[nodiscard]] State moved(const Grid& grid, State state, double momentum);

/// The wave packet psi(x) ~ exp(-(x - position)^2 / (4 width^2)) exp(i momentum x), normalised on the grid; `width` is
/// the standard deviation of |psi|^2. Throws Error(argument) for a width <= 0, or if the packet does not reach the
/// grid.
[[nodiscard]] State gaussian_packet(const Grid& grid, double position, double momentum, double width);

/// The wave function exp(i momentum x) phi, where phi is eigenstate `level` (0 is the ground state) of H at t = 0
/// without its pulses. With momentum v it is the state that moves along with nuclei drifting at v. Computed on the
/// calling rank's host alone.
[[nodiscard]] State eigenstate(const Hamiltonian& hamiltonian, Index level, double momentum = 0.0);

}  // namespace heddle::schrodinger

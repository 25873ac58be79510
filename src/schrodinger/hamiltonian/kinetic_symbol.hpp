// Kinetic energy of the waves exp(i theta j) on a grid.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::impl {

/// Kinetic energy of the wave whose phase changes by theta from point to point: t_0 + 2 sum_d t_d cos(d theta), for
/// sinc theta^2/(2 dx^2). Between 0 and its value at pi, which bounds the eigenvalues of the matrix T.
[[nodiscard]] double kinetic_symbol(const schrodinger::Hamiltonian& hamiltonian, double theta);

[[nodiscard]] double largest_kinetic(const schrodinger::Hamiltonian& hamiltonian);

}  // namespace heddle::impl

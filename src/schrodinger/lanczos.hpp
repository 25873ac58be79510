// Lowest eigenpairs of a Hamiltonian without reducing the whole matrix.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <span>
#include <vector>

namespace heddle::impl {

/// Block Lanczos on (H - min V)^-1 with full orthogonalisation, from a fixed start. T is positive definite, so H - min
/// V is too, and its largest inverse eigenvalues are the lowest of H.
///
/// True with energies rising and vectors (n x count, 2-norm 1) whose residuals are at most 1e-10 ||H||; false, both
/// undefined, where LAPACK is the better choice (small grid, large count) or that was not reached.
bool lanczos_lowest(const schrodinger::Hamiltonian& hamiltonian, std::span<const double> potential, Index count,
                    std::vector<double>& energies, std::vector<double>& vectors);

}  // namespace heddle::impl

// Lowest eigenpairs of a Hamiltonian without a reduction of the whole matrix.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <span>
#include <vector>

namespace heddle::impl {

/// Davidson's method with full orthogonalisation, for fd4, fd6 and sinc. It begins with the eigenvectors of fd2 on the
/// same grid, which bisection finds in about 500 n operations each. The preconditioner is the Cholesky factor of H - s,
/// with s somewhat below fd2's lowest level, which is below H's; for sinc it is that of fd6, whose kinetic matrix is
/// within a factor of 1.7 of sinc's in any direction, whatever the grid. H times a vector is a product with a band, or
/// for sinc takes Fourier transforms: nothing takes n^2 operations.
///
/// Returns true with rising energies and vectors (n x count, 2-norm 1) whose residuals are at most 1e-10 N, N = max
/// |H_ii| + 2 sum |t_d|; false, with both undefined, if reflectors are the better choice (small grid, large count) or
/// that accuracy was not reached. It begins the same way each time.
///
/// Source: E. R. Davidson, J. Comput. Phys. 17, 87 (1975).
bool davidson_lowest(const schrodinger::Hamiltonian& hamiltonian, std::span<const double> potential, Index count,
                     std::vector<double>& energies, std::vector<double>& vectors);

}  // namespace heddle::impl

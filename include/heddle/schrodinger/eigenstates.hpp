// The lowest stationary states of H(t).
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <span>
#include <vector>

namespace heddle::schrodinger {

/// Lowest states of H at one time: energies rising, in hartree; state k has k nodes.
struct Eigenstates {
  Index points = 0;
  std::vector<double> energies;
  std::vector<double> values;  ///< points x energies.size(), column by column; each with sum phi^2 dx = 1.

  [[nodiscard]] std::span<const double> state(Index level) const {
    return {values.data() + level * points, static_cast<std::size_t>(points)};
  }
};

/// The `count` lowest, on the calling rank's host alone. Real; each positive where, from the left, it first exceeds a
/// thousandth of its maximum.
///
/// fd2: LAPACK's bisection and inverse iteration (dstevx), some n count^2 operations. fd4, fd6, sinc: Davidson's method
/// from there, preconditioned by a banded Cholesky factor, H times a vector by its band or, for sinc, by Fourier
/// transforms: some n (log n + count^2) operations an iteration. Where that does not converge to 1e-10 ||H||, or the
/// grid is small or `count` large, LAPACK's dsyevr takes some 2 n^3. It starts the same way each time: no result
/// depends on an earlier call.
///
/// Two states whose energies differ by no more than round-off of ||H|| (wells so far apart that tunnelling vanishes)
/// are any orthonormal pair of their plane; populations of such a pair mean something in sum only.
///
/// Throws Error(argument) unless 1 <= count <= points, and for a V(time) that is not finite; Error(computation) where
/// LAPACK fails.
[[nodiscard]] Eigenstates lowest_eigenstates(const Hamiltonian& hamiltonian, double time, Index count);

}  // namespace heddle::schrodinger

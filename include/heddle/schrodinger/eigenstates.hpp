// The lowest stationary states of the Hamiltonian at one time.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <span>
#include <vector>

namespace heddle::schrodinger {

/// The lowest eigenstates of H at one time; state k has k nodes.
struct Eigenstates {
  /// Number of points of the grid.
  Index points = 0;
  /// Eigenvalues of H in hartree, rising.
  std::vector<double> energies;
  std::vector<double> values;  ///< The states, points x energies.size(), column by column; each has sum phi^2 dx = 1.

  /// The values of state `level`, which is 0 for the ground state.
  [[nodiscard]] std::span<const double> state(Index level) const {
    return {values.data() + level * points, static_cast<std::size_t>(points)};
  }
};

/// The `count` lowest eigenstates of H at `time`, computed on the calling rank's host alone. They are real, and each is
/// positive where, from the left, it first exceeds a thousandth of its maximum.
///
/// Method: for fd2, bisection and inverse iteration, with about 500 n count + 12 n count^2 operations. For fd4, fd6 and
/// sinc, Davidson's method, which begins at the states of fd2, is preconditioned by a banded Cholesky factor, and
/// multiplies H and a vector by its band or, for sinc, by Fourier transforms: about n (log n + count^2) operations an
/// iteration. If that does not converge to a residual of 1e-10 N, where N = max |H_ii| + 2 sum |t_d| >= ||H||, or if
/// the grid is small or `count` large, reflectors make H tridiagonal, with about 4 n^3 / 3 operations. The iteration
/// starts the same way each time, so no result depends on an earlier call.
///
/// Bits: reproducible. All sums have a fixed order; no BLAS, LAPACK or mathematical library of the host takes part.
///
/// Two states whose energies differ by no more than the round-off of ||H|| (in wells so far apart that tunnelling
/// vanishes) are an arbitrary orthonormal pair of their plane, though the same on every machine; for such a pair, only
/// the sum of populations is meaningful.
///
/// Throws Error(argument) unless 1 <= count <= points, and for a V(time) that is not finite; Error(computation) if
/// energies overflow.
[[nodiscard]] Eigenstates lowest_eigenstates(const Hamiltonian& hamiltonian, double time, Index count);

}  // namespace heddle::schrodinger

// Stationary states by propagation in imaginary time.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/schrodinger/eigenstates.hpp>

#include <iosfwd>

namespace heddle::schrodinger {

/// Required accuracy of the states, and limits of the propagation.
struct ImaginaryTimeOptions {
  /// The largest ||H phi_k - E_k phi_k|| that is allowed at the end, hartree. An eigenvalue then lies within it of E_k,
  /// and usually within about its square divided by the distance of the levels.
  double tolerance = 1e-8;
  /// The largest number of steps.
  Index most_steps = 1000;
  Index tile = 0;  ///< Tile of the matrix products; 0: default_tile(points).
  /// Arithmetic of the matrix products.
  Arithmetic arithmetic = Arithmetic::native;
};

/// Report of a propagation in imaginary time.
struct ImaginaryTimeReport {
  Index steps = 0;        ///< Number of products of exp(-H step) with the block of vectors.
  double time = 0.0;      ///< Imaginary time of all steps together, 1/hartree.
  double step = 0.0;      ///< Length of the last step, 1/hartree.
  double residual = 0.0;  ///< Largest ||H phi_k - E_k phi_k|| of the states, hartree.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const ImaginaryTimeReport& report);

/// The `count` lowest states of H(time), in the form of lowest_eigenstates(), on every rank, from phi(tau) = exp(-H
/// tau) phi(0), which tends to the states that decay slowest. Collective, blocks. `report` is filled unless it is null.
///
/// Method: exp(-(H - s) step) is a real matrix over all ranks, which expm() computes once for a short step, and which
/// is squared as long as the step is short for the levels found. It multiplies a block of b = count + 2 vectors (all,
/// if the grid has fewer points); then rank 0 orthonormalises the block and takes the best approximations of the lowest
/// states in it (Rayleigh and Ritz). A step makes the error of state k smaller by exp(-(E_b - E_k) step). The block
/// begins as waves in a box, so no result depends on an earlier call.
///
/// The method uses nothing of H but the exponential and the product with a vector. lowest_eigenstates(), which uses the
/// band, costs less: this function is for comparison, and for states that are consistent with a propagator's own
/// exponential.
///
/// Bits: rank-invariant; reproducible with emulated products. Cost: one expm(), 2 n^3 operations for each doubling of
/// the step, 2 b n^2 for each step.
///
/// Throws Error(argument) unless 1 <= count <= points, for a tolerance or most_steps that is not positive, a negative
/// tile, and a V(time) that is not finite; Error(computation) if the tolerance is not reached in most_steps.
///
/// Source: R. Kosloff, H. Tal-Ezer, Chem. Phys. Lett. 127, 223 (1986).
[[nodiscard]] Eigenstates imaginary_time_states(const Communicator& comm, const Hamiltonian& hamiltonian, double time,
                                                Index count, const ImaginaryTimeOptions& options = {},
                                                ImaginaryTimeReport* report = nullptr);

}  // namespace heddle::schrodinger

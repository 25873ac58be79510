// Stationary states by propagation in imaginary time.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/schrodinger/eigenstates.hpp>

namespace heddle::schrodinger {

struct ImaginaryTimeOptions {
  /// Largest ||H phi_k - E_k phi_k|| at the end, hartree: an eigenvalue lies within it of E_k; as a rule within about
  /// its square over the distance of the levels.
  double tolerance = 1e-8;
  Index most_steps = 1000;
  Index tile = 0;  ///< Of the matrix products; 0: default_tile(points).
};

struct ImaginaryTimeReport {
  Index steps = 0;        ///< Products of exp(-H step) with the block.
  double time = 0.0;      ///< All of them together, 1/hartree.
  double step = 0.0;      ///< The last.
  double residual = 0.0;  ///< Largest, see ImaginaryTimeOptions::tolerance.
};

/// The `count` lowest states of H(time), as lowest_eigenstates() gives them, on every rank: by phi(tau) = exp(-H tau)
/// phi(0), which leaves in the end what decays slowest. Collective, blocks. `report`, if any, is filled.
///
/// exp(-(H - s) step) is a real matrix over all ranks, made once by expm() for a short step, and multiplied by itself
/// while a step is short for the levels found. It multiplies a block of b = count + 2 vectors (all, if the grid has
/// fewer points); then rank 0 orthonormalises the block and takes the best approximations of the lowest states in it
/// (Rayleigh and Ritz). A step makes the error of state k smaller by exp(-(E_b - E_k) step). It starts with waves in a
/// box: no result depends on an earlier call.
///
/// It knows of H only the exponential and the product with a vector. lowest_eigenstates(), which knows the band, costs
/// less: this is the method for comparison, and for states that fit a propagator's own exponential.
///
/// Bits: rank-invariant. Cost: one expm(), 2 n^3 operations a doubling of the step, 2 b n^2 a step.
///
/// Throws Error(argument) unless 1 <= count <= points, and for a tolerance or most_steps that is not positive or a
/// negative tile; Error(computation) where the tolerance is not reached in most_steps.
///
/// Source: R. Kosloff, H. Tal-Ezer, Chem. Phys. Lett. 127, 223 (1986).
[[nodiscard]] Eigenstates imaginary_time_states(const Communicator& comm, const Hamiltonian& hamiltonian, double time,
                                                Index count, const ImaginaryTimeOptions& options = {},
                                                ImaginaryTimeReport* report = nullptr);

}  // namespace heddle::schrodinger

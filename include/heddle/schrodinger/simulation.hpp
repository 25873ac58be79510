// The time-dependent Schrodinger equation, step by step.
#pragma once

#include <heddle/expm/expm.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>
#include <heddle/schrodinger/observables.hpp>
#include <heddle/schrodinger/propagator.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::schrodinger {

/// Tile that depends on the number of points alone, so that a result does not depend on the number of ranks: a quarter
/// of the matrix, between 32 and 1024 and a multiple of 8.
[[nodiscard]] Index default_tile(Index points);

struct SimulationOptions {
  double time_step = 0.002;  ///< dt, atomic units of time.
  PropagatorOptions propagator;
  Index states = 4;  ///< Instantaneous eigenstates of H.bare() whose populations are observed; 0: none.
};

/// Seconds that this rank has spent, since construction. Each part ends where the rank waits for the device anyway, but
/// for `hamiltonian`, which costs one fence a step.
struct SimulationTimes {
  double total = 0.0;        ///< In step() and observables().
  double hamiltonian = 0.0;  ///< Filling the matrix.
  double expm = 0.0;         ///< In the matrix exponential, its products included.
  double gemm = 0.0;         ///< In its matrix products.
  double apply = 0.0;        ///< psi' = E psi and its exchange.
  double solve = 0.0;        ///< Crank-Nicolson: factoring and solving.
  double certificate = 0.0;  ///< Certifying exponentials.
  double eigenstates = 0.0;  ///< Waiting for them.
  /// Computing them: on GPU backends on a host thread, during the step that leads to their time.
  double eigenstates_computed = 0.0;
  double observables = 0.0;  ///< Without the eigenstates.
};

/// i d psi/dt = (H(t) - i W) psi in steps of dt, by psi(t + dt) = exp(-i H(t + dt/2) dt) psi(t): second order in dt
/// where H depends on time, exact in dt where it does not (the exponential is then computed once). A mask of the
/// Hamiltonian's absorber follows each step.
///
/// Several wave functions share H, its exponential and its eigenstates; each of them is what it would be alone, bit for
/// bit. A unitary step keeps their overlaps: see largest_overlap().
///
/// The n x n matrices are in row bands over the ranks and never leave the device; each rank has a copy of psi there and
/// on its host. A step moves n values of psi between the two, and the observables, a few numbers reduced on the device
/// of rank 0, which sends them to the others. Eigenstates are LAPACK's, on the host of rank 0: on GPU backends a thread
/// computes those of a step's end while the device computes the exponential, once observables() is asked for after each
/// step. Crank-Nicolson is solved on the host of rank 0. All members that say so are collective.
///
/// Step k goes from t = k dt to (k + 1) dt, times being products, not sums: a simulation constructed with state() and
/// steps_done() of another continues it bit for bit.
///
/// Bits: rank-invariant (at equal tile, backend and threads per rank). psi' = E psi adds columns in a fixed order. With
/// propagator.arithmetic emulated psi is reproducible, and so are observables but for populations and energies of
/// eigenstates, which are LAPACK's: the same for any tile and threads, on CPUs and GPUs; absorbers take the host
/// library's pow().
///
/// Cost of a step with moving nuclei: one ExpmPlan::execute() of a purely imaginary matrix; with propagator.degree k
/// that is 2 (k - 1) n^3 flops over all ranks. Memory of a rank: 4 n^2/P doubles (3 n^2 where P = 1) and the plan's
/// workspace.
///
/// Sources: Y. R. Choi, V. Stegailov, RuSCDays 2023 (algorithm 3; there A = i H dt, the sign is -i); exponential
/// midpoint rule: W. Magnus, Comm. Pure Appl. Math. 7, 649 (1954); J. Crank, P. Nicolson 1947.
class Simulation {
 public:
  /// One wave function. `initial` is read on rank 0; its norm is kept as it is. Collective. Throws Error(argument), on
  /// every rank alike, for a state that does not fit the grid or isn't finite, a time step that is not finite and
  /// positive, propagator options that validate() refuses, or more states than points.
  Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
             const State& initial, Index steps_done = 0);
  /// As many wave functions as rank 0 gives, at least one.
  Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
             const std::vector<State>& initial, Index steps_done = 0);
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// One step of dt of all wave functions. Collective, blocks. Throws Error(computation) where the propagator fails or
  /// a psi is no longer finite.
  void step();

  [[nodiscard]] Index steps_done() const;
  [[nodiscard]] double time() const;
  /// How many wave functions there are.
  [[nodiscard]] Index count() const;
  /// psi_k at time(), the same bits on every rank; 0 <= k < count().
  [[nodiscard]] const State& state(Index k = 0) const;
  /// Of psi_k at time(); computed by the first call after a step. Collective, blocks; the same bits on every rank.
  [[nodiscard]] const Observables& observables(Index k = 0);
  /// Largest |<psi_j|psi_k>| of two of them at time(); 0 for one. On the calling rank's host alone: n operations a
  /// pair.
  [[nodiscard]] double largest_overlap() const;

  [[nodiscard]] const SimulationTimes& times() const;
  /// What a step is done with; automatic is resolved after the first step.
  [[nodiscard]] const PropagatorChoice& propagator() const;
  /// The same in words.
  [[nodiscard]] std::string propagator_description() const;
  /// The latest exponential's, but for the certificate, which is the largest so far; absent before the first step and
  /// with methods that compute none as a matrix.
  [[nodiscard]] const std::optional<ExpmReport>& expm_report() const;
  /// Tile in use.
  [[nodiscard]] Index tile() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::schrodinger

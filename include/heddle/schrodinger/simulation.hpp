// Simulation of the time-dependent Schrodinger equation, step by step.
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

/// The tile of matrix products for a number of points: a quarter of the matrix, between 32 and 1024 and a multiple of
/// 8. It depends on the number of points alone, so that results do not depend on the number of ranks.
[[nodiscard]] Index default_tile(Index points);

/// Estimated errors of psi in a simulation; see Observables::error. Only some steps are estimated; a step between two
/// of them counts with the larger of both estimates.
struct ErrorEstimate {
  double psi = 0.0;                  ///< Error up to the latest estimated step.
  double probability = 0.0;          ///< Error of ||psi||^2 up to that step.
  double psi_of_step = 0.0;          ///< Error of that step alone.
  double probability_of_step = 0.0;  ///< Error of ||psi||^2 in that step alone.
  double steps_since = 0.0;          ///< Number of steps after it.
  double steps_looked_at = 0.0;      ///< Number of estimated steps.
};

/// How a simulation takes its steps, and what it observes.
struct SimulationOptions {
  double time_step = 0.002;  ///< Step dt, atomic units of time.
  /// How each step is computed.
  PropagatorOptions propagator;
  Index states = 4;      ///< Number of instantaneous eigenstates of H.bare() whose populations are observed; 0: none.
  ErrorEstimate errors;  ///< Errors of the initial wave functions, from an earlier part of the run.
};

/// Seconds that this rank has spent since the simulation was constructed. Each part ends where the rank waits for the
/// device anyway, except for `hamiltonian`, which costs one fence a step.
struct SimulationTimes {
  double total = 0.0;        ///< Seconds in step() and observables().
  double hamiltonian = 0.0;  ///< Seconds spent filling the matrix of H.
  double expm = 0.0;         ///< Seconds in the matrix exponential, its products included.
  double gemm = 0.0;         ///< Seconds in the matrix products of the exponential.
  double apply = 0.0;        ///< Seconds in psi' = E psi, where E is the exponential, and its exchange.
  double solve = 0.0;        ///< Seconds that Crank-Nicolson took to factor and solve.
  double certificate = 0.0;  ///< Seconds spent certifying exponentials.
  double eigenstates = 0.0;  ///< Seconds spent waiting for eigenstates.
  /// Seconds spent computing eigenstates; on GPU backends by a host thread, during the step that leads to their time.
  double eigenstates_computed = 0.0;
  double observables = 0.0;  ///< Seconds spent on observables, without the eigenstates.
  double errors = 0.0;       ///< Seconds spent on estimates of errors, if the caller chose the method.
};

/// The solution of i d psi/dt = (H(t) - i W) psi in steps of dt; with PropagatorKind::expm, psi(t + dt) = exp(-i H(t +
/// dt/2) dt) psi(t). This is of second order in dt if H depends on time, and exact in dt otherwise (the exponential is
/// then computed once). A mask of the Hamiltonian's absorber is applied after each step.
///
/// Several wave functions share H, its exponential and its eigenstates; each has the same bits as alone, except with
/// `automatic`, whose choice depends on all of them. A unitary step keeps their overlaps, the largest of which
/// largest_overlap() returns.
///
/// The n x n matrices are in row bands over the ranks and never leave the device; each rank has a copy of psi on the
/// device and on its host. A step moves the n values of psi between the two, and the observables, a few numbers that
/// the device of rank 0 reduces and rank 0 sends to the others. Eigenstates are computed on the host of rank 0: on
/// GPU backends, a thread computes those of a step's end while the device computes the exponential, if
/// observables() is called after each step. Crank-Nicolson is solved on the host of rank 0. Members are collective
/// where stated.
///
/// The error of some of the steps is estimated, with any method, by comparison with an accurate step; see
/// PropagatorKind::automatic, which keeps it below its tolerance. Steps of other methods are not changed; about one in
/// 16 is estimated, and the estimates take an eighth of the time, or less.
///
/// A psi of any norm from 1e-290 to 1e150 gives observables as accurately as one of norm 1; for others |psi|^2, or
/// digits of psi itself, could not be represented.
///
/// Step k goes from t = k dt to (k + 1) dt, where times are products and not sums: a simulation that is constructed
/// with state() and steps_done() of another one, and its last nodes, continues it bit for bit.
///
/// Bits: rank-invariant (at equal tile, backend and threads per rank). psi' = E psi adds columns in a fixed order. With
/// emulated propagator.arithmetic psi is reproducible: its bits are the same for any tile and threads, on CPUs and
/// GPUs, with absorbers and masks, too. So are the observables, populations and energies of eigenstates included.
/// Estimates of errors are not: the steps that they compare with may take Fourier transforms of a library.
///
/// Cost of a step with moving nuclei: one ExpmPlan::execute() of a purely imaginary matrix; with propagator.degree k
/// that is 2 (k - 1) n^3 flops over all ranks. Memory of a rank: 4 n^2/P doubles (3 n^2 where P = 1) for P ranks, and
/// the plan's workspace.
///
/// Sources: Y. R. Choi, V. Stegailov, RuSCDays 2023 (algorithm 3; there A = i H dt, the sign is -i); exponential
/// midpoint rule: W. Magnus, Comm. Pure Appl. Math. 7, 649 (1954); J. Crank, P. Nicolson 1947.
class Simulation {
 public:
  /// Makes a simulation of one wave function. `initial` is read on rank 0, and its norm is kept as it is; `steps_done`
  /// is the number of steps before it, and `nodes`, read on rank 0, its Observables::node_positions at that time, or
  /// empty if they were not observed. Collective. Throws Error(argument), on every rank alike, for a state that does
  /// not fit the grid or isn't finite, a time step that is not finite and positive, propagator options that validate()
  /// refuses, more states than points, or a number of steps done that is negative or beyond 2^52.
  Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
             const State& initial, Index steps_done = 0, const std::vector<double>& nodes = {});
  /// Makes a simulation of as many wave functions as rank 0 gives, at least one; `nodes` are those of each, or empty.
  /// Collective; throws as for one wave function.
  Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
             const std::vector<State>& initial, Index steps_done = 0,
             const std::vector<std::vector<double>>& nodes = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// Takes one step of dt of all wave functions. Collective, blocks. Throws Error(computation) if the propagator fails
  /// or a psi becomes infinite or NaN.
  void step();

  /// Number of steps taken, those before the construction included.
  [[nodiscard]] Index steps_done() const;
  /// The time that the wave functions have reached, steps_done() dt, atomic units of time.
  [[nodiscard]] double time() const;
  /// Number of wave functions.
  [[nodiscard]] Index count() const;
  /// The wave function psi_k at time(), with the same bits on every rank; 0 <= k < count().
  [[nodiscard]] const State& state(Index k = 0) const;
  /// The observables of psi_k at time(), which the first call after a step computes. Nodes are tracked from each such
  /// call to the next. Collective, blocks; the same bits on every rank.
  [[nodiscard]] const Observables& observables(Index k = 0);
  /// The largest |<psi_j|psi_k>| of two wave functions at time(); 0 if there is only one. Computed on the calling
  /// rank's host alone, with n operations for each pair.
  [[nodiscard]] double largest_overlap() const;

  /// The estimated error of psi at time().
  [[nodiscard]] const ErrorEstimate& errors() const;
  /// Seconds that this rank has spent.
  [[nodiscard]] const SimulationTimes& times() const;
  /// The method and parameters of a step; `automatic` has chosen after the first step.
  [[nodiscard]] const PropagatorChoice& propagator() const;
  /// Description of propagator() in words.
  [[nodiscard]] std::string propagator_description() const;
  /// The report of the latest exponential, whose certificate is the largest so far; empty before the first step, and
  /// with methods that compute no exponential as a matrix.
  [[nodiscard]] const std::optional<ExpmReport>& expm_report() const;
  /// The tile of the matrix products.
  [[nodiscard]] Index tile() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::schrodinger

// Interface of the methods for one step of a wave function.
#pragma once

#include "schrodinger/propagators/wave_function.hpp"
#include <heddle/schrodinger/simulation.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace heddle::impl {

/// Error of a step, relative to the norm; of several wave functions, that with the largest error.
struct StepError {
  double psi = 0.0;          ///< ||psi - psi'||.
  double probability = 0.0;  ///< | ||psi||^2 - ||psi'||^2 |.
  bool begins = false;       ///< The field differs from that of the steps before.
  bool lasts = true;         ///< Later steps may have the same error.
  /// For a repeated step: errors of the rejected attempt, which the steps before it, by the same method, may have had.
  double given_up_psi = 0.0;
  double given_up_probability = 0.0;
};

class Propagator {
 public:
  virtual ~Propagator() = default;
  Propagator(const Propagator&) = delete;
  Propagator& operator=(const Propagator&) = delete;

  /// Advance each of the states over one step whose middle is `midpoint`. Collective; adds to `times`.
  virtual void advance(double midpoint, std::span<WaveFunction> states, schrodinger::SimulationTimes& times) = 0;

  /// The choice for a step, with `automatic` resolved: in that case only after the first advance().
  [[nodiscard]] const schrodinger::PropagatorChoice& choice() const { return choice_; }
  [[nodiscard]] schrodinger::PropagatorKind kind() const { return choice_.kind; }
  /// Description in words.
  [[nodiscard]] virtual std::string description() const { return schrodinger::to_string(choice_); }
  /// Report of the latest exponential, for methods that compute one as a matrix.
  [[nodiscard]] const std::optional<ExpmReport>& report() const { return report_; }
  /// Estimated error of the latest step; empty if it was not estimated.
  [[nodiscard]] const std::optional<StepError>& error() const { return error_; }

 protected:
  explicit Propagator(schrodinger::PropagatorChoice choice) : choice_(std::move(choice)) {}

  /// Call step(middle) for each of the equal parts of the step, in turn.
  template <class Step> void each_substep(double midpoint, double time_step, const Step& step) const {
    const double part = time_step / choice_.substeps;
    for (int k = 0; k < choice_.substeps; ++k) step(midpoint + (k - 0.5 * (choice_.substeps - 1)) * part);
  }

  schrodinger::PropagatorChoice choice_;
  std::optional<ExpmReport> report_;
  std::optional<StepError> error_;
};

/// Throws Error(argument), on every rank alike, for an order that the kind does not have, fewer than one substep,
/// values out of range, and a split operator if the build has no Fourier transform.
[[nodiscard]] std::unique_ptr<Propagator> make_propagator(const Communicator& comm,
                                                          const schrodinger::Hamiltonian& hamiltonian, double time_step,
                                                          const schrodinger::PropagatorOptions& options);

}  // namespace heddle::impl

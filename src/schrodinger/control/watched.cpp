// Error estimates for some steps of a method of the user's choice.
#include "schrodinger/control/costs.hpp"
#include "schrodinger/control/error_schedule.hpp"
#include "schrodinger/control/field_steps.hpp"
#include "schrodinger/control/reference.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include "schrodinger/simulation/stopwatch.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::PropagatorKind;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;
using schrodinger::State;

// Cost of an estimate, in steps.
double cost_of_estimate(const Hamiltonian& hamiltonian, double time_step, const PropagatorOptions& options) {
  const auto choice = choice_of(options);
  const double steps = options.duration > 0 ? std::max(options.duration / time_step, 1.0) : 1000.0;
  const double part = time_step / choice.substeps;
  const double tolerance = unit_roundoff<double>;
  const int parts = hamiltonian.moves() ? 2 * choice.substeps : 1;
  const double step = choice.substeps * cost_of({choice.kind, choice.order}, hamiltonian, part, tolerance, steps);
  return parts * cost_of({PropagatorKind::chebyshev, 4}, hamiltonian, time_step / parts, tolerance, steps) / step;
}

class Watched : public Propagator {
 public:
  Watched(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step, const PropagatorOptions& options,
          std::unique_ptr<Propagator> method)
      : Propagator(method->choice()),
        comm_(comm),
        hamiltonian_(hamiltonian),
        time_step_(time_step),
        reference_(comm, hamiltonian),
        method_(std::move(method)) {
    try {
      schedule_.emplace(hamiltonian, time_step, cost_of_estimate(hamiltonian, time_step, options));
    } catch (const Error& error) {
      // A series that is too long for an estimate does not prevent the run.
      if (error.kind() != ErrorKind::argument) throw;
    }
  }

  [[nodiscard]] std::string description() const override { return method_->description(); }

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    const double begin = midpoint - 0.5 * time_step_;
    const auto step = static_cast<Index>(std::llround(begin / time_step_));
    error_.reset();
    const bool taken = schedule_ && schedule_->takes(step);
    std::vector<WaveFunction> exact;
    if (taken) {
      for (const WaveFunction& psi : states) {
        exact.emplace_back(comm_, static_cast<Index>(psi.host().size())).assign(psi.host());
      }
    }
    method_->advance(midpoint, states, times);
    report_ = method_->report();
    if (!taken) return;
    const Stopwatch watch(times.errors);
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    error_ = StepError{.psi = unknown, .probability = unknown};
    try {
      reference_.advance(begin, time_step_, choice_.substeps, 2, 0.0, exact);
      error_ = difference(states, exact);
      const bool corner = !field_corners(hamiltonian_, begin, begin + time_step_).empty();
      error_->begins = corner || field_changes_at(hamiltonian_, begin, time_step_);
      error_->lasts = !corner;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::argument) throw;
    }
  }

 private:
  Communicator comm_;
  Hamiltonian hamiltonian_;
  double time_step_;
  Reference reference_;
  std::unique_ptr<Propagator> method_;
  std::optional<ErrorSchedule> schedule_;
};

}  // namespace

std::unique_ptr<Propagator> make_watched(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                                         const PropagatorOptions& options, std::unique_ptr<Propagator> method) {
  return std::make_unique<Watched>(comm, hamiltonian, time_step, options, std::move(method));
}

}  // namespace heddle::impl

// PropagatorKind::automatic: the cheapest propagator for an accuracy, with control of the error of its steps.
#include "libm/functions.hpp"
#include "schrodinger/control/costs.hpp"
#include "schrodinger/control/error_schedule.hpp"
#include "schrodinger/control/field_steps.hpp"
#include "schrodinger/control/reference.hpp"
#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::Kinetic;
using schrodinger::PropagatorChoice;
using schrodinger::PropagatorKind;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;
using schrodinger::State;

constexpr double default_tolerance = 1e-6;
constexpr double round_off = 1e-14;  // of two propagations under comparison
constexpr int samples_at_rest = 5;   // for nuclei that move smoothly
constexpr int samples_of_field = 8;
constexpr double steps_worth_a_choice = 64;

class Automatic : public Propagator {
 public:
  Automatic(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
            const PropagatorOptions& options)
      : Propagator(PropagatorChoice{}),
        comm_(comm),
        hamiltonian_(hamiltonian),
        time_step_(time_step),
        options_(options),
        reference_(comm, hamiltonian) {
    if (options_.tolerance == 0.0) options_.tolerance = default_tolerance;
    if (!options_.resumed) return;
    const PropagatorChoice& resumed = *options_.resumed;
    take({resumed.kind, resumed.order}, resumed.substeps, resumed.tolerance);
    choice_.reason = "as before";
  }

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    const double begin = midpoint - 0.5 * time_step_;
    const auto step = static_cast<Index>(std::llround(begin / time_step_));
    error_.reset();
    const double until = segment_end(begin);
    const bool segment_begins = field_changes_at(hamiltonian_, begin, time_step_);
    if (!chosen_ || (segment_begins && until - begin > steps_worth_a_choice * time_step_)) {
      choose(begin, until, copies_of(states));
    }
    if (!field_corners(hamiltonian_, begin, begin + time_step_).empty() ||
        steps_for_field(hamiltonian_, begin, begin + time_step_) > choice_.substeps) {
      return refine(begin, states);
    }
    if (!schedule_->takes(step)) return take_step(midpoint, states, times);
    const std::vector<State> before = copies_of(states);
    constexpr int attempts = 3;
    StepError first;
    const auto note_attempts = [&] {
      error_->begins = segment_begins;
      error_->given_up_psi = first.psi;
      error_->given_up_probability = first.probability;
    };
    for (int k = 0; k < attempts; ++k) {
      take_step(midpoint, states, times);
      error_ = error_of_step(begin, before, states);
      if (error_->psi <= options_.tolerance * time_step_) return note_attempts();
      if (k == 0) first = *error_;
      restore(before, states);
      choose(begin, until, before);
    }
    refine(begin, states);
    note_attempts();
  }

 private:
  // Tolerance of an exponential in a part of the step: small, since its error changes the norm, from which the
  // ionisation is a small difference.
  [[nodiscard]] double inner_tolerance(int substeps) const {
    return std::clamp(0.01 * options_.tolerance * time_step_ / substeps, unit_roundoff<double>, 0.1);
  }

  [[nodiscard]] PropagatorOptions options_for(const PropagatorCandidate& candidate, double tolerance) const {
    PropagatorOptions options;
    options.kind = candidate.kind;
    options.order = candidate.order;
    options.tile = options_.tile;
    options.tolerance = tolerance;
    return options;
  }

  // Rank 0's value on every rank: different processors may round differently, and the decisions that follow are
  // collective.
  [[nodiscard]] double agreed(double value) const {
    comm_.broadcast(std::span(&value, 1), 0);
    return value;
  }
  [[nodiscard]] StepError agreed(const StepError& error) const {
    return {.psi = agreed(error.psi), .probability = agreed(error.probability)};
  }

  void take(const PropagatorCandidate& candidate, int substeps, double tolerance) {
    PropagatorOptions options = options_for(candidate, tolerance);
    options.substeps = substeps;
    chosen_ = make_propagator(comm_, hamiltonian_, time_step_, options);
    choice_ = chosen_->choice();
    const double steps = steps_of_run();
    const double one = substeps * cost_of(candidate, hamiltonian_, time_step_ / substeps, tolerance, steps);
    const int parts = hamiltonian_.moves() ? 2 * substeps : 1;
    const double estimate =
        parts * cost_of({PropagatorKind::chebyshev, 4}, hamiltonian_, time_step_ / parts, unit_roundoff<double>, steps);
    schedule_.emplace(hamiltonian_, time_step_, agreed(estimate / one));
  }

  void take_step(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) {
    chosen_->advance(midpoint, states, times);
    report_ = chosen_->report();
  }

  [[nodiscard]] static std::vector<State> copies_of(std::span<const WaveFunction> states) {
    std::vector<State> copies;
    for (const WaveFunction& psi : states) copies.push_back(psi.host());
    return copies;
  }
  static void restore(const std::vector<State>& from, std::span<WaveFunction> states) {
    for (std::size_t k = 0; k < from.size(); ++k) states[k].assign(from[k]);
  }
  // As many wave functions as `like`, of this simulation's size.
  [[nodiscard]] std::vector<WaveFunction> waves_of(const std::vector<State>& like) const {
    std::vector<WaveFunction> waves;
    for (const State& state : like) waves.emplace_back(comm_, static_cast<Index>(state.size())).assign(state);
    return waves;
  }

  // Infinity if no series is long enough: each rank finds that out alone, unlike other errors, which are collective.
  [[nodiscard]] StepError error_of_part(double begin, double length, int substeps, const std::vector<State>& before,
                                        std::span<const WaveFunction> found) {
    constexpr double none = std::numeric_limits<double>::infinity();
    std::vector<WaveFunction> exact = waves_of(before);
    try {
      reference_.advance(begin, length, substeps, 2, 1e-3 * options_.tolerance * length, exact);
      return agreed(difference(found, exact));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::argument) throw;
      return agreed(StepError{.psi = none, .probability = none});
    }
  }
  [[nodiscard]] StepError error_of_step(double begin, const std::vector<State>& before,
                                        std::span<const WaveFunction> found) {
    StepError error = error_of_part(begin, time_step_, choice_.substeps, before, found);
    if (error.psi <= round_off * choice_.substeps) error.psi = std::min(error.psi, options_.tolerance * time_step_);
    return error;
  }

  // Take a step with a field that the chosen method does not follow, by series of order 4 between the corners of the
  // field, with half the substeps until two results agree. A fifteenth of their difference is the error of the second.
  void refine(double begin, std::span<WaveFunction> states) {
    const std::vector<State> before = copies_of(states);
    const double allowed = options_.tolerance * time_step_;
    std::vector<WaveFunction> coarse = waves_of(before);
    reference_.advance(begin, time_step_, choice_.substeps, 1, 0.01 * allowed, coarse);
    for (int factor = 2;; factor *= 2) {
      std::vector<WaveFunction> fine = waves_of(before);
      reference_.advance(begin, time_step_, choice_.substeps, factor, 0.01 * allowed, fine);
      const StepError error = agreed(difference(coarse, fine));
      // By 8 and not 15, in case the order is not yet reached.
      if (error.psi <= std::max(8 * allowed, round_off * factor * choice_.substeps)) {
        restore(copies_of(fine), states);
        error_ = StepError{error.psi / 8, error.probability / 8 + 0.01 * allowed, true, false};
        return;
      }
      coarse = std::move(fine);
    }
  }

  [[nodiscard]] double steps_of_run() const {
    // Number of steps that share the exponential of a constant H.
    return options_.duration > 0 ? std::max(options_.duration / time_step_, 1.0) : 1000.0;
  }

  // Next time at which the field changes, whether or not the run gets there: a longer run continues a shorter one. The
  // run's end if no pulse is left.
  [[nodiscard]] double segment_end(double begin) const {
    double end = std::numeric_limits<double>::infinity();
    for (const auto& pulse : hamiltonian_.pulses()) {
      if (pulse.amplitude == 0) continue;
      for (const double time : pulse.interval()) {
        if (time > begin + 0.5 * time_step_) end = std::min(end, time);
      }
    }
    if (std::isfinite(end)) return end;
    return begin < options_.duration - 0.5 * time_step_ ? options_.duration : begin + options_.duration;
  }

  // Times at which H is tested, from `begin` on. In a field they are irregular, to sample all phases of the carrier.
  [[nodiscard]] std::vector<double> sample_times(double begin, double until) const {
    std::vector<double> times = {begin};
    if (!(until > begin) || !hamiltonian_.moves()) return times;
    const double middle = 0.5 * (begin + until);
    const bool in_field =
        std::any_of(hamiltonian_.pulses().begin(), hamiltonian_.pulses().end(), [&](const auto& pulse) {
          const auto [first, last] = pulse.interval();
          return pulse.amplitude != 0 && first < middle && last > middle;
        });
    if (!in_field) {
      for (int k = 1; k < samples_at_rest; ++k) times.push_back(begin + (until - begin) * k / samples_at_rest);
      return times;
    }
    constexpr double golden = 0.6180339887498949;
    for (int k = 1; k < samples_of_field; ++k) {
      times.push_back(begin + (until - begin) * (k * golden - std::floor(k * golden)));
    }
    return times;
  }

  // The largest error of any state per unit of time, from one step of dt/substeps at each of the times. Infinity if a
  // series would be too long.
  double error_rate(const PropagatorCandidate& candidate, int substeps, const std::vector<double>& begins,
                    const std::vector<State>& before) {
    const double step = time_step_ / substeps;
    const auto whole = make_propagator(comm_, hamiltonian_, step, options_for(candidate, inner_tolerance(substeps)));
    std::vector<WaveFunction> states = waves_of(before);
    SimulationTimes unused;
    double largest = 0.0;
    for (const double begin : begins) {
      restore(before, states);
      try {
        whole->advance(begin + 0.5 * step, states, unused);
      } catch (const Error& error) {
        if (candidate.kind != PropagatorKind::chebyshev || error.kind() != ErrorKind::argument) throw;
        // As many messages as error_of_part() sends on ranks without such an error.
        constexpr double none = std::numeric_limits<double>::infinity();
        return agreed(StepError{.psi = none, .probability = none}).psi;
      }
      const double error = error_of_part(begin, step, 1, before, states).psi;
      if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
      if (error > round_off) largest = std::max(largest, error / step);
    }
    return largest;
  }

  // Number of substeps for the tolerance; 0: more than allowed.
  int substeps_for(const PropagatorCandidate& candidate, const std::vector<double>& begins,
                   const std::vector<State>& states, double& rate) {
    double least = 1.0;
    for (const double begin : begins) {
      least = std::max(least, steps_for_field(hamiltonian_, begin, begin + time_step_));
    }
    if (least > most_substeps) return 0;
    int substeps = static_cast<int>(std::ceil(least));
    double last = std::numeric_limits<double>::infinity();
    while (true) {
      rate = error_rate(candidate, substeps, begins, states);
      if (rate <= options_.tolerance) return substeps;
      // An error that shorter steps do not reduce comes from a different kinetic energy.
      if (std::isinf(rate) || (rate > 0.9 * last && substeps > 8)) return 0;
      last = rate;
      const double more = std::min(libm::pow(rate / (0.8 * options_.tolerance), 1.0 / candidate.order), 32.0);
      substeps = std::max(substeps + 1, static_cast<int>(std::ceil(substeps * more)));
      if (substeps > most_substeps) return 0;
    }
  }

  [[nodiscard]] std::vector<PropagatorCandidate> candidates() const {
    std::vector<PropagatorCandidate> all = {{PropagatorKind::chebyshev, 2}};
    // expm and magnus4 compute the same exponentials as matrices, so that their errors are known.
    all.push_back({PropagatorKind::expm, 2});
    if (hamiltonian_.moves()) {
      all.push_back({PropagatorKind::chebyshev, 4});
      all.push_back({PropagatorKind::magnus4, 4});
    }
    if (has_fourier()) {
      all.push_back({PropagatorKind::split_operator, 2});
      all.push_back({PropagatorKind::split_operator, 4});
    }
    if (hamiltonian_.grid().kinetic != Kinetic::sinc) all.push_back({PropagatorKind::crank_nicolson, 2});
    if (options_.order > 0)
      std::erase_if(all, [&](const PropagatorCandidate& one) { return one.order != options_.order; });
    // If H does not move, an exponential is exact in dt and of any order.
    if (all.empty() || (!hamiltonian_.moves() && options_.order == 4)) all.push_back({PropagatorKind::chebyshev, 4});
    return all;
  }

  void choose(double begin, double until, const std::vector<State>& states) {
    struct Judged {
      PropagatorCandidate candidate{};
      int substeps = 1;
      double rate = 0.0;
      double seconds = 0.0;
    };
    const double steps = steps_of_run();
    const std::vector<double> begins = sample_times(begin, until);
    std::vector<Judged> judged;
    for (const PropagatorCandidate& candidate : candidates()) {
      Judged one{candidate, 1, 0.0, 0.0};
      if (candidate.kind == PropagatorKind::expm || candidate.kind == PropagatorKind::magnus4) {
        if (judged.empty() || judged.back().candidate.kind != PropagatorKind::chebyshev) continue;
        one.substeps = judged.back().substeps;
        one.rate = judged.back().rate;
      } else {
        one.substeps = substeps_for(candidate, begins, states, one.rate);
        if (one.substeps == 0) continue;
      }
      one.seconds = agreed(one.substeps * cost_of(candidate, hamiltonian_, time_step_ / one.substeps,
                                                  inner_tolerance(one.substeps), steps));
      judged.push_back(one);
    }
    require(!judged.empty(), "propagator automatic: no method reaches an error of ", options_.tolerance,
            " per atomic unit of time in ", most_substeps, " substeps; take a smaller step");
    std::sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) { return a.seconds < b.seconds; });
    const Judged& best = judged.front();
    take(best.candidate, best.substeps, inner_tolerance(best.substeps));
    std::ostringstream reason;
    reason.precision(2);
    reason << "error " << best.rate << " per unit of time, " << options_.tolerance << " asked for; " << best.seconds
           << " s a step by the cost model";
    if (judged.size() > 1) {
      const Judged& next = judged[1];
      reason << ", the next is " << to_string(next.candidate.kind) << " of order " << next.candidate.order << " with "
             << next.substeps << (next.substeps == 1 ? " substep and " : " substeps and ") << next.seconds << " s";
    }
    choice_.reason = reason.str();
  }

  Communicator comm_;
  Hamiltonian hamiltonian_;
  double time_step_;
  PropagatorOptions options_;
  Reference reference_;
  std::unique_ptr<Propagator> chosen_;
  std::optional<ErrorSchedule> schedule_;
};

}  // namespace

std::unique_ptr<Propagator> make_automatic(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                                           const PropagatorOptions& options) {
  return std::make_unique<Automatic>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl

// Simulation: steps, observables and error estimates of several wave functions.
#include "libm/functions.hpp"
#include "schrodinger/hamiltonian/eigenstates_ahead.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include "schrodinger/simulation/observer.hpp"
#include "schrodinger/simulation/stopwatch.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace heddle::schrodinger {

namespace {

void validate(const Hamiltonian& hamiltonian, const SimulationOptions& options, Index steps_done) {
  require(std::isfinite(options.time_step) && options.time_step > 0, "time.step = ", options.time_step,
          " must be finite and positive");
  schrodinger::validate(options.propagator);
  require(options.states >= 0 && options.states <= hamiltonian.grid().points, "output.states = ", options.states,
          ": the grid has ", hamiltonian.grid().points, " states");
  // Times are products of this number, which a double is to hold.
  constexpr Index most_steps = Index{1} << 52;
  require(steps_done >= 0 && steps_done <= most_steps, "steps done = ", steps_done, " must be from 0 to 2^52");
}

// Require a size that keeps all digits, and whose square is a finite nonzero number.
void require_size(const State& state) {
  double largest = 0.0;
  for (const auto& value : state) largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  require(largest >= 1e-290 && largest <= 1e150, "initial state: its largest value is ", largest,
          largest == 0 ? ", so it is zero on the whole grid" : "", "; expected one from 1e-290 to 1e150");
}

void require_finite(const State& state) {
  require(std::all_of(state.begin(), state.end(),
                      [](const auto& value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }),
          "initial state: its values must be finite");
}

// Broadcast rank 0's observables in one message, and one more if there are nodes.
void broadcast(const Communicator& comm, Observables& seen, Index states) {
  seen.energies.resize(static_cast<std::size_t>(states));
  seen.populations.resize(static_cast<std::size_t>(states));
  std::vector<double> values = {
      seen.norm,      seen.energy,          seen.position,         seen.dipole,
      seen.nuclei[0], seen.nuclei[1],       seen.edge_probability, static_cast<double>(seen.nodes),
      seen.field,     seen.position_spread, seen.energy_spread};
  const std::size_t scalars = values.size();
  values.insert(values.end(), seen.energies.begin(), seen.energies.end());
  values.insert(values.end(), seen.populations.begin(), seen.populations.end());
  comm.broadcast(std::span(values), 0);
  seen.norm = values[0];
  seen.energy = values[1];
  seen.position = values[2];
  seen.dipole = values[3];
  seen.nuclei = {values[4], values[5]};
  seen.edge_probability = values[6];
  seen.nodes = static_cast<Index>(values[7]);
  seen.field = values[8];
  seen.position_spread = values[9];
  seen.energy_spread = values[10];
  seen.node_positions.resize(static_cast<std::size_t>(seen.nodes));
  if (seen.nodes > 0) comm.broadcast(std::span(seen.node_positions), 0);
  const auto energies = values.begin() + static_cast<std::ptrdiff_t>(scalars);
  std::copy(energies, energies + states, seen.energies.begin());
  std::copy(energies + states, values.end(), seen.populations.begin());
}

}  // namespace

Index default_tile(Index points) {
  return std::clamp<Index>((points + 31) / 32 * 8, 32, 1024);
}

struct Simulation::Impl {
  Impl(const Communicator& communicator, const Hamiltonian& of, const SimulationOptions& chosen, Index count,
       Index done, std::vector<std::vector<double>> nodes)
      : comm(communicator),
        hamiltonian(of),
        options(chosen),
        propagator(made_propagator()),
        errors(options.errors),
        mask(mask_of_step(hamiltonian.grid(), hamiltonian.absorber(), options.time_step)),
        steps(done),
        observables(static_cast<std::size_t>(count)),
        nodes_before(std::move(nodes)) {
    nodes_before.resize(static_cast<std::size_t>(count));
    psi.reserve(static_cast<std::size_t>(count));
    for (Index k = 0; k < count; ++k) psi.emplace_back(comm, hamiltonian.grid().points);
    if (comm.rank() == 0) {
      observer.emplace(comm.space(), hamiltonian, options.states);
      if (options.states > 0) eigenstates.emplace(hamiltonian.bare(), options.states);
    }
  }

  [[nodiscard]] std::unique_ptr<impl::Propagator> made_propagator() const {
    auto method = impl::make_propagator(comm, hamiltonian, options.time_step, options.propagator);
    if (options.propagator.kind == PropagatorKind::automatic) return method;
    return impl::make_watched(comm, hamiltonian, options.time_step, options.propagator, std::move(method));
  }

  // Add the error of the latest step, estimated or not.
  void add_error(const std::optional<impl::StepError>& of_step) {
    if (!of_step) {
      errors.steps_since += 1;
      return;
    }
    const auto between = [&](double last, double now, double given_up) {
      return errors.steps_since * (of_step->begins ? last : std::max({last, now, given_up}));
    };
    errors.psi += between(errors.psi_of_step, of_step->psi, of_step->given_up_psi) + of_step->psi;
    errors.probability +=
        between(errors.probability_of_step, of_step->probability, of_step->given_up_probability) + of_step->probability;
    errors.steps_since = 0;
    errors.steps_looked_at += 1;
    if (!of_step->lasts) return;
    errors.psi_of_step = of_step->psi;
    errors.probability_of_step = of_step->probability;
  }

  [[nodiscard]] double time_of(Index step) const { return static_cast<double>(step) * options.time_step; }

  // If a state was observed before this step, begin the eigenstates for the end of it.
  void begin_eigenstates() {
    const bool looked = std::any_of(observables.begin(), observables.end(), [](const auto& seen) { return !!seen; });
    if (looked && eigenstates) eigenstates->begin(time_of(steps + 1));
  }

  void absorb() {
    if (mask.empty()) return;
    for (impl::WaveFunction& one : psi) {
      State state = one.host();
      for (std::size_t i = 0; i < state.size(); ++i) state[i] *= mask[i];
      one.assign(state);
    }
  }

  void observe_now(Index k) {
    const double now = time_of(steps);
    Observables seen;
    comm.on_rank(0, [&] {
      if (eigenstates) {
        const impl::Stopwatch watch(times.eigenstates);
        if (eigenstates->advance_to(now)) observer->use(eigenstates->current());
        times.eigenstates_computed = eigenstates->seconds();
      }
      const impl::Stopwatch watch(times.observables);
      seen = observer->observe(now, psi[k], nodes_before[k]);
      nodes_before[k] = seen.node_positions;
    });
    broadcast(comm, seen, options.states);
    seen.step = steps;
    seen.time = now;
    seen.error = errors.psi + errors.steps_since * errors.psi_of_step;
    seen.probability_error = errors.probability + errors.steps_since * errors.probability_of_step;
    observables[k] = std::move(seen);
  }

  Communicator comm;
  Hamiltonian hamiltonian;
  SimulationOptions options;
  std::unique_ptr<impl::Propagator> propagator;
  ErrorEstimate errors;
  std::vector<double> mask;
  std::vector<impl::WaveFunction> psi;
  Index steps;
  std::optional<impl::Observer> observer;             // on rank 0 alone
  std::optional<impl::EigenstatesAhead> eigenstates;  // on rank 0 alone, if requested
  std::vector<std::optional<Observables>> observables;
  std::vector<std::vector<double>> nodes_before;  // node_positions of the latest observables, on rank 0 alone
  SimulationTimes times;
};

Simulation::Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
                       const State& initial, Index steps_done, const std::vector<double>& nodes)
    : Simulation(comm, hamiltonian, options, std::vector<State>{initial}, steps_done, {nodes}) {}

Simulation::Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
                       const std::vector<State>& initial, Index steps_done,
                       const std::vector<std::vector<double>>& nodes) {
  comm.together([&] {
    validate(hamiltonian, options, steps_done);
    auto count = static_cast<Index>(initial.size());
    comm.broadcast(std::span(&count, 1), 0);
    require(count > 0, "a simulation needs an initial state");
    const auto points = static_cast<std::size_t>(hamiltonian.grid().points);
    comm.on_rank(0, [&] {
      for (const State& state : initial) {
        require(state.size() == points, "initial state: ", state.size(), " values for ", points, " points");
        require_finite(state);
        require_size(state);
      }
      require(nodes.empty() || nodes.size() == initial.size(), "nodes of ", nodes.size(), " wave functions for ",
              initial.size());
    });
    impl_ = std::make_unique<Impl>(comm, hamiltonian, options, count, steps_done, nodes);
    for (std::size_t k = 0; k < impl_->psi.size(); ++k) {
      State state = comm.rank() == 0 ? initial[k] : State(points);
      comm.broadcast(std::span(state), 0);
      impl_->psi[k].assign(state);
    }
  });
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::step() {
  impl_->comm.together([&] {
    const impl::Stopwatch watch(impl_->times.total);
    const double midpoint = (static_cast<double>(impl_->steps) + 0.5) * impl_->options.time_step;
    impl_->begin_eigenstates();
    for (auto& seen : impl_->observables) seen.reset();
    impl_->propagator->advance(midpoint, impl_->psi, impl_->times);
    impl_->add_error(impl_->propagator->error());
    impl_->absorb();
    ++impl_->steps;
    for (const impl::WaveFunction& psi : impl_->psi) {
      if (!psi.finite()) {
        throw Error(ErrorKind::computation, message_of("psi is no longer finite after step ", impl_->steps));
      }
    }
  });
}

Index Simulation::steps_done() const {
  return impl_->steps;
}

double Simulation::time() const {
  return impl_->time_of(impl_->steps);
}

Index Simulation::count() const {
  return static_cast<Index>(impl_->psi.size());
}

const State& Simulation::state(Index k) const {
  require(k >= 0 && k < count(), "wave function ", k, " of ", count());
  return impl_->psi[k].host();
}

const Observables& Simulation::observables(Index k) {
  require(k >= 0 && k < count(), "wave function ", k, " of ", count());
  if (!impl_->observables[k]) {
    const impl::Stopwatch watch(impl_->times.total);
    impl_->observe_now(k);
  }
  return *impl_->observables[k];
}

double Simulation::largest_overlap() const {
  double largest = 0.0;
  for (std::size_t k = 1; k < impl_->psi.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      const auto& grid = impl_->hamiltonian.grid();
      const std::complex<double> shared = overlap(grid, impl_->psi[j].host(), impl_->psi[k].host());
      largest = std::max(largest, libm::hypot(shared.real(), shared.imag()));
    }
  }
  return largest;
}

const ErrorEstimate& Simulation::errors() const {
  return impl_->errors;
}

const SimulationTimes& Simulation::times() const {
  return impl_->times;
}

const PropagatorChoice& Simulation::propagator() const {
  return impl_->propagator->choice();
}

std::string Simulation::propagator_description() const {
  return impl_->propagator->description();
}

const std::optional<ExpmReport>& Simulation::expm_report() const {
  return impl_->propagator->report();
}

Index Simulation::tile() const {
  return impl_->options.propagator.tile > 0 ? impl_->options.propagator.tile
                                            : default_tile(impl_->hamiltonian.grid().points);
}

}  // namespace heddle::schrodinger

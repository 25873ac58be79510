#include "names.hpp"
#include "propagator.hpp"
#include "stopwatch.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<PropagatorKind, 2> propagator_names = {
    {{PropagatorKind::expm, "expm"}, {PropagatorKind::crank_nicolson, "crank-nicolson"}}};

void validate(const Hamiltonian& hamiltonian, const SimulationOptions& options, Index steps_done) {
  const PropagatorOptions& propagator = options.propagator;
  require(std::isfinite(options.time_step) && options.time_step > 0, "time.step = ", options.time_step,
          " must be finite and positive");
  require(propagator.degree >= 0, "propagator.degree = ", propagator.degree, " must not be negative");
  require(propagator.tolerance >= 0 && propagator.tolerance < 1, "propagator.tolerance = ", propagator.tolerance,
          " must be at least 0 and less than 1");
  require(propagator.tile >= 0, "tile = ", propagator.tile, " must not be negative");
  require(options.states >= 0 && options.states <= hamiltonian.grid().points, "output.states = ", options.states,
          ": the grid has ", hamiltonian.grid().points, " states");
  require(steps_done >= 0, "steps done = ", steps_done, " must not be negative");
}

bool finite(const State& state) {
  return std::all_of(state.begin(), state.end(),
                     [](const auto& value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); });
}

// Rank 0's on every rank.
void broadcast(const Communicator& comm, Observables& seen, Index states) {
  seen.energies.resize(static_cast<std::size_t>(states));
  seen.populations.resize(static_cast<std::size_t>(states));
  std::vector<double> values = {seen.norm,      seen.energy,    seen.position,        seen.dipole,
                                seen.nuclei[0], seen.nuclei[1], seen.edge_probability};
  comm.broadcast(std::span(values), 0);
  seen.norm = values[0];
  seen.energy = values[1];
  seen.position = values[2];
  seen.dipole = values[3];
  seen.nuclei = {values[4], values[5]};
  seen.edge_probability = values[6];
  comm.broadcast(std::span(&seen.nodes, 1), 0);
  comm.broadcast(std::span(seen.energies), 0);
  comm.broadcast(std::span(seen.populations), 0);
}

}  // namespace

std::string_view to_string(PropagatorKind kind) {
  return impl::name_of(propagator_names, kind, "propagator");
}

PropagatorKind propagator_kind_from(std::string_view text) {
  return impl::value_of(propagator_names, text, "propagator");
}

Index default_tile(Index points) {
  return std::clamp<Index>((points + 31) / 32 * 8, 32, 1024);
}

struct Simulation::Impl {
  Impl(const Communicator& communicator, const Hamiltonian& of, const SimulationOptions& chosen, Index done)
      : comm(communicator),
        hamiltonian(of),
        options(chosen),
        propagator(impl::make_propagator(comm, hamiltonian, options.time_step, options.propagator)),
        steps(done) {}

  [[nodiscard]] double time() const { return static_cast<double>(steps) * options.time_step; }

  void observe_now() {
    const double now = time();
    observables.emplace();
    comm.on_rank(0, [&] {
      if (options.states > 0 && (eigenstates.energies.empty() || hamiltonian.moves())) {
        const impl::Stopwatch watch(times.eigenstates);
        eigenstates = lowest_eigenstates(hamiltonian, now, options.states);
      }
      const impl::Stopwatch watch(times.observables);
      *observables = observe(hamiltonian, now, state, eigenstates);
    });
    broadcast(comm, *observables, options.states);
    observables->step = steps;
    observables->time = now;
  }

  Communicator comm;
  Hamiltonian hamiltonian;
  SimulationOptions options;
  std::unique_ptr<impl::Propagator> propagator;
  Index steps;
  State state;
  Eigenstates eigenstates;
  std::optional<Observables> observables;
  SimulationTimes times;
};

Simulation::Simulation(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
                       const State& initial, Index steps_done) {
  validate(hamiltonian, options, steps_done);
  impl_ = std::make_unique<Impl>(comm, hamiltonian, options, steps_done);
  const auto points = static_cast<std::size_t>(hamiltonian.grid().points);
  comm.on_rank(0, [&] {
    require(initial.size() == points, "initial state: ", initial.size(), " values for ", points, " points");
    require(finite(initial), "initial state: its values must be finite");
  });
  impl_->state = initial;
  impl_->state.resize(points);
  comm.broadcast(std::span(impl_->state), 0);
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::step() {
  const impl::Stopwatch watch(impl_->times.total);
  const double midpoint = (static_cast<double>(impl_->steps) + 0.5) * impl_->options.time_step;
  impl_->propagator->advance(midpoint, impl_->state, impl_->times);
  impl_->observables.reset();
  ++impl_->steps;
  if (!finite(impl_->state)) {
    throw Error(ErrorKind::computation, message_of("psi is no longer finite after step ", impl_->steps));
  }
}

Index Simulation::steps_done() const {
  return impl_->steps;
}

double Simulation::time() const {
  return impl_->time();
}

const State& Simulation::state() const {
  return impl_->state;
}

const Observables& Simulation::observables() {
  if (!impl_->observables) {
    const impl::Stopwatch watch(impl_->times.total);
    impl_->observe_now();
  }
  return *impl_->observables;
}

const SimulationTimes& Simulation::times() const {
  return impl_->times;
}

const std::optional<ExpmReport>& Simulation::expm_report() const {
  return impl_->propagator->report();
}

Index Simulation::tile() const {
  return impl_->options.propagator.tile > 0 ? impl_->options.propagator.tile
                                            : default_tile(impl_->hamiltonian.grid().points);
}

}  // namespace heddle::schrodinger

// Wave functions and levels of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/schrodinger/eigenstates.hpp>
#include <heddle/schrodinger/imaginary_time.hpp>
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/simulation.hpp>

namespace heddle::driver {
namespace {

using namespace schrodinger;

constexpr Nuclei vibrating{.separation = 2.0, .motion = Motion::stretch, .amplitude = 0.25, .omega = 3.0};

Grid grid_of(Kinetic kinetic, Index points = 97) {
  return {.xmin = -12.0, .xmax = 12.0, .points = points, .kinetic = kinetic};
}

void add(Sha256& hash, std::span<const double> numbers) {
  hash.add_numbers(numbers.data(), numbers.size());
}

void add(Sha256& hash, const Observables& seen) {
  add(hash, seen.energies);
  add(hash, seen.populations);
  const double others[] = {seen.norm, seen.energy, seen.position, seen.dipole, seen.field, seen.energy_spread};
  add(hash, others);
}

// The hash of psi after six steps and, if states are observed, of what is seen then.
std::string propagated(const Communicator& comm, const Hamiltonian& hamiltonian, const State& initial,
                       PropagatorKind kind = PropagatorKind::expm, Index states = 0) {
  SimulationOptions options{};
  options.time_step = 0.125;
  options.propagator.kind = kind;
  options.propagator.arithmetic = Arithmetic::emulated;
  options.states = states;
  Simulation simulation(comm, hamiltonian, options, initial);
  for (int k = 0; k < 6; ++k) simulation.step();
  const State& state = simulation.state();
  Sha256 hash;
  hash.add_numbers(reinterpret_cast<const double*>(state.data()), 2 * state.size());
  if (states > 0) add(hash, simulation.observables());
  return hash.digest();
}

template <PropagatorKind kind> std::string wave_function(const Communicator& comm) {
  const Grid grid = grid_of(Kinetic::sinc);
  const Hamiltonian hamiltonian(grid, Potential{}, vibrating, {{.amplitude = 0.05, .omega = 0.5, .duration = 4.0}});
  return propagated(comm, hamiltonian, gaussian_packet(grid, 1.0, 0.5, 1.0), kind);
}

std::string absorbed(const Communicator& comm, const Absorber& absorber) {
  const Grid grid = grid_of(Kinetic::fd4);
  return propagated(comm, Hamiltonian(grid, Potential{}, vibrating, {}, absorber),
                    gaussian_packet(grid, 6.0, 2.0, 1.0));
}
std::string absorbed_by_potential(const Communicator& comm) {
  return absorbed(comm, {.kind = AbsorberKind::polynomial, .width = 5.0, .strength = 2.0, .power = 2.5});
}
std::string absorbed_by_mask(const Communicator& comm) {
  return absorbed(comm, {.kind = AbsorberKind::mask, .width = 5.0});
}

std::string gaussian_pulse(const Communicator& comm) {
  const Grid grid = grid_of(Kinetic::fd6);
  const Pulse pulse{.envelope = Envelope::gaussian, .amplitude = 0.1, .omega = 0.7, .duration = 2.0};
  return propagated(comm, Hamiltonian(grid, Potential{}, Nuclei{.separation = 2.0}, {pulse}),
                    gaussian_packet(grid, 0.0, 0.25, 1.5), PropagatorKind::magnus4);
}

// Davidson's method, with products by Fourier transforms, in the initial state and at the end.
std::string from_eigenstate(const Communicator& comm) {
  const Hamiltonian hamiltonian(grid_of(Kinetic::sinc, 161), Potential{}, vibrating);
  return propagated(comm, hamiltonian, eigenstate(hamiltonian, 2, 0.5), PropagatorKind::expm, 4);
}

std::string digest_of(const Eigenstates& states) {
  Sha256 hash;
  add(hash, states.energies);
  add(hash, states.values);
  return hash.digest();
}
std::string from_imaginary_time(const Communicator& comm) {
  ImaginaryTimeOptions options;
  options.arithmetic = Arithmetic::emulated;
  return digest_of(
      imaginary_time_states(comm, Hamiltonian(grid_of(Kinetic::fd4), Potential{}, vibrating), 0.0, 2, options));
}
// fd2: bisection. fd6: Davidson's method, or, of many levels, reflectors.
template <Kinetic kinetic, Index count> std::string levels(const Communicator&) {
  return digest_of(lowest_eigenstates(Hamiltonian(grid_of(kinetic, 201), Potential{}, vibrating), 0.25, count));
}

}  // namespace

void add_wave_functions(std::vector<ManifestResult>& results) {
  results.push_back({"tdse expm", wave_function<PropagatorKind::expm>});
  results.push_back({"tdse magnus4", wave_function<PropagatorKind::magnus4>});
  results.push_back({"tdse absorber", absorbed_by_potential});
  results.push_back({"tdse mask", absorbed_by_mask});
  results.push_back({"tdse gaussian-pulse", gaussian_pulse});
  results.push_back({"tdse eigenstate", from_eigenstate});
  results.push_back({"tdse imaginary-time", from_imaginary_time});
  results.push_back({"levels bisection", levels<Kinetic::fd2, 6>});
  results.push_back({"levels davidson", levels<Kinetic::fd6, 6>});
  results.push_back({"levels reflectors", levels<Kinetic::fd6, 40>});
}

}  // namespace heddle::driver

// Wave functions of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/simulation.hpp>

namespace heddle::driver {
namespace {

using namespace schrodinger;

template <PropagatorKind kind> std::string wave_function(const Communicator& comm) {
  const Grid grid{.xmin = -12.0, .xmax = 12.0, .points = 97, .kinetic = Kinetic::sinc};
  const Nuclei nuclei{.separation = 2.0, .motion = Motion::stretch, .amplitude = 0.25, .omega = 3.0};
  const Hamiltonian hamiltonian(grid, Potential{}, nuclei, {{.amplitude = 0.05, .omega = 0.5, .duration = 4.0}});
  SimulationOptions options{};
  options.time_step = 0.125;
  options.propagator.kind = kind;
  options.propagator.arithmetic = Arithmetic::emulated;
  options.states = 0;
  Simulation simulation(comm, hamiltonian, options, gaussian_packet(grid, 1.0, 0.5, 1.0));
  for (int k = 0; k < 6; ++k) simulation.step();
  const State& state = simulation.state();
  Sha256 hash;
  hash.add_numbers(reinterpret_cast<const double*>(state.data()), 2 * state.size());
  return hash.digest();
}

}  // namespace

void add_wave_functions(std::vector<ManifestResult>& results) {
  results.push_back({"tdse expm", wave_function<PropagatorKind::expm>});
  results.push_back({"tdse magnus4", wave_function<PropagatorKind::magnus4>});
}

}  // namespace heddle::driver

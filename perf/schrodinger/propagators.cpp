// Accuracy against cost of the propagators on the stretched H2+ of src/drivers/decks/h2plus-stretch.toml, a quarter of
// a period, as a table for propagators.py; or the time of their steps on finer grids.
//
//   perf_schrodinger_propagators > propagators.csv
//   perf_schrodinger_propagators steps
#include <heddle/comm/device.hpp>
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace heddle;
using schrodinger::Hamiltonian;
using schrodinger::Kinetic;
using schrodinger::Motion;
using schrodinger::PropagatorKind;
using schrodinger::Simulation;
using schrodinger::SimulationOptions;
using schrodinger::State;

Hamiltonian stretched_ion(Index points, Motion motion) {
  schrodinger::Potential potential;
  potential.charge = 30;
  potential.softening = 0.1;
  schrodinger::Nuclei nuclei;
  nuclei.motion = motion;
  return {schrodinger::Grid{-10, 10, points, Kinetic::fd2}, potential, nuclei};
}

struct Method {
  PropagatorKind kind;
  int order;
  Index most_steps;
};

const std::vector<Method> methods = {{PropagatorKind::expm, 2, 1024},
                                     {PropagatorKind::magnus4, 4, 512},
                                     {PropagatorKind::crank_nicolson, 2, 65536},
                                     {PropagatorKind::split_operator, 2, 65536},
                                     {PropagatorKind::split_operator, 4, 4096},
                                     {PropagatorKind::chebyshev, 2, 65536},
                                     {PropagatorKind::chebyshev, 4, 4096}};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Returns the final state and the shortest time of some runs.
std::pair<State, double> propagated(const Communicator& comm, const Hamiltonian& hamiltonian,
                                    const SimulationOptions& options, const State& initial, Index steps) {
  std::pair<State, double> result(initial, 1e9);
  double total = 0.0;
  for (int repeat = 0; repeat < 10 && total < 0.5; ++repeat) {
    Simulation simulation(comm, hamiltonian, options, initial);
    const auto start = std::chrono::steady_clock::now();
    for (Index k = 0; k < steps; ++k) simulation.step();
    const double seconds = seconds_since(start);
    total += seconds;
    result = {simulation.state(), std::min(result.second, seconds)};
  }
  return result;
}

void print_accuracy(const Communicator& comm) {
  const Hamiltonian hamiltonian = stretched_ion(201, Motion::stretch);
  const State initial = schrodinger::eigenstate(hamiltonian, 0);
  const double duration = std::numbers::pi / 6;
  const auto options_of = [&](PropagatorKind kind, int order, Index steps) {
    SimulationOptions options;
    options.time_step = duration / static_cast<double>(steps);
    options.states = 0;
    options.propagator.kind = kind;
    options.propagator.order = order;
    return options;
  };
  const State converged =
      propagated(comm, hamiltonian, options_of(PropagatorKind::chebyshev, 4, 16384), initial, 16384).first;
  const auto error = [&](const State& state) {
    double sum = 0.0;
    for (std::size_t i = 0; i < state.size(); ++i) sum += std::norm(state[i] - converged[i]);
    return std::sqrt(sum * hamiltonian.grid().spacing());
  };
  std::printf("method,order,step,seconds,error\n");
  const auto print = [&](PropagatorKind kind, int order, double step, const std::pair<State, double>& result) {
    std::printf("%s,%d,%.6g,%.3g,%.3g\n", std::string(to_string(kind)).c_str(), order, step, result.second,
                error(result.first));
    std::fflush(stdout);
  };
  for (const Method& method : methods) {
    for (Index steps = 32; steps <= method.most_steps; steps *= 2) {
      const SimulationOptions options = options_of(method.kind, method.order, steps);
      print(method.kind, method.order, options.time_step, propagated(comm, hamiltonian, options, initial, steps));
    }
  }
  for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    SimulationOptions options = options_of(PropagatorKind::automatic, 0, 64);
    options.propagator.tolerance = tolerance;
    options.propagator.duration = duration;
    print(PropagatorKind::automatic, 0, tolerance, propagated(comm, hamiltonian, options, initial, 64));
  }
}

// Prints the shortest times of several, for moving and fixed nuclei; dense exponentials only on the coarser grids.
void print_steps(const Communicator& comm) {
  std::printf("points,motion,method,order,seconds\n");
  for (const Index points : {201, 1001, 4001}) {
    for (const Motion motion : {Motion::stretch, Motion::fixed}) {
      const Hamiltonian hamiltonian = stretched_ion(points, motion);
      const State initial = schrodinger::gaussian_packet(hamiltonian.grid(), 0, 1, 1);
      for (const Method& method : methods) {
        const bool dense = method.kind == PropagatorKind::expm || method.kind == PropagatorKind::magnus4;
        if (dense && points > 1001) continue;
        SimulationOptions options;
        options.states = 0;
        options.propagator.kind = method.kind;
        options.propagator.order = method.order;
        Simulation simulation(comm, hamiltonian, options, initial);
        double shortest = 1e9;
        for (int repeat = 0; repeat < (dense ? 4 : 300); ++repeat) {
          const auto start = std::chrono::steady_clock::now();
          simulation.step();
          if (repeat > 0) shortest = std::min(shortest, seconds_since(start));
        }
        std::printf("%d,%s,%s,%d,%.3g\n", static_cast<int>(points), std::string(to_string(motion)).c_str(),
                    std::string(to_string(method.kind)).c_str(), method.order, shortest);
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(bind_device(MPI_COMM_WORLD).settings());
    const Communicator comm(MPI_COMM_WORLD);
    if (argc > 1 && std::string_view(argv[1]) == "steps") {
      print_steps(comm);
    } else {
      print_accuracy(comm);
    }
  }
  MPI_Finalize();
  return 0;
}

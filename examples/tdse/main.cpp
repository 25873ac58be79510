// A Gaussian wave packet in a harmonic potential swings as a pendulum does: <x> = x0 cos(t).
#include <heddle/heddle.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    using namespace heddle::schrodinger;
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const Grid grid{.xmin = -10.0, .xmax = 10.0, .points = 161, .kinetic = Kinetic::sinc};
    const Hamiltonian H(grid, {.kind = PotentialKind::harmonic, .omega = 1.0});
    const double start = 3.0, step = 0.05;
    Simulation simulation(comm, H, {.time_step = step, .propagator = {.kind = PropagatorKind::chebyshev}, .states = 0},
                          gaussian_packet(grid, start, 0.0, std::sqrt(0.5)));
    for (int k = 1; k <= 126; ++k) {
      simulation.step();
      const auto& seen = simulation.observables();
      error = std::max(error, std::abs(seen.position - start * std::cos(seen.time)));
    }
    if (comm.rank() == 0) {
      const auto& seen = simulation.observables();
      std::printf("t = %.2f: <x> = %.6f, energy %.6f, largest error of <x> %.1e\n", seen.time, seen.position,
                  seen.energy, error);
    }
  }
  MPI_Finalize();
  return error < 1e-6 ? 0 : 1;
}

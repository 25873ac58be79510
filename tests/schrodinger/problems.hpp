// Problems of several tests, and the distance of two states.
#pragma once

#include "support/matrices.hpp"
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <cmath>
#include <complex>
#include <vector>

namespace heddle::test {

using schrodinger::Grid;
using schrodinger::Hamiltonian;
using schrodinger::Kinetic;
using schrodinger::Motion;
using schrodinger::Nuclei;
using schrodinger::Potential;
using schrodinger::PotentialKind;
using schrodinger::PropagatorKind;
using schrodinger::Simulation;
using schrodinger::SimulationOptions;
using schrodinger::State;

inline Potential harmonic(double omega) {
  Potential potential;
  potential.kind = PotentialKind::harmonic;
  potential.omega = omega;
  return potential;
}

inline Potential soft_core(double charge, double softening) {
  Potential potential;
  potential.charge = charge;
  potential.softening = softening;
  return potential;
}

inline Nuclei moving(Motion motion) {
  Nuclei nuclei;
  nuclei.motion = motion;
  return nuclei;
}

/// A light molecular ion with a vibrating bond, small enough for many runs.
inline Hamiltonian vibrating_ion() {
  return {Grid{-8.0, 8.0, 81, Kinetic::fd4}, soft_core(1.0, 1.0), moving(Motion::stretch)};
}

inline SimulationOptions options_of(double time_step, PropagatorKind kind = PropagatorKind::expm, int degree = 0) {
  SimulationOptions options;
  options.time_step = time_step;
  options.propagator.kind = kind;
  options.propagator.degree = degree;
  return options;
}

/// sqrt(sum |a - b|^2 dx)
inline double distance(const Grid& grid, const State& a, const State& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::norm(a[i] - b[i]);
  return std::sqrt(sum * grid.spacing());
}

inline State state_after(const Communicator& comm, const Hamiltonian& hamiltonian, const SimulationOptions& options,
                         const State& initial, Index steps) {
  Simulation simulation(comm, hamiltonian, options, initial);
  for (Index k = 0; k < steps; ++k) simulation.step();
  return simulation.state();
}

}  // namespace heddle::test

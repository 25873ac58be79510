// Worst norms and energies over a run's steps, and the bounds that they must meet.
#include "drivers/tdse/run/course.hpp"

#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/run/problem.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::driver {

namespace {

// Return the error that the tolerance allows a step with ||H dt|| = `exponent`.
double allowed_error(const Deck& deck, double exponent) {
  const double tolerance = deck.propagator.tolerance;
  switch (deck.propagator.kind) {
    case schrodinger::PropagatorKind::automatic:
      return (tolerance == 0 ? 1e-6 : tolerance) * exponent;
    case schrodinger::PropagatorKind::crank_nicolson:
    case schrodinger::PropagatorKind::split_operator:
      return 0.0;
    default:
      // The tolerance holds for each exponential, however short; a step has one or two per substep.
      return tolerance * std::max(exponent, 2.0 * deck.propagator.substeps);
  }
}

}  // namespace

void Course::add(double norm, double energy, double edge_probability) {
  if (!begun) {
    first_energy = energy;
    last_norm = norm;
    begun = true;
  }
  norm_error = worse(norm_error, std::abs(norm - 1.0));
  norm_change = worse(norm_change, std::abs(norm - last_norm));
  norm_growth = worse(norm_growth, norm - last_norm);
  energy_drift = worse(energy_drift, std::abs(energy - first_energy));
  edge = worse(edge, edge_probability);
  last_norm = norm;
}

Course worst_of(const std::vector<Course>& courses) {
  Course worst = courses.front();
  for (const Course& course : courses) {
    worst.norm_error = std::max(worst.norm_error, course.norm_error);
    worst.norm_change = std::max(worst.norm_change, course.norm_change);
    worst.norm_growth = std::max(worst.norm_growth, course.norm_growth);
    worst.energy_drift = std::max(worst.energy_drift, course.energy_drift);
    worst.edge = std::max(worst.edge, course.edge);
  }
  return worst;
}

std::vector<CourseCheck> checks_of(const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                                   const Course& course) {
  // The round-off of one step is about 1e-14; 1e-12 is promised. A requested tolerance and the round-off of a very
  // large ||H dt|| are added: the backward error is relative to ||H dt||.
  const double norm = norm_bound(hamiltonian);
  const double exponent = norm * deck.time_step;
  const double bound = std::max(1e-12, 4 * unit_roundoff<double> * exponent) + allowed_error(deck, exponent);
  if (records_absorbed(deck)) return {{"norm_growth_per_step", course.norm_growth, bound}};
  std::vector<CourseCheck> checks = {{"norm_change_per_step", course.norm_change, bound}};
  // A split operator conserves the energy of another Hamiltonian, which differs from H by its order in dt.
  if (!hamiltonian.moves() && deck.propagator.kind != schrodinger::PropagatorKind::split_operator) {
    // An error of `bound` a step in psi changes <H> by at most 2 ||H|| times as much.
    checks.push_back({"energy_drift", course.energy_drift,
                      2 * norm * bound * static_cast<double>(std::max<Index>(deck.time_steps, 1))});
  }
  return checks;
}

}  // namespace heddle::driver

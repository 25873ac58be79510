// Worst norms and energies over a run's steps, for checks and summary.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <vector>

namespace heddle::driver {

/// Worst values so far, earlier steps of a continued run included. NaN counts as infinity.
struct Course {
  double norm_error = 0.0;   ///< largest | ||psi|| - 1 |
  double norm_change = 0.0;  ///< largest change of ||psi|| in a step
  double norm_growth = 0.0;  ///< largest increase of ||psi|| in a step
  double first_energy = 0.0;
  double energy_drift = 0.0;  ///< largest |E - E_0|
  double edge = 0.0;
  double last_norm = 0.0;
  bool begun = false;

  void add(double norm, double energy, double edge_probability);
  void add(const schrodinger::Observables& seen) { add(seen.norm, seen.energy, seen.edge_probability); }
};

/// Return the worst of each value.
[[nodiscard]] Course worst_of(const std::vector<Course>& courses);

/// "`value` is at most `bound`", for a report.
struct CourseCheck {
  const char* name;
  double value;
  double bound;
};
/// Return the checks that a deck's propagator promises to pass: the norm always, the energy if H is constant.
[[nodiscard]] std::vector<CourseCheck> checks_of(const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                                                 const Course& course);

}  // namespace heddle::driver

// Snapshots of a simulation after a step.
#include "drivers/tdse/record/record.hpp"

namespace heddle::driver {

Snapshot snapshot_of(schrodinger::Simulation& simulation) {
  Snapshot now;
  for (Index k = 0; k < simulation.count(); ++k) {
    now.seen.push_back(simulation.observables(k));
    now.states.push_back(simulation.state(k));
  }
  now.largest_overlap = simulation.largest_overlap();
  now.propagator = simulation.propagator();
  now.errors = simulation.errors();
  return now;
}

}  // namespace heddle::driver

// Cost of a step of each method, from operation counts.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>
#include <heddle/schrodinger/propagator.hpp>

namespace heddle::impl {

/// A method of a step, and the order of its error in dt.
struct PropagatorCandidate {
  schrodinger::PropagatorKind kind;
  int order;
};

/// Seconds for a step of `duration` by a count of its operations, on one rank, however many there are: so the decisions
/// that depend on it, and the results, are the same on any number. `steps` steps share the exponential of a constant H.
[[nodiscard]] double cost_of(const PropagatorCandidate& candidate, const schrodinger::Hamiltonian& hamiltonian,
                             double duration, double tolerance, double steps);

}  // namespace heddle::impl

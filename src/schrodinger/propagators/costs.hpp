// What a step of each method costs, by counting.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>
#include <heddle/schrodinger/propagator.hpp>

namespace heddle::impl {

/// A method of a step, and the order of its error in dt.
struct Candidate {
  schrodinger::PropagatorKind kind;
  int order;
};

/// Seconds that a step of `duration` takes by a count of its operations, on one rank, however many there are: what is
/// decided by it, and with that the result, is the same on any number. An exponential of an H that rests is shared
/// among `steps` steps.
[[nodiscard]] double cost_of(const Candidate& candidate, const schrodinger::Hamiltonian& hamiltonian, double duration,
                             double tolerance, double steps);

}  // namespace heddle::impl

// Which steps of a run have their error estimated.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::impl {

/// Step k goes from k dt to (k + 1) dt. One in 16 is taken, or as few as cost an eighth of the run
/// (but 8 for each factor e in time, so that a short run has some), spread so that no period of the field or the nuclei
/// is met at one phase alone; and of the steps in which a pulse acts some 8 at least.
/// The first of all steps, the first in a pulse and those in which the field has a corner are always taken. What is
/// taken depends on k alone, so that a continued run has the same estimates as one that was never interrupted.
class ErrorSchedule {
 public:
  /// `cost`: of an estimate, in steps.
  ErrorSchedule(const schrodinger::Hamiltonian& hamiltonian, double time_step, double cost);
  [[nodiscard]] bool takes(Index step) const;

 private:
  schrodinger::Hamiltonian hamiltonian_;
  double time_step_;
  double stride_;
};

/// Whether one of the times at which a pulse begins or ends is after the beginning of the step before `begin` and not
/// after `begin`: the field is another one from there on.
[[nodiscard]] bool field_changes_at(const schrodinger::Hamiltonian& hamiltonian, double begin, double time_step);

}  // namespace heddle::impl

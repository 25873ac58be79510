// The choice of the steps whose error is estimated.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

namespace heddle::impl {

/// Schedule of the steps, where step k goes from k dt to (k + 1) dt. One in 16 is taken, or as few as cost an eighth of
/// the run (but 8 for each factor e in time, so that a short run has some), spread irregularly so as to sample all
/// phases of the field and the nuclei; and at least about 8 of the steps of each pulse. The first of all steps, the
/// first in a pulse and those in which the field has a corner are always taken. The schedule depends on k alone, so
/// that a continued run has the same estimates as an uninterrupted one.
class ErrorSchedule {
 public:
  /// `cost`: cost of an estimate, in steps.
  ErrorSchedule(const schrodinger::Hamiltonian& hamiltonian, double time_step, double cost);
  [[nodiscard]] bool takes(Index step) const;

 private:
  schrodinger::Hamiltonian hamiltonian_;
  double time_step_;
  double stride_;
};

/// Whether one of the times at which a pulse begins or ends is after the beginning of the step before `begin` and not
/// after `begin`: the field is different from there on.
[[nodiscard]] bool field_changes_at(const schrodinger::Hamiltonian& hamiltonian, double begin, double time_step);

}  // namespace heddle::impl

// The lowest eigenstates of the moving Hamiltonian, computed while the device works.
#pragma once

#include <heddle/schrodinger/eigenstates.hpp>

#include <future>
#include <optional>

namespace heddle::impl {

/// lowest_eigenstates() at the times of a simulation, for one rank.
///
/// They depend on the time alone, not on psi, and are host LAPACK's work: where kernels run on a device, a host thread
/// does it during the step that leads to that time. Where kernels run on the host's cores there are none to spare: they
/// are computed when they are asked for.
class EigenstatesAhead {
 public:
  /// `count` >= 1.
  EigenstatesAhead(const schrodinger::Hamiltonian& hamiltonian, Index count)
      : hamiltonian_(hamiltonian), count_(count) {}

  /// Begins with those of a time, for an at() to come. Does not block, unless another time was begun and not asked for.
  void begin(double time);
  /// Those of a time; whether they are others than the call before gave. Blocks. Throws what lowest_eigenstates() does.
  [[nodiscard]] bool advance_to(double time);
  [[nodiscard]] const schrodinger::Eigenstates& current() const { return current_; }
  /// Seconds that all of them took, on whatever thread.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  struct Found {
    schrodinger::Eigenstates states;
    double seconds = 0.0;
  };
  schrodinger::Hamiltonian hamiltonian_;
  Index count_;
  std::optional<double> begun_;
  std::future<Found> under_way_;
  std::optional<double> time_;
  schrodinger::Eigenstates current_;
  double seconds_ = 0.0;
};

}  // namespace heddle::impl

// The lowest eigenstates of the moving Hamiltonian, computed while the device works.
#pragma once

#include <heddle/schrodinger/eigenstates.hpp>

#include <future>
#include <optional>

namespace heddle::impl {

/// lowest_eigenstates() at the times of a simulation, for one rank.
///
/// They depend on the time alone, not on psi, and are computed on the host: if kernels run on a device, a host
/// thread does so during the step that leads to that time. If kernels run on the host's cores, none is free, and
/// eigenstates are computed when requested.
class EigenstatesAhead {
 public:
  /// `count` >= 1.
  EigenstatesAhead(const schrodinger::Hamiltonian& hamiltonian, Index count)
      : hamiltonian_(hamiltonian), count_(count) {}

  /// Begin those of a time for a later advance_to(). Does not block, unless another time was begun and not requested.
  void begin(double time);
  /// Turn to those of a time; return whether they differ from the previous ones. Blocks. Throws as
  /// lowest_eigenstates().
  [[nodiscard]] bool advance_to(double time);
  [[nodiscard]] const schrodinger::Eigenstates& current() const { return current_; }
  /// Seconds that all of them took, on any thread.
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

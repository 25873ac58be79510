// An accurate propagation, against which the error of a step is estimated.
#pragma once

#include "schrodinger/propagators/propagator.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heddle::impl {

/// The difference of wave functions from those that are taken as exact, of any size.
[[nodiscard]] StepError difference(std::span<const WaveFunction> found, std::span<const WaveFunction> exact);

/// The wave functions over a time by Chebyshev series of order 4 for the Hamiltonian that is given, whatever the method
/// whose error is in question: not for its splitting, and not for another kinetic energy at the ends of the grid.
class Reference {
 public:
  Reference(const Communicator& comm, const schrodinger::Hamiltonian& hamiltonian)
      : comm_(comm), hamiltonian_(hamiltonian) {}

  /// From `begin` over `length`, in steps that end at the corners of the field: `factor` times as many as follow the
  /// field, and as `substeps` equal ones of the whole length are. `tolerance`: of all exponentials together. Throws
  /// Error(argument) where that is too many.
  void advance(double begin, double length, double substeps, int factor, double tolerance,
               std::span<WaveFunction> states);

 private:
  void piece(double begin, double length, int substeps, double tolerance, std::span<WaveFunction> states);

  Communicator comm_;
  schrodinger::Hamiltonian hamiltonian_;
  std::unique_ptr<Propagator> latest_;  // For pieces of the same kind.
  double latest_length_ = 0.0;
  double latest_tolerance_ = 0.0;
  schrodinger::SimulationTimes unused_;
};

/// Most substeps of a step.
inline constexpr int most_substeps = 100000;

}  // namespace heddle::impl

// Accurate propagation, with which the error of a step is estimated.
#pragma once

#include "schrodinger/propagators/propagator.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heddle::impl {

/// The difference of wave functions from those regarded as exact, of any size.
[[nodiscard]] StepError difference(std::span<const WaveFunction> found, std::span<const WaveFunction> exact);

/// Propagation by Chebyshev series of order 4 for the given Hamiltonian, whatever the method under test: without its
/// splitting or its different kinetic energy at the ends of the grid.
class Reference {
 public:
  Reference(const Communicator& comm, const schrodinger::Hamiltonian& hamiltonian)
      : comm_(comm), hamiltonian_(hamiltonian) {}

  /// Advance from `begin` over `length`, in steps that end at the corners of the field: `factor` times as many as
  /// resolve the field, and as `substeps` equal ones of the whole length. `tolerance`: of all exponentials together.
  /// Throws Error(argument) if there are too many steps.
  void advance(double begin, double length, double substeps, int factor, double tolerance,
               std::span<WaveFunction> states);

 private:
  void piece(double begin, double length, int substeps, double tolerance, std::span<WaveFunction> states);

  Communicator comm_;
  schrodinger::Hamiltonian hamiltonian_;
  std::unique_ptr<Propagator> latest_;  // Kept for later pieces of the same kind.
  double latest_length_ = 0.0;
  double latest_tolerance_ = 0.0;
  schrodinger::SimulationTimes unused_;
};

/// Largest number of substeps of a step.
inline constexpr int most_substeps = 100000;

}  // namespace heddle::impl

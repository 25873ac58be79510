// One step of a wave function: what differs between the methods.
#pragma once

#include "wave_function.hpp"
#include <heddle/schrodinger/simulation.hpp>

#include <memory>
#include <optional>

namespace heddle::impl {

class Propagator {
 public:
  virtual ~Propagator() = default;
  Propagator(const Propagator&) = delete;
  Propagator& operator=(const Propagator&) = delete;

  /// psi over one step whose middle is `midpoint`. Collective; adds to `times`.
  virtual void advance(double midpoint, WaveFunction& psi, schrodinger::SimulationTimes& times) = 0;
  [[nodiscard]] const std::optional<ExpmReport>& report() const { return report_; }

 protected:
  Propagator() = default;
  std::optional<ExpmReport> report_;
};

[[nodiscard]] std::unique_ptr<Propagator> make_propagator(const Communicator& comm,
                                                          const schrodinger::Hamiltonian& hamiltonian, double time_step,
                                                          const schrodinger::PropagatorOptions& options);

}  // namespace heddle::impl

// psi' = exp(-i H dt) psi without a matrix.
#include "schrodinger/propagators/chebyshev.hpp"
#include "schrodinger/propagators/magnus.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include "schrodinger/simulation/stopwatch.hpp"

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;

// Every rank does all the work: a vector of some thousand values is not worth a message.
class ChebyshevPropagator : public Propagator {
 public:
  ChebyshevPropagator(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                      const PropagatorOptions& options)
      : Propagator(choice_of(options)),
        space_(comm.space()),
        moves_(hamiltonian.moves()),
        time_step_(time_step),
        hamiltonian_(comm.space(), hamiltonian),
        exponential_(comm.space(), hamiltonian, options.tolerance),
        potential_(device_values(comm.space(), "heddle::schrodinger::mean_potential", hamiltonian.grid().points)) {}

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    const Stopwatch watch(times.apply);
    each_substep(midpoint, time_step_, [&](double middle) {
      for (const MagnusFactor& factor : magnus_factors(choice_.order, moves_, middle, time_step_ / choice_.substeps)) {
        if (!prepared_ || moves_) {
          fill_potential(space_, hamiltonian_, factor, potential_);
          exponential_.prepare(potential_, factor.duration);
          prepared_ = true;
        }
        for (const WaveFunction& psi : states) exponential_.apply(psi.device());
      }
    });
    for (WaveFunction& psi : states) to_host(space_, psi);
  }

 private:
  ExecutionSpace space_;
  bool moves_;
  double time_step_;
  DeviceHamiltonian hamiltonian_;
  ChebyshevExponential exponential_;
  DeviceValues potential_;
  bool prepared_ = false;
};

}  // namespace

std::unique_ptr<Propagator> make_chebyshev(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                                           const PropagatorOptions& options) {
  return std::make_unique<ChebyshevPropagator>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl

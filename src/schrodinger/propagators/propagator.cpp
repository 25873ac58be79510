// Resolution of a propagator's options, copies to the host, and construction by method.
#include "schrodinger/propagators/propagator.hpp"

#include "schrodinger/propagators/propagators.hpp"

namespace heddle::impl {

using schrodinger::PropagatorChoice;
using schrodinger::PropagatorKind;

PropagatorChoice choice_of(const schrodinger::PropagatorOptions& options) {
  PropagatorChoice choice;
  choice.kind = options.kind;
  choice.order = options.order > 0 ? options.order : options.kind == PropagatorKind::magnus4 ? 4 : 2;
  choice.substeps = options.substeps;
  choice.tolerance = options.tolerance;
  return choice;
}

void to_host(const ExecutionSpace& space, WaveFunction& psi) {
  const auto host = Kokkos::create_mirror_view(psi.device());
  Kokkos::deep_copy(space, host, psi.device());
  space.fence("heddle::schrodinger::to_host");
  schrodinger::State state(psi.host().size());
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = {host(i).real(), host(i).imag()};
  psi.assign(state);
}

std::unique_ptr<Propagator> make_propagator(const Communicator& comm, const schrodinger::Hamiltonian& hamiltonian,
                                            double time_step, const schrodinger::PropagatorOptions& options) {
  schrodinger::validate(options);
  switch (options.kind) {
    case PropagatorKind::crank_nicolson:
      return make_crank_nicolson(comm, hamiltonian, time_step, options);
    case PropagatorKind::split_operator:
      return make_split_operator(comm, hamiltonian, time_step, options);
    case PropagatorKind::chebyshev:
      return make_chebyshev(comm, hamiltonian, time_step, options);
    case PropagatorKind::automatic:
      return make_automatic(comm, hamiltonian, time_step, options);
    case PropagatorKind::expm:
    case PropagatorKind::magnus4:
      break;
  }
  return make_exponential(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl

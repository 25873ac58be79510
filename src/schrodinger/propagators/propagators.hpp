// The methods behind make_propagator(), each with its order resolved.
#pragma once

#include "schrodinger/propagators/propagator.hpp"

namespace heddle::impl {

/// expm and magnus4.
[[nodiscard]] std::unique_ptr<Propagator> make_exponential(const Communicator& comm,
                                                           const schrodinger::Hamiltonian& hamiltonian,
                                                           double time_step,
                                                           const schrodinger::PropagatorOptions& options);
[[nodiscard]] std::unique_ptr<Propagator> make_crank_nicolson(const Communicator& comm,
                                                              const schrodinger::Hamiltonian& hamiltonian,
                                                              double time_step,
                                                              const schrodinger::PropagatorOptions& options);
[[nodiscard]] std::unique_ptr<Propagator> make_split_operator(const Communicator& comm,
                                                              const schrodinger::Hamiltonian& hamiltonian,
                                                              double time_step,
                                                              const schrodinger::PropagatorOptions& options);
[[nodiscard]] std::unique_ptr<Propagator> make_chebyshev(const Communicator& comm,
                                                         const schrodinger::Hamiltonian& hamiltonian, double time_step,
                                                         const schrodinger::PropagatorOptions& options);
[[nodiscard]] std::unique_ptr<Propagator> make_automatic(const Communicator& comm,
                                                         const schrodinger::Hamiltonian& hamiltonian, double time_step,
                                                         const schrodinger::PropagatorOptions& options);

/// `method`, whose error is estimated now and then: its steps stay as they are.
[[nodiscard]] std::unique_ptr<Propagator> make_watched(const Communicator& comm,
                                                       const schrodinger::Hamiltonian& hamiltonian, double time_step,
                                                       const schrodinger::PropagatorOptions& options,
                                                       std::unique_ptr<Propagator> method);

/// Copies what a kernel wrote to psi's device values to its host values. Blocks.
void to_host(const ExecutionSpace& space, WaveFunction& psi);

/// What `options` ask for, as a choice without a reason.
[[nodiscard]] schrodinger::PropagatorChoice choice_of(const schrodinger::PropagatorOptions& options);

}  // namespace heddle::impl

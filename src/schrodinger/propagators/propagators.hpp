// Constructors of the methods behind make_propagator(), each with its order resolved.
#pragma once

#include "schrodinger/propagators/propagator.hpp"

namespace heddle::impl {

/// The method of expm and magnus4.
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

/// `method` with estimates of its error in some steps, which are not changed.
[[nodiscard]] std::unique_ptr<Propagator> make_watched(const Communicator& comm,
                                                       const schrodinger::Hamiltonian& hamiltonian, double time_step,
                                                       const schrodinger::PropagatorOptions& options,
                                                       std::unique_ptr<Propagator> method);

/// Copy psi's device values, written by a kernel, to its host values. Blocks.
void to_host(const ExecutionSpace& space, WaveFunction& psi);

/// The choice in `options`, without a reason.
[[nodiscard]] schrodinger::PropagatorChoice choice_of(const schrodinger::PropagatorOptions& options);

}  // namespace heddle::impl

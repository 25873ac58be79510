// Where the wave functions of a deck begin.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <functional>
#include <string>
#include <vector>

namespace heddle::driver {

/// Those that the deck asks for, on rank 0 (other ranks may have none). Collective. `say` is told how imaginary time
/// went. Throws Error(input) for a file that can't be used, Error(computation) where imaginary time does not converge.
[[nodiscard]] std::vector<schrodinger::State> initial_states(const Communicator& comm, const Deck& deck,
                                                             const schrodinger::Hamiltonian& hamiltonian, Index tile,
                                                             const std::function<void(const std::string&)>& say);

}  // namespace heddle::driver

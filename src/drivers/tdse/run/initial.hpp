// Initial wave functions of a deck.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <functional>
#include <string>
#include <vector>

namespace heddle::driver {

/// Return the initial states of the deck, on rank 0 (other ranks may have none). Collective. `say` receives a line
/// about imaginary time. Throw Error(input) for an unusable file, Error(computation) if imaginary time does not
/// converge.
[[nodiscard]] std::vector<schrodinger::State> initial_states(const Communicator& comm, const Deck& deck,
                                                             const schrodinger::Hamiltonian& hamiltonian, Index tile,
                                                             const std::function<void(const std::string&)>& say);

}  // namespace heddle::driver

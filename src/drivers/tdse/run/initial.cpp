// Initial wave functions of a deck: eigenstates, Gaussian packets, states from files or imaginary time.
#include "drivers/tdse/run/initial.hpp"

#include "drivers/support/process/text.hpp"
#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/record/text_files.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/imaginary_time.hpp>
#include <heddle/schrodinger/initial_state.hpp>

#include <algorithm>
#include <utility>

namespace heddle::driver {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::State;

Index levels_needed(const Deck& deck) {
  const auto levels = deck.levels();
  return *std::max_element(levels.begin(), levels.end()) + 1;
}

// Take all levels from one set, whose states are orthogonal however close their energies are.
std::vector<State> levels_of(const Deck& deck, const schrodinger::Eigenstates& lowest) {
  std::vector<State> states;
  for (const Index level : deck.levels()) {
    const auto values = lowest.state(level);
    states.push_back(schrodinger::moved(deck.grid, State(values.begin(), values.end()), deck.initial_momentum));
  }
  return states;
}

// Return the initial states of any kind but imaginary time. For rank 0.
std::vector<State> initial_states_on_root(const Deck& deck, const Hamiltonian& hamiltonian) {
  switch (deck.initial) {
    case InitialKind::eigenstate:
      return levels_of(deck, schrodinger::lowest_eigenstates(hamiltonian.bare(), 0.0, levels_needed(deck)));
    case InitialKind::gaussian:
      return {
          schrodinger::gaussian_packet(deck.grid, deck.initial_position, deck.initial_momentum, deck.initial_width)};
    case InitialKind::file: {
      const std::filesystem::path path = deck.initial_file;
      std::vector<State> states = path.extension() == ".h5" ? read_last_states(path, deck.grid)
                                                            : std::vector<State>{read_text_state(path, deck.grid)};
      for (State& state : states) {
        try {
          state = schrodinger::moved(deck.grid, std::move(state), deck.initial_momentum);
        } catch (const Error& error) {
          throw Error(ErrorKind::input, path.string() + ": " + error.what());
        }
      }
      return states;
    }
    case InitialKind::imaginary_time:
      break;
  }
  throw Error(ErrorKind::argument, "not an initial state");
}

}  // namespace

std::vector<State> initial_states(const Communicator& comm, const Deck& deck, const Hamiltonian& hamiltonian,
                                  Index tile, const std::function<void(const std::string&)>& say) {
  if (deck.initial != InitialKind::imaginary_time) {
    std::vector<State> states;
    comm.on_rank(0, [&] { states = initial_states_on_root(deck, hamiltonian); });
    return states;
  }
  schrodinger::ImaginaryTimeOptions options;
  options.tolerance = deck.initial_tolerance;
  options.tile = tile;
  options.arithmetic = deck.propagator.arithmetic;
  schrodinger::ImaginaryTimeReport found;
  const auto lowest =
      schrodinger::imaginary_time_states(comm, hamiltonian.bare(), 0.0, levels_needed(deck), options, &found);
  say(format("imaginary time: %lld steps, %.4g/hartree in all; residual %.1e; lowest energy %.12g",
             static_cast<long long>(found.steps), found.time, found.residual, lowest.energies.front()));
  return levels_of(deck, lowest);
}

}  // namespace heddle::driver

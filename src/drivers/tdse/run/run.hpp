// A deck's run in time.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

#include <optional>
#include <string>

namespace heddle::driver {

struct RunOptions {
  std::string restart;  ///< File of an earlier run to continue; empty: none.
  bool force = false;   ///< Replace results that are there.
  std::optional<Index> tile;
  bool certificate = false;  ///< Of each exponential; the largest is checked.
  std::optional<double> certificate_tolerance;
  bool allow_growth = false;  ///< Take steps that the Taylor series does not bear, too.
};

/// Runs the deck and writes its file. Throws Error(argument), before anything is computed, where a result is there
/// already, unless options.force is set or it is what the run continues. On SIGINT, SIGTERM or SIGHUP it writes the
/// partial file and throws Error(computation) that says how to go on. Collective; gives the exit code.
int run_dynamics(Context& context, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                 const RunOptions& options, const nlohmann::ordered_json& inputs);

}  // namespace heddle::driver

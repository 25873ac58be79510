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
  bool force = false;   ///< Replace existing results.
  std::optional<Index> tile;
  bool certificate = false;  ///< Certify each exponential and check the largest certificate.
  std::optional<double> certificate_tolerance;
  bool allow_growth = false;  ///< Allow steps at which the Taylor series is unstable.
};

/// Run the deck and write its file. Throw Error(argument) before the computation if a result exists already, unless
/// options.force is set or the run continues it. On SIGINT, SIGTERM or SIGHUP write the partial file and throw
/// Error(computation) that says how to continue. Collective; returns the exit code.
int run_dynamics(Context& context, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                 const RunOptions& options, const nlohmann::ordered_json& inputs);

}  // namespace heddle::driver

// The lowest energies of a deck's Hamiltonian at t = 0, as a table and a picture.
#pragma once

#include "drivers/plot/pictures.hpp"
#include "drivers/support/context.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include <heddle/schrodinger/hamiltonian.hpp>

#include <filesystem>
#include <string>

namespace heddle::driver {

struct LevelsOptions {
  Index count = 0;     ///< Number of levels; 0: none are asked for.
  std::string output;  ///< Table of levels, potential and densities; empty: none.
  std::string plot;    ///< Picture of the table; empty: none.
};

/// Compute and print the lowest energies at t = 0; `inputs` go to the report. Collective; returns the exit code.
int run_eigenstates(Context& context, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
                    const LevelsOptions& options, const nlohmann::ordered_json& inputs);

/// Return whether a file begins as the table of `heddle tdse --eigen` does.
[[nodiscard]] bool looks_like_levels(const std::filesystem::path& path);

inline constexpr Picture levels_picture = {"plot/tdse_levels.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver

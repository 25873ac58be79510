// The potential energy of settings that have been checked.
#pragma once

#include <heddle/schrodinger/potential.hpp>

#include <vector>

namespace heddle::schrodinger {

/// potential_energy() without its checks, for each step of a simulation.
[[nodiscard]] std::vector<double> potential_values(const Grid& grid, const Potential& potential, const Nuclei& nuclei,
                                                   double time);

}  // namespace heddle::schrodinger

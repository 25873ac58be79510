// Check of a deck for values that leave no correct digit in a run.
#pragma once

#include "drivers/tdse/deck/deck.hpp"

#include <optional>
#include <string>

namespace heddle::driver {

/// A message about a deck's values, and the key responsible.
struct BeyondLimits {
  std::string key;
  std::string message;
};

/// Return nothing if squares and products of lengths, times and energies are finite doubles, and the phases |H| dt of a
/// step keep a digit. potential.omega is checked where V is made.
[[nodiscard]] std::optional<BeyondLimits> beyond_limits(const Deck& deck);

}  // namespace heddle::driver

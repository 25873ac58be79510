// Numbers of a deck that are good one by one, but with which no run has a digit.
#pragma once

#include "drivers/tdse/deck/deck.hpp"

#include <optional>
#include <string>

namespace heddle::driver {

/// What is wrong with a deck's numbers, and the key to blame.
struct BeyondLimits {
  std::string key;
  std::string message;
};

/// Nothing where lengths, times and energies are such that their squares and products are doubles, and a step's phases
/// |H| dt have a digit left. potential.omega is looked at where V is made.
[[nodiscard]] std::optional<BeyondLimits> beyond_limits(const Deck& deck);

}  // namespace heddle::driver

// Check of a deck for values that leave no correct digit in a run.
#include "drivers/tdse/deck/limits.hpp"

#include "drivers/tdse/deck/keys.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <type_traits>

namespace heddle::driver {

namespace {

constexpr double most = 1e100;
constexpr double least = 1e-100;

bool is_bounded(std::string_view key) {
  return key != "potential.omega" && !key.starts_with("output.") && !key.starts_with("propagator.");
}
// Return whether the key is a divisor.
bool is_bounded_below(std::string_view key) {
  constexpr std::array<std::string_view, 4> keys = {"time.step", "grid.dx", "potential.softening", "initial.width"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Return a lower bound of the largest magnitude of an energy on the grid; potentials of other kinds count as 0.
double largest_energy(const Deck& deck) {
  const double wave_number = std::numbers::pi / deck.grid.spacing();
  const double width = std::max(std::abs(deck.grid.xmin), std::abs(deck.grid.xmax));
  double potential = 0;
  if (deck.potential.kind == schrodinger::PotentialKind::soft_core) {
    potential = 2 * std::abs(deck.potential.charge) / std::sqrt(deck.potential.softening);
  } else if (deck.potential.kind == schrodinger::PotentialKind::harmonic) {
    potential = deck.potential.omega * deck.potential.omega * width * width / 2;
  }
  for (const schrodinger::Pulse& pulse : deck.pulses) potential += std::abs(pulse.amplitude) * width;
  return wave_number * wave_number / 2 + potential;
}

}  // namespace

std::optional<BeyondLimits> beyond_limits(const Deck& deck) {
  std::optional<BeyondLimits> found;
  visit_keys(deck, [&](const std::string& key, const auto& value, const char*) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      if (found) return;
      const double size = std::abs(value);
      if (is_bounded(key) && size > most) {
        found = BeyondLimits{key, key + " = " + value_text(value) + " must be at most " + value_text(most)};
      } else if (is_bounded_below(key) && size != 0 && size < least) {
        found = BeyondLimits{key, key + " = " + value_text(value) + " must be at least " + value_text(least)};
      }
    }
  });
  if (found) return found;
  const double spacing = deck.grid.spacing();
  if (!(spacing >= least)) {
    return BeyondLimits{deck.dx != 0 ? "grid.dx" : "grid.points",
                        message_of("grid.points = ", deck.grid.points, " gives a spacing of ", value_text(spacing),
                                   "; expected at least ", value_text(least))};
  }
  // Above 2^52 even whole radians of the phase are rounded. A non-finite energy is reported where its point is known.
  const double phase = largest_energy(deck) * deck.time_step;
  if (std::isfinite(phase) && phase > 0x1p52) {
    return BeyondLimits{"time.step",
                        message_of("time.step = ", value_text(deck.time_step), ": the phases |H| dt of a step, up to ",
                                   value_text(phase), ", are beyond 2^52 and have no digit left; take a smaller step")};
  }
  return std::nullopt;
}

}  // namespace heddle::driver

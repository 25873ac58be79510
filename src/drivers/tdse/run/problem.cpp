// A deck's problem as printed lines and report entries, and a bound on ||H||_1.
#include "drivers/tdse/run/problem.hpp"

#include "drivers/support/process/text.hpp"
#include "drivers/tdse/record/record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::driver {

void say_problem(const Context& context, const Deck& deck) {
  const auto& grid = deck.grid;
  context.say(format(
      "%lld points from %g to %g bohr, dx = %.6g%s, %s; %s potential, nuclei %s; %s",
      static_cast<long long>(grid.points), grid.xmin, grid.xmax, grid.spacing(),
      deck.dx > 0 && std::abs(grid.spacing() - deck.dx) > 1e-9 * deck.dx ? format(" (%g asked for)", deck.dx).c_str()
                                                                         : "",
      std::string(to_string(grid.kinetic)).c_str(), std::string(to_string(deck.potential.kind)).c_str(),
      std::string(to_string(deck.nuclei.motion)).c_str(), std::string(to_string(deck.propagator.kind)).c_str()));
  for (const auto& pulse : deck.pulses) {
    const auto [begin, end] = pulse.interval();
    context.say(format("pulse: %s, largest field %.6g (%.4g W/cm^2), omega %.6g, from t = %.6g to %.6g",
                       std::string(to_string(pulse.envelope)).c_str(), pulse.amplitude,
                       schrodinger::intensity_from_amplitude(pulse.amplitude), pulse.omega, begin, end));
  }
  if (records_absorbed(deck)) {
    context.say(format("absorber: %s, %g bohr at either end", std::string(to_string(deck.absorber.kind)).c_str(),
                       deck.absorber.width));
  }
}

nlohmann::ordered_json deck_inputs(const Deck& deck) {
  const auto& grid = deck.grid;
  return {{"points", grid.points},
          {"xmin", grid.xmin},
          {"xmax", grid.xmax},
          {"dx", grid.spacing()},
          {"kinetic", to_string(grid.kinetic)},
          {"potential", to_string(deck.potential.kind)},
          {"motion", to_string(deck.nuclei.motion)},
          {"pulses", deck.pulses.size()},
          {"absorber", to_string(deck.absorber.kind)},
          {"time_step", deck.time_step},
          {"time_steps", deck.time_steps},
          {"propagator", to_string(deck.propagator.kind)},
          {"deck", resolved_text(deck)}};
}

double norm_bound(const schrodinger::Hamiltonian& hamiltonian) {
  const auto kinetic = hamiltonian.kinetic();
  double sum = std::abs(kinetic[0]);
  for (std::size_t d = 1; d < kinetic.size(); ++d) sum += 2 * std::abs(kinetic[d]);
  double deepest = 0.0;
  for (const double value : hamiltonian.bare().potential_at(0.0)) deepest = std::max(deepest, std::abs(value));
  const double reach = std::max(std::abs(hamiltonian.grid().xmin), std::abs(hamiltonian.grid().xmax));
  for (const auto& pulse : hamiltonian.pulses()) deepest += std::abs(pulse.amplitude) * reach;
  return sum + deepest;
}

double worse(double so_far, double now) {
  return std::isnan(now) ? std::numeric_limits<double>::infinity() : std::max(so_far, now);
}

}  // namespace heddle::driver

// Refusal of time steps at which the Taylor series is unstable.
#include "drivers/tdse/run/stability.hpp"

#include "drivers/support/process/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/stability.hpp>

#include <cmath>
#include <string>

namespace heddle::driver {

namespace {

using schrodinger::StepStability;

// Return a safe step of three digits, which users can copy.
double copied(const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, double largest) {
  const double unit = std::pow(10.0, std::floor(std::log10(largest)) - 2);
  for (double digits = std::floor(largest / unit); digits > 0; --digits) {
    const double step = std::stod(format("%.2e", digits * unit));
    if (stability_of_step(hamiltonian, deck.propagator, step, deck.time_steps).safe) return step;
  }
  return largest;
}

// Name a degree that is stable at this step, or say that none is.
std::string remedy(const StepStability& stability) {
  return stability.least_degree > 0 ? format("degree %d bears this step", stability.least_degree)
                                    : std::string("no degree bears this step");
}

}  // namespace

void require_stable_step(const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, const char* overruled) {
  const StepStability stability = stability_of_step(hamiltonian, deck.propagator, deck.time_step, deck.time_steps);
  if (stability.safe) return;
  const double step = copied(deck, hamiltonian, stability.largest_step);
  const double square = deck.grid.spacing() * deck.grid.spacing();
  const long long exponentials = static_cast<long long>(deck.time_steps) * stability.exponentials;
  throw Error(
      ErrorKind::argument,
      format(
          "time.step = %g: ||H dt|| is up to %.4g, and a Taylor series of degree %d lets psi grow up to %.4g-fold in "
          "each of %lld exponentials; the largest step that is safe is %g (%.3g dx^2); %s, propagator.degree=0 takes "
          "what it needs, and %s runs it all the same",
          deck.time_step, stability.exponent, deck.propagator.degree, 1 + stability.growth, exponentials, step,
          step / square, remedy(stability).c_str(), overruled));
}

}  // namespace heddle::driver

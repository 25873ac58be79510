// Growth of truncated Taylor series and the stability of steps with them.
#include "libm/functions.hpp"
#include "schrodinger/propagators/magnus.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/stability.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace heddle::schrodinger {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Terms below this part of the largest one change nothing.
constexpr double negligible = 1e-20;

// |T_p(z)|; infinity if it overflows.
double size_of_series(int degree, std::complex<double> z) {
  std::complex<double> term = 1.0;
  std::complex<double> sum = 1.0;
  const double radius = std::abs(z);
  double most = 1.0;
  for (int k = 1; k <= degree; ++k) {
    term *= z / static_cast<double>(k);
    sum += term;
    const double size = std::abs(term);
    most = std::max(most, size);
    if (!std::isfinite(size) || (k > radius && size < negligible * most)) break;
  }
  const double size = std::abs(sum);
  return std::isfinite(size) ? size : infinity;
}

// sum_k r^k/k! up to the degree: the sum of the sizes of the terms.
double size_of_terms(int degree, double radius) {
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k <= degree && std::isfinite(sum); ++k) {
    term *= radius / k;
    sum += term;
    if (k > radius && term < negligible * sum) break;
  }
  return sum;
}

// The largest |T_p| on the line between two points. It changes over lengths of about 1 where it is near 1; elsewhere
// the powers of the highest terms make it largest at the farther end.
double largest_between(int degree, std::complex<double> from, std::complex<double> to) {
  const double points = std::clamp(std::ceil(64 * std::abs(to - from)), 1.0, 4096.0);
  double largest = 0.0;
  for (double k = 0; k <= points; ++k) {
    largest = std::max(largest, size_of_series(degree, from + k / points * (to - from)));
  }
  return largest;
}

// The smallest distance of the nuclei.
double closest(const Nuclei& nuclei) {
  const double reach = nuclei.motion == Motion::stretch ? 2 * std::abs(nuclei.amplitude) : 0.0;
  return std::max(0.0, nuclei.separation - reach);
}

void bound_potential(const Hamiltonian& hamiltonian, EnergyBounds& bounds) {
  const Potential& potential = hamiltonian.potential();
  if (potential.kind == PotentialKind::soft_core && hamiltonian.nuclei().motion != Motion::fixed) {
    const double half = closest(hamiltonian.nuclei()) / 2;
    const double deepest =
        -potential.charge * (1 / std::sqrt(potential.softening) + 1 / std::sqrt(half * half + potential.softening));
    bounds.lowest_potential = std::min(0.0, deepest);
    bounds.highest_potential = std::max(0.0, deepest);
  } else {
    const auto values = hamiltonian.bare().potential_at(0.0);
    bounds.lowest_potential = *std::min_element(values.begin(), values.end());
    bounds.highest_potential = *std::max_element(values.begin(), values.end());
  }
  const Grid& grid = hamiltonian.grid();
  for (const Pulse& pulse : hamiltonian.pulses()) {
    const double most = std::abs(pulse.amplitude) * std::max(std::abs(grid.xmin), std::abs(grid.xmax));
    bounds.lowest_potential -= most;
    bounds.highest_potential += most;
  }
}

// Parameters of the exponentials of a step.
struct Exponentials {
  int count = 1;          // in a step
  double duration = 1.0;  // duration of each, as a part of dt
  double largest = 0.0;   // bound of ||H|| in them
  double absorption = 0.0;
};

Exponentials exponentials_of(const Hamiltonian& hamiltonian, const PropagatorOptions& options) {
  EnergyBounds bounds = energy_bounds(hamiltonian);
  const auto factors =
      impl::magnus_factors(impl::choice_of(options).order, hamiltonian.moves(), 0.0, 1.0 / options.substeps);
  // Negative weights of V extend beyond its bounds, by as much as the positive ones exceed 1.
  double beyond = 0.0;
  for (const auto& node : factors.front().nodes) beyond += std::max(0.0, -node.weight);
  const double spread = beyond * (bounds.highest_potential - bounds.lowest_potential);
  bounds.lowest_potential -= spread;
  bounds.highest_potential += spread;
  return {static_cast<int>(factors.size()) * options.substeps, factors.front().duration, bounds.largest(),
          bounds.absorption};
}

}  // namespace

double EnergyBounds::largest() const {
  return std::max(std::abs(std::min(0.0, lowest_potential)), kinetic + std::max(0.0, highest_potential));
}

EnergyBounds energy_bounds(const Hamiltonian& hamiltonian) {
  EnergyBounds bounds;
  const auto kinetic = hamiltonian.kinetic();
  bounds.kinetic = std::abs(kinetic[0]);
  for (std::size_t d = 1; d < kinetic.size(); ++d) bounds.kinetic += 2 * std::abs(kinetic[d]);
  bound_potential(hamiltonian, bounds);
  for (const double value : hamiltonian.absorption()) bounds.absorption = std::max(bounds.absorption, value);
  return bounds;
}

double taylor_growth(int degree, double exponent, double absorption) {
  require(degree >= 1, "the degree of a Taylor series, ", degree, ", must be at least 1");
  require(std::isfinite(exponent) && exponent >= 0 && std::isfinite(absorption) && absorption >= 0,
          "Taylor series: the exponent ", exponent, " and the absorption ", absorption,
          " must be finite and not negative");
  using Complex = std::complex<double>;
  // The function below the real axis mirrors that above, and an analytic function is largest on the border.
  double largest = largest_between(degree, 0.0, Complex(0.0, exponent));
  if (absorption > 0) {
    const Complex corner(-absorption, exponent);
    largest = std::max({largest, largest_between(degree, Complex(0.0, exponent), corner),
                        largest_between(degree, Complex(-absorption, 0.0), corner)});
  }
  return largest - 1.0 + unit_roundoff<double> * size_of_terms(degree, libm::hypot(exponent, absorption));
}

StepStability stability_of_step(const Hamiltonian& hamiltonian, const PropagatorOptions& options, double time_step,
                                Index steps, double growth) {
  validate(options);
  require(std::isfinite(time_step) && time_step > 0, "time.step = ", time_step, " must be finite and positive");
  require(steps >= 0, "time.steps = ", steps, " must not be negative");
  require(std::isfinite(growth) && growth > 0, "the growth ", growth, " that is tolerable must be finite and positive");
  const Exponentials all = exponentials_of(hamiltonian, options);
  StepStability found;
  found.exponentials = all.count;
  found.exponent = all.largest * all.duration * time_step;
  found.largest_step = infinity;
  if (options.degree == 0 || steps == 0) return found;
  const double number = static_cast<double>(steps) * all.count;
  found.allowed = std::max(1e-12, libm::expm1(libm::log1p(growth) / number));
  const auto growth_at = [&](int degree, double step) {
    const double exponent = all.largest * all.duration * step;
    const double absorption = all.absorption * all.duration * step;
    return std::isfinite(exponent) && std::isfinite(absorption) ? taylor_growth(degree, exponent, absorption)
                                                                : infinity;
  };
  found.growth = growth_at(options.degree, time_step);
  found.safe = found.growth <= found.allowed;
  // Bisect between a safe step and an unsafe one.
  double good = 0.0;
  double bad = time_step;
  while (growth_at(options.degree, bad) <= found.allowed) {
    good = bad;
    bad *= 2;
  }
  for (int k = 0; k < 60 && bad - good > 1e-12 * bad; ++k) {
    const double middle = 0.5 * (good + bad);
    (growth_at(options.degree, middle) <= found.allowed ? good : bad) = middle;
  }
  found.largest_step = good;
  // If 100 terms are too few, cancellation has destroyed all digits.
  for (int degree = 1; degree <= 100 && found.least_degree == 0; ++degree) {
    if (growth_at(degree, time_step) <= found.allowed) found.least_degree = degree;
  }
  return found;
}

}  // namespace heddle::schrodinger

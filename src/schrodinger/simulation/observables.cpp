// Observables of a wave function on the host.
#include "schrodinger/simulation/scale.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::schrodinger {

namespace {

// Neumaier's compensated sum, since the norm is observed at the level of round-off.
class Sum {
 public:
  void add(double value) {
    const double total = total_ + value;
    rest_ += std::abs(total_) >= std::abs(value) ? (total_ - total) + value : (value - total) + total_;
    total_ = total;
  }
  [[nodiscard]] double value() const { return total_ + rest_; }

 private:
  double total_ = 0.0;
  double rest_ = 0.0;
};

void require_length(const Grid& grid, std::span<const std::complex<double>> state) {
  require(static_cast<Index>(state.size()) == grid.points, "observables: ", state.size(), " values of psi for ",
          grid.points, " points");
}

}  // namespace

double Observables::ionisation() const {
  double bound = 0.0;
  for (std::size_t k = 0; k < populations.size(); ++k) bound += energies[k] < 0 ? populations[k] : 0.0;
  return 1.0 - bound;
}

double Observables::error_of_probability(double p) const {
  constexpr double rounding = 1e-14;
  return 2 * error * std::sqrt(std::max(p * (1 - p), 0.0)) + error * error + probability_error + rounding;
}

std::complex<double> overlap(const Grid& grid, std::span<const std::complex<double>> a,
                             std::span<const std::complex<double>> b) {
  require_length(grid, a);
  require_length(grid, b);
  Sum real;
  Sum imaginary;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::complex<double> product = std::conj(a[i]) * b[i];
    real.add(product.real());
    imaginary.add(product.imag());
  }
  return std::complex(real.value(), imaginary.value()) * grid.spacing();
}

double probability_outside(const Grid& grid, std::span<const std::complex<double>> state, double radius) {
  require_length(grid, state);
  require(radius >= 0, "probability_outside: radius = ", radius, " must not be negative");
  Sum inside;
  for (Index i = 0; i < grid.points; ++i) {
    if (std::abs(grid.x(i)) <= radius) inside.add(std::norm(state[i]));
  }
  return 1.0 - inside.value() * grid.spacing();
}

Observables observe(const Hamiltonian& hamiltonian, double time, std::span<const std::complex<double>> state,
                    const Eigenstates& eigenstates, std::span<const double> nodes_before) {
  const Grid& grid = hamiltonian.grid();
  const auto n = static_cast<std::size_t>(grid.points);
  require_length(grid, state);
  require(eigenstates.energies.empty() ||
              (eigenstates.points == grid.points && eigenstates.values.size() == eigenstates.energies.size() * n),
          "observables: eigenstates of ", eigenstates.points, " points, ", eigenstates.energies.size(),
          " energies and ", eigenstates.values.size(), " values, for a grid of ", grid.points, " points");
  const double scale = impl::scale_of(state);
  std::vector<std::complex<double>> psi(state.begin(), state.end());
  for (auto& value : psi) value *= scale;
  std::vector<std::complex<double>> result(n);
  hamiltonian.apply(hamiltonian.potential_at(time), psi, result);

  Sum probability;
  Sum energy;
  Sum position;
  Sum energy_square;
  Sum position_square;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = grid.x(static_cast<Index>(i));
    probability.add(std::norm(psi[i]));
    energy.add((std::conj(psi[i]) * result[i]).real());
    position.add(x * std::norm(psi[i]));
    energy_square.add(std::norm(result[i]));
    position_square.add(x * x * std::norm(psi[i]));
  }
  Observables seen;
  seen.time = time;
  seen.field = hamiltonian.field(time);
  seen.norm = std::sqrt(probability.value() * grid.spacing()) / scale;
  seen.energy = energy.value() / probability.value();
  seen.position = position.value() / probability.value();
  const auto spread = [&](const Sum& square, double mean) {
    return std::sqrt(std::max(square.value() / probability.value() - mean * mean, 0.0));
  };
  seen.position_spread = spread(position_square, seen.position);
  seen.energy_spread = spread(energy_square, seen.energy);
  seen.dipole = -seen.position;
  if (hamiltonian.potential().kind == PotentialKind::soft_core) {
    seen.nuclei = hamiltonian.nuclei().positions(time);
    seen.dipole += hamiltonian.potential().charge * (seen.nuclei[0] + seen.nuclei[1]);
  }
  seen.node_positions = node_positions(grid, state, nodes_before);
  seen.nodes = static_cast<Index>(seen.node_positions.size());
  seen.edge_probability = (std::norm(state.front()) + std::norm(state.back())) * grid.spacing();
  seen.energies = eigenstates.energies;
  for (std::size_t k = 0; k < eigenstates.energies.size(); ++k) {
    const auto phi = eigenstates.state(static_cast<Index>(k));
    std::complex<double> overlap = 0.0;
    for (std::size_t i = 0; i < n; ++i) overlap += phi[i] * psi[i];
    seen.populations.push_back(std::norm(overlap * grid.spacing() / scale));
  }
  return seen;
}

}  // namespace heddle::schrodinger

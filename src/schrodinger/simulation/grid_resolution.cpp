// Resolution of a wave function on a grid, from its wave numbers.
#include "core/complex_exponential.hpp"
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"
#include "schrodinger/simulation/scale.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

namespace heddle::schrodinger {

namespace {

// x_k = sum_j x_j exp(-2 pi i j k/n), n a power of two, in place: accurate to round-off, and without a library, which a
// build may lack.
void transform(std::vector<std::complex<double>>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t k = 0; k < half; ++k) {
      const auto turn =
          impl::exponential({0.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half)});
      for (std::size_t i = k; i < n; i += 2 * half) {
        const auto odd = turn * x[i + half];
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
  }
}

}  // namespace

GridResolution grid_resolution(const Hamiltonian& hamiltonian, std::span<const std::complex<double>> state) {
  const Grid& grid = hamiltonian.grid();
  require(static_cast<Index>(state.size()) == grid.points, "grid_resolution: ", state.size(), " values of psi for ",
          grid.points, " points");
  std::size_t length = 1;
  while (length < 2 * state.size()) length *= 2;
  const double scale = impl::scale_of(state);
  std::vector<std::complex<double>> waves(length);
  for (std::size_t i = 0; i < state.size(); ++i) waves[i] = scale * state[i];
  transform(waves);
  GridResolution found;
  double all = 0.0;
  for (std::size_t k = 0; k < length; ++k) {
    const auto turns = static_cast<double>(std::min(k, length - k));
    const double theta = 2 * std::numbers::pi * turns / static_cast<double>(length);
    const double share = std::norm(waves[k]);
    const double exact = 0.5 * theta * theta / (grid.spacing() * grid.spacing());
    all += share;
    found.kinetic += share * exact;
    found.kinetic_error += share * (exact - impl::kinetic_symbol(hamiltonian, theta));
    if (theta > std::numbers::pi / 2) found.tail += share;
  }
  if (all > 0) {
    found.kinetic /= all;
    found.kinetic_error /= all;
    found.tail /= all;
  }
  return found;
}

}  // namespace heddle::schrodinger

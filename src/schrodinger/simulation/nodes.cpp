// Nodes of wave functions, with hysteresis from one time to the next.
#include "schrodinger/simulation/scale.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::schrodinger {

namespace {

using Complex = std::complex<double>;
using Values = std::span<const Complex>;

// Thresholds of a node; those of one that begins are stricter than those of one that goes on. See node_positions().
struct Thresholds {
  double lobe;    // Smallest peak of |psi|^2 beside a node, relative to the highest.
  double valley;  // Largest density between two lobes, relative to the lower one.
  double turn;    // Largest cosine of the phase between them.
};
constexpr Thresholds begins = {0.01, 0.8, -0.3};
constexpr Thresholds goes_on = {0.003, 0.95, 0.0};

double square(const Complex& value) {
  return value.real() * value.real() + value.imag() * value.imag();
}

Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The number of absolute value 1 with the same phase.
Complex direction(const Complex& value) {
  const double size = std::sqrt(square(value));
  return {value.real() / size, value.imag() / size};
}

struct Lobe {
  Index peak = 0;
  double valley = 0.0;  // Lowest density between the previous lobe and this one.
};

// Lobes by rising x. Peaks with a shallow valley between them are one lobe, at the highest of them.
std::vector<Lobe> lobes_of(const std::vector<double>& density, double highest) {
  const auto last = static_cast<Index>(density.size()) - 1;
  std::vector<Lobe> lobes;
  double valley = highest;
  for (Index i = 0; i <= last; ++i) {
    valley = std::min(valley, density[i]);
    const bool rises = i == 0 || density[i] >= density[i - 1];
    const bool falls = density[i] > density[i == last ? i - 1 : i + 1];
    if (!rises || !falls || density[i] < goes_on.lobe * highest) continue;
    const double before = lobes.empty() ? 0.0 : density[lobes.back().peak];
    if (!lobes.empty() && valley > goes_on.valley * std::min(before, density[i])) {
      if (density[i] <= before) continue;
      lobes.back().peak = i;
    } else {
      lobes.push_back({i, valley});
    }
    valley = density[i];
  }
  return lobes;
}

// exp(-i q dx) with the mean momentum q, which undoes the phase that a moving packet gains from a point to the next.
Complex step_back(Values state) {
  Complex neighbours = 0.0;
  for (std::size_t i = 0; i + 1 < state.size(); ++i) neighbours += product(std::conj(state[i]), state[i + 1]);
  return neighbours.real() > 0 ? std::conj(direction(neighbours)) : Complex(1.0);
}

// psi from one lobe to the next, times the phase that makes it positive at the left one, and without the phase of the
// mean momentum.
std::vector<Complex> turned_between(Values state, Index left, Index right, const Complex& back) {
  std::vector<Complex> turned(state.begin() + left, state.begin() + right + 1);
  Complex factor = std::conj(direction(state[left]));
  for (Complex& value : turned) {
    value = product(factor, value);
    factor = product(factor, back);
  }
  return turned;
}

// Place where psi passes from the phase of the left lobe to that of the right one, in points from the left one. The
// part along the difference of the two phases is positive at the left lobe and negative at the right one.
double crossing_of(const std::vector<Complex>& turned) {
  const Complex end = direction(turned.back());
  const auto part = [&](std::size_t i) {
    return turned[i].real() * (1.0 - end.real()) - turned[i].imag() * end.imag();
  };
  double place = 0.0;
  double least = std::numeric_limits<double>::infinity();
  std::size_t before = 0;  // The latest point at which the part is not 0.
  for (std::size_t i = 1; i < turned.size(); ++i) {
    const double left = part(before);
    const double right = part(i);
    if (right == 0) continue;
    const double density = square(turned[before]) + square(turned[i]);
    if (left > 0 && right < 0 && density < least) {
      least = density;
      // Linear between neighbours; in the middle of any zeros.
      const double share = i == before + 1 ? left / (left - right) : 0.5;
      place = static_cast<double>(before) + share * static_cast<double>(i - before);
    }
    before = i;
  }
  return place;
}

}  // namespace

std::vector<double> node_positions(const Grid& grid, Values given, std::span<const double> before) {
  require(static_cast<Index>(given.size()) == grid.points, "node_positions: ", given.size(), " values of psi for ",
          grid.points, " points");
  // A factor of psi changes nothing, even if squares would overflow or vanish.
  const double scale = impl::scale_of(given);
  std::vector<Complex> state(given.begin(), given.end());
  for (Complex& value : state) value *= scale;
  std::vector<double> density(state.size());
  std::transform(state.begin(), state.end(), density.begin(), square);
  const double highest = density.empty() ? 0.0 : *std::max_element(density.begin(), density.end());
  std::vector<double> nodes;
  if (state.size() < 3 || !(highest > 0)) return nodes;
  const std::vector<Lobe> lobes = lobes_of(density, highest);
  const Complex back = lobes.size() > 1 ? step_back(state) : Complex(1.0);
  for (std::size_t k = 1; k < lobes.size(); ++k) {
    const Index left = lobes[k - 1].peak;
    const Index right = lobes[k].peak;
    const std::vector<Complex> turned = turned_between(state, left, right, back);
    const double cosine = direction(turned.back()).real();
    if (!(cosine < goes_on.turn)) continue;
    const double lower = std::min(density[left], density[right]);
    const bool is_new =
        lower >= begins.lobe * highest && cosine <= begins.turn && lobes[k].valley <= begins.valley * lower;
    const bool was_there = std::any_of(before.begin(), before.end(),
                                       [&](double place) { return grid.x(left) < place && place < grid.x(right); });
    if (is_new || was_there) nodes.push_back(grid.x(left) + crossing_of(turned) * grid.spacing());
  }
  return nodes;
}

}  // namespace heddle::schrodinger

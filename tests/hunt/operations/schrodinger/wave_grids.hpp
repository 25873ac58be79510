// Grids for cases of wave functions, and reference numbers in long double.
#pragma once

#include "hunt/operations.hpp"
#include <heddle/schrodinger/grid.hpp>

#include <numbers>

namespace heddle::hunt {

using Real80 = long double;

inline constexpr double unit = 0x1p-53;
inline constexpr Real80 pi = std::numbers::pi_v<Real80>;

inline double of_any_size(Random& random, long least, long most) {
  return std::ldexp(1.0 + std::abs(random.unit()), static_cast<int>(random.between(least, most)));
}
inline double off(double found, Real80 expected) {
  return static_cast<double>(std::abs(static_cast<Real80>(found) - expected));
}

inline schrodinger::Grid grid_of(const Case& one) {
  const Array& numbers = one.array("grid");
  schrodinger::Grid grid;
  grid.xmin = numbers.at(0).real() - std::abs(numbers.at(1).real());
  grid.xmax = numbers.at(0).real() + std::abs(numbers.at(1).real());
  grid.points = one.array("psi").rows;
  grid.kinetic = static_cast<schrodinger::Kinetic>(one.knob("kinetic"));
  return grid;
}
inline void add_grid(Random& random, Case& one, Index points) {
  one.type = Type::complex64;
  Array& psi = one.add("psi", 'n', points);
  fill_mood(random, one.type, psi, random.any_of(Mood::units, Mood::sparse, Mood::integers, Mood::powers));
  Array& numbers = one.add("grid", '1', 2);
  numbers.at(0) = random.one_in(2) ? 0.0 : 4 * random.unit();
  numbers.at(1) = of_any_size(random, 0, 4);
  one.add_knob("kinetic", random.below(4));
}
inline bool is_a_grid(const schrodinger::Grid& grid) {
  return grid.points >= 3 && grid.xmax > grid.xmin && std::abs(grid.xmin) < 1e6 && std::abs(grid.xmax) < 1e6;
}

}  // namespace heddle::hunt

// Magnus factors of orders 2 and 4.
#include "schrodinger/propagators/magnus.hpp"

#include <numbers>

namespace heddle::impl {

std::vector<MagnusFactor> magnus_factors(int order, bool moves, double middle, double step) {
  if (order == 2 || !moves) return {{step, {{1.0, middle}}}};
  const double late = 0.5 - std::numbers::inv_sqrt3;
  const double early = 0.5 + std::numbers::inv_sqrt3;
  const double first = middle - 0.5 * std::numbers::inv_sqrt3 * step;
  const double second = middle + 0.5 * std::numbers::inv_sqrt3 * step;
  return {{0.5 * step, {{early, first}, {late, second}}}, {0.5 * step, {{late, first}, {early, second}}}};
}

void fill_potential(const ExecutionSpace& space, const DeviceHamiltonian& hamiltonian, const MagnusFactor& factor,
                    const DeviceValues& values) {
  const GridRange points(space, 0, static_cast<Index>(values.extent(0)));
  const DevicePotential first = hamiltonian.potential_at(factor.nodes.front().time);
  if (factor.nodes.size() == 1) {
    Kokkos::parallel_for(
        "heddle::schrodinger::fill_potential", points, KOKKOS_LAMBDA(Index i) { values(i) = first(i); });
    return;
  }
  const DevicePotential second = hamiltonian.potential_at(factor.nodes.back().time);
  const double first_weight = factor.nodes.front().weight;
  const double second_weight = factor.nodes.back().weight;
  Kokkos::parallel_for(
      "heddle::schrodinger::fill_potential", points,
      KOKKOS_LAMBDA(Index i) { values(i) = first_weight * first(i) + second_weight * second(i); });
}

}  // namespace heddle::impl

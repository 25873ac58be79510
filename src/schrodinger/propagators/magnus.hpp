// Factors of a step with a time-dependent H: exponentials, and the potential in each.
#pragma once

#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include "schrodinger/hamiltonian/grid_values.hpp"

#include <vector>

namespace heddle::impl {

/// exp(-i duration (T + V)), V = sum_j weight_j V(time_j).
struct MagnusFactor {
  struct Node {
    double weight;
    double time;
  };
  double duration = 0.0;
  std::vector<Node> nodes;
};

/// The factors of a step, the first to be applied first.
///
/// Order 2: one factor, V at the middle. Order 4: two factors of half the step, with V(t_1) and V(t_2) at the
/// Gauss-Legendre points t_1,2 = middle -/+ sqrt(3)/6 step weighted by 1/2 +/- 1/sqrt(3), then by 1/2 -/+ 1/sqrt(3).
/// Both keep psi's norm, and are exact if H does not depend on time; one factor then suffices.
///
/// Sources: W. Magnus, Comm. Pure Appl. Math. 7, 649 (1954); S. Blanes, P. C. Moan, Appl. Numer. Math. 56, 1519 (2006);
/// A. Alvermann, H. Fehske, J. Comput. Phys. 230, 5930 (2011).
[[nodiscard]] std::vector<MagnusFactor> magnus_factors(int order, bool moves, double middle, double step);

/// values = V of the factor. Does not block.
void fill_potential(const ExecutionSpace& space, const DeviceHamiltonian& hamiltonian, const MagnusFactor& factor,
                    const DeviceValues& values);

}  // namespace heddle::impl

// Cost of a step of each method, from operation counts.
#include "schrodinger/control/costs.hpp"

#include "libm/functions.hpp"
#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"
#include "schrodinger/propagators/chebyshev.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {

using schrodinger::Hamiltonian;
using schrodinger::Kinetic;
using schrodinger::PropagatorKind;

namespace {

// Seconds on one core of an AVX-512 machine; only their ratios matter for the choice. Each was measured there for 200
// to 4000 points.
namespace seconds {
constexpr double step = 1.5e-6;            // kernels and copies, for any method
constexpr double chebyshev_point = 4e-10;  // per term and point, for each of the real and imaginary part
constexpr double diagonal = 1e-10;         // more for each t_d
constexpr double potential = 2e-8;         // V at a point, its bounds, and coefficients
constexpr double transform = 4e-10;        // per value of a Fourier transform, times log2 of the length
constexpr double line = 1e-8;              // per point between two transforms
constexpr double phase = 1.7e-8;           // V, sine and cosine at a point
constexpr double solve = 3e-8;             // per point, with factors of a banded matrix
constexpr double factor = 7e-8;            // per point to compute these factors
constexpr double flop = 4e-11;             // in a product of matrices
constexpr double element = 1e-9;           // per element of the exponential in psi' = E psi
}  // namespace seconds

}  // namespace

double cost_of(const PropagatorCandidate& candidate, const Hamiltonian& hamiltonian, double duration, double tolerance,
               double steps) {
  const auto n = static_cast<double>(hamiltonian.grid().points);
  const bool moves = hamiltonian.moves();
  const auto width = static_cast<double>(hamiltonian.kinetic().size() - 1);
  const int factors = candidate.order == 4 && moves ? 2 : 1;
  const std::vector<double> potential = hamiltonian.potential_at(0.0);
  const auto [least, most] = std::minmax_element(potential.begin(), potential.end());
  const double radius = 0.5 * (*most - *least + largest_kinetic(hamiltonian));
  const auto transform = [](double length) { return seconds::transform * length * libm::log2(length); };
  switch (candidate.kind) {
    case PropagatorKind::chebyshev: {
      const auto absorption = hamiltonian.absorption();
      const double loss = absorption.empty() ? 0.0 : 0.5 * *std::max_element(absorption.begin(), absorption.end());
      const ChebyshevSeries series = chebyshev_series(radius, loss, duration / factors, tolerance);
      const auto terms = static_cast<double>(series.coefficients.size()) * series.repeats;
      const bool transformed = hamiltonian.grid().kinetic == Kinetic::sinc && has_fourier();
      const double product = transformed ? 2 * transform(2 * n) + seconds::line * n
                                         : 2 * n * (seconds::chebyshev_point + seconds::diagonal * width);
      return seconds::step + factors * (terms * product + (moves ? n * seconds::potential : 0.0));
    }
    case PropagatorKind::split_operator: {
      const double drifts = candidate.order == 4 ? 6 : 1;
      const double kicks = !moves ? 0 : candidate.order == 4 ? 7 : 1;
      return seconds::step + drifts * (2 * transform(3 * n) + seconds::line * n) + kicks * n * seconds::phase;
    }
    case PropagatorKind::crank_nicolson:
      return seconds::step + n * (seconds::solve + (moves ? seconds::factor : 0.0));
    default: {
      // About 6 products and a squaring for each doubling of the norm, for cosine and sine, with 4 real products each.
      const double products = 2 * (6 + std::max(0.0, libm::log2(radius * duration / factors)));
      const double share = moves ? factors : 1 / steps;
      return seconds::step + share * products * 2 * n * n * n * seconds::flop + factors * n * n * seconds::element;
    }
  }
}

}  // namespace heddle::impl

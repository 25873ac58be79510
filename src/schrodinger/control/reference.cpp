// Accurate propagation, with which the error of a step is estimated.
#include "schrodinger/control/reference.hpp"

#include "schrodinger/control/field_steps.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::impl {

namespace {

using schrodinger::PropagatorKind;
using schrodinger::PropagatorOptions;
using schrodinger::State;

StepError difference_of(const State& found, const State& exact) {
  double largest = 0.0;
  for (const auto& value : exact) largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  if (largest == 0.0) return {};
  // Scaled by a power of two, so that squares neither overflow nor vanish.
  const int exponent = -std::ilogb(largest);
  const auto scaled = [exponent](std::complex<double> value) {
    return std::complex(std::scalbn(value.real(), exponent), std::scalbn(value.imag(), exponent));
  };
  double distance = 0.0;
  double change = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto a = scaled(found[i]);
    const auto b = scaled(exact[i]);
    distance += std::norm(a - b);
    // |a|^2 - |b|^2 without cancellation.
    change += (a.real() - b.real()) * (a.real() + b.real()) + (a.imag() - b.imag()) * (a.imag() + b.imag());
    size += std::norm(b);
  }
  return {.psi = std::sqrt(distance / size), .probability = std::abs(change) / size};
}

}  // namespace

StepError difference(std::span<const WaveFunction> found, std::span<const WaveFunction> exact) {
  StepError largest;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const StepError one = difference_of(found[k].host(), exact[k].host());
    if (!std::isfinite(one.psi)) return {.psi = HUGE_VAL, .probability = HUGE_VAL};
    largest.psi = std::max(largest.psi, one.psi);
    largest.probability = std::max(largest.probability, one.probability);
  }
  return largest;
}

void Reference::advance(double begin, double length, double substeps, int factor, double tolerance,
                        std::span<WaveFunction> states) {
  if (!hamiltonian_.moves()) return piece(begin, length, 1, tolerance, states);
  std::vector<double> ends = field_corners(hamiltonian_, begin, begin + length);
  ends.push_back(begin + length);
  double from = begin;
  for (const double to : ends) {
    const double share = (to - from) / length;
    const double count = factor * std::ceil(std::max(substeps * share, steps_for_field(hamiltonian_, from, to)));
    require(count <= most_substeps, "propagator: from t = ", from, " to ", to, " a step takes ", count,
            " substeps; expected at most ", most_substeps, ": take a smaller time.step");
    piece(from, ends.size() == 1 ? length : to - from, static_cast<int>(count),
          tolerance / static_cast<double>(ends.size()), states);
    from = to;
  }
}

void Reference::piece(double begin, double length, int substeps, double tolerance, std::span<WaveFunction> states) {
  if (!latest_ || latest_length_ != length || latest_->choice().substeps != substeps ||
      latest_tolerance_ != tolerance) {
    PropagatorOptions options;
    options.kind = PropagatorKind::chebyshev;
    options.order = 4;
    options.substeps = substeps;
    options.tolerance = std::clamp(tolerance / (2.0 * substeps), unit_roundoff<double>, 0.1);
    latest_ = make_propagator(comm_, hamiltonian_, length, options);
    latest_length_ = length;
    latest_tolerance_ = tolerance;
  }
  latest_->advance(begin + 0.5 * length, states, unused_);
}

}  // namespace heddle::impl

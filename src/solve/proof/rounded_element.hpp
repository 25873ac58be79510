// Elements of solutions from their enclosures, or from claims about them that are proven.
#pragma once

#include "solve/proof/long_number.hpp"
#include "solve/proof/modular.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace heddle::impl {

/// Rounds an element x, sum 2^power but for an error times 2^-error_power; false if its enclosure has several numbers.
/// Parts may be known to be zero. The distance to a tie is that of the worse part, and -1 if x is decided.
template <Scalar T, Scalar Z>
// NOLINTNEXTLINE(readability-function-size): an enclosure and what is found
[[nodiscard]] bool round_element(const ExactSum<Z>& sum, double error, Index power,
                                 const std::array<bool, parts_of_scalar<T>>& is_zero, T& x, double& distance_to_tie) {
  using R = Real<T>;
  std::array<R, parts_of_scalar<T>> numbers;
  distance_to_tie = -1.0;
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    if (is_zero[p]) {
      numbers[p] = R(0);
      continue;
    }
    const Ends<R> ends = ends_of<R>(sum.part[p], error, power);
    numbers[p] = ends.number();
    if (ends.decided()) continue;
    numbers[p] = nearest<R>(sum.part[p], power);
    const double apart = static_cast<double>(ends.high) - static_cast<double>(ends.low);
    // An end beyond the range leaves no distance, in place of which a NaN would count as decided.
    const double distance = times_power(2.0 * error, power - error_power) / apart;
    distance_to_tie = std::max(distance_to_tie, distance >= 0.0 ? distance : std::numeric_limits<double>::infinity());
  }
  if constexpr (is_complex<T>) {
    x = T(numbers[0], numbers[1]);
  } else {
    x = numbers[0];
  }
  return distance_to_tie < 0.0;
}

/// Adds the claims that would decide such an element: that its parts are zero, or half way between two numbers.
template <Scalar T, Scalar Z>
// NOLINTNEXTLINE(readability-function-size): an enclosure and its place
void add_claims(const ExactSum<Z>& sum, double error, Index power, const std::array<bool, parts_of_scalar<T>>& is_zero,
                Index row, Index column, std::vector<Claim>& claims) {
  using R = Real<T>;
  const std::size_t before = claims.size();
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    if (is_zero[static_cast<std::size_t>(p)]) continue;
    const Ends<R> ends = ends_of<R>(sum.part[p], error, power);
    if (ends.decided()) continue;
    const bool has_zero = ends.around_zero;
    const bool adjacent =
        std::isfinite(ends.low) && std::isfinite(ends.high) && std::nextafter(ends.low, ends.high) == ends.high;
    if (!has_zero && !adjacent) {
      claims.resize(before);
      return;
    }
    claims.push_back({.row = row,
                      .column = column,
                      .part = p,
                      .low = has_zero ? 0.0 : static_cast<double>(ends.low),
                      .high = has_zero ? 0.0 : static_cast<double>(ends.high)});
  }
}

/// Rounds the elements of which all claims are proven: element(row, column) returns the place of one.
template <Scalar T, class Element> void take_claims(const std::vector<Claim>& claims, const Element& element) {
  using R = Real<T>;
  for (std::size_t first = 0, end = 0; first < claims.size(); first = end) {
    const Claim& one = claims[first];
    bool proven = true;
    for (end = first; end < claims.size() && claims[end].row == one.row && claims[end].column == one.column; ++end) {
      proven = proven && claims[end].proven;
    }
    if (!proven) continue;
    T& x = element(one.row, one.column);
    for (std::size_t c = first; c < end; ++c) {
      Accumulator<double> sum;
      sum.add(claims[c].low);
      sum.add(claims[c].high);
      const R number = nearest<R>(sum, -1);
      if constexpr (is_complex<T>) {
        (claims[c].part == 0 ? x.real() : x.imag()) = number;
      } else {
        x = number;
      }
    }
  }
}

}  // namespace heddle::impl

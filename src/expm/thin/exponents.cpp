// Powers of two kept separately from columns, which stay in range.
#include "core/complex_exponential.hpp"
#include "core/instantiate.hpp"
#include "expm/thin/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace heddle::impl {
namespace {

// Exponent beyond which a power of two of an exponential is stored separately.
template <Scalar T> constexpr double large_exponent = std::is_same_v<Real<T>, float> ? 40.0 : 300.0;

// An element beyond this power of two is far from 1; below it, squares and products with A are in range.
template <Scalar T> constexpr int far = std::is_same_v<Real<T>, float> ? 40 : 300;
// Largest exponent of one factor, which is double as are all sums of columns.
constexpr int most_at_once = 1000;

template <Scalar T>
void scale_columns(BlockColumns<T>& columns, const std::vector<int>& exponents, const MatrixView<T>& R) {
  std::vector<Wide<T>> factors;
  factors.reserve(exponents.size());
  for (const int exponent : exponents) factors.push_back(Wide<T>(std::ldexp(1.0, exponent)));
  columns.combine(factors, R, {}, block_of(R, 0, 0, 0, 0));
}

}  // namespace

template <Scalar T>
void ColumnExponents<T>::normalise(BlockColumns<T>& columns, const MatrixView<T>& R, std::vector<double>& largest) {
  std::vector<int> steps(largest.size(), 0);
  bool any = false;
  for (std::size_t c = 0; c < largest.size(); ++c) {
    if (!(largest[c] > 0.0) || !std::isfinite(largest[c])) continue;
    const int exponent = std::clamp(std::ilogb(largest[c]), -most_at_once, most_at_once);
    if (std::abs(exponent) <= far<T>) continue;
    steps[c] = -exponent;
    exponents_[c] += exponent;
    largest[c] = std::ldexp(largest[c], -exponent);
    any = true;
  }
  if (any) scale_columns(columns, steps, R);
}

template <Scalar T>
void ColumnExponents<T>::multiply_by_exponential(const ExecutionSpace& space, const std::complex<double>& exponent,
                                                 const MatrixView<T>& R) {
  const bool large = std::abs(exponent.real()) > large_exponent<T>;
  const double power = large ? std::floor(exponent.real() / std::numbers::ln2) : 0.0;
  const std::complex<double> rest(exponent.real() - power * std::numbers::ln2, exponent.imag());
  add_scaled<T>(space, T(0), R, scalar_from<T>(exponential(rest)), R);
  const int apart = std::isfinite(power) ? static_cast<int>(std::clamp(power, -1e8, 1e8)) : 0;
  for (std::size_t c = 0; c < exponents_.size(); ++c) add(c, apart);
}

template <Scalar T> void ColumnExponents<T>::finish(BlockColumns<T>& columns, const MatrixView<T>& R) {
  // Beyond +-5000 every number of T overflows or becomes zero.
  for (int& exponent : exponents_) exponent = std::clamp(exponent, -5000, 5000);
  while (std::any_of(exponents_.begin(), exponents_.end(), [](int exponent) { return exponent != 0; })) {
    std::vector<int> steps;
    for (int& exponent : exponents_) {
      steps.push_back(std::clamp(exponent, -most_at_once, most_at_once));
      exponent -= steps.back();
    }
    scale_columns(columns, steps, R);
  }
}

#define HEDDLE_INSTANTIATE(T) template class ColumnExponents<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

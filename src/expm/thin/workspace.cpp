// Storage of the methods for exp(time A) B, and the companion column that estimates errors.
#include "expm/thin/workspace.hpp"

#include "core/instantiate.hpp"
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::impl {
namespace {

// Move every element of column c of R by a random part of `relative` times itself and of `absolute`.
template <Scalar T>
void move_at_random(const ExecutionSpace& space, const MatrixView<T>& R, Index c, double relative, double absolute) {
  const Elements<T> r(R);
  for_each_element(
      space, "heddle::expm::move_companion", static_cast<Index>(R.extent(0)), 1, KOKKOS_LAMBDA(Index i, Index) {
        const double part = unit_from(mixed_bits(static_cast<std::uint64_t>(i + 1) * golden_step));
        const double other = unit_from(mixed_bits(static_cast<std::uint64_t>(i + 1) * golden_step + 1));
        const T x = r(i, c);
        r(i, c) =
            multiply_add(x, T(static_cast<Real<T>>(part * relative)), x + T(static_cast<Real<T>>(other * absolute)));
      });
}

}  // namespace

template <Scalar T> MatrixView<T> ActionWorkspace<T>::blocks(Index n, Index first, Index count, Index total) {
  if (static_cast<Index>(storage_.extent(0)) != n || static_cast<Index>(storage_.extent(1)) < total) {
    storage_ = LocalMatrix<T>();
    storage_ = LocalMatrix<T>(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::expm::action_blocks"),
                              static_cast<std::size_t>(n), static_cast<std::size_t>(total));
  }
  return block_of<T>(storage_, 0, n, first, first + count);
}

template <Scalar T> void ActionWorkspace<T>::move_companion(const MatrixView<T>& R, double relative, double absolute) {
  if (!companion_) return;
  const auto last = static_cast<Index>(R.extent(1)) - 1;
  if (absolute > 0.0) {
    absolute *= columns.largest(block_of(R, 0, static_cast<Index>(R.extent(0)), last, last + 1)).front();
  }
  move_at_random<T>(space_, R, last, relative, absolute);
}

template <Scalar T>
void ActionWorkspace<T>::add_to_companion(const MatrixView<T>& R, double factor, const MatrixView<T>& X) {
  if (!companion_) return;
  const auto last_of = [](const MatrixView<T>& block) {
    const auto last = static_cast<Index>(block.extent(1)) - 1;
    return block_of(block, 0, static_cast<Index>(block.extent(0)), last, last + 1);
  };
  add_scaled<T>(space_, scalar_from<T>(factor), last_of(X), T(1), last_of(R));
}

template <Scalar T> MatrixView<T> ActionWorkspace<T>::accompany(const MatrixView<T>& R) {
  const auto n = static_cast<Index>(R.extent(0));
  const auto m = static_cast<Index>(R.extent(1));
  if (accompanied_.extent(0) != R.extent(0) || accompanied_.extent(1) != R.extent(1) + 1) {
    accompanied_ = LocalMatrix<T>();
    accompanied_ = LocalMatrix<T>(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::expm::accompanied"),
                                  R.extent(0), R.extent(1) + 1);
  }
  const MatrixView<T> all(accompanied_);
  const MatrixView<T> parts = block_of(all, 0, n, 0, m);
  const MatrixView<T> sum = block_of(all, 0, n, m, m + 1);
  add_scaled<T>(space_, T(1), R, T(0), parts);
  std::vector<double> largest = columns.largest(R);
  weights_.clear();
  std::vector<Wide<T>> factors;
  for (std::size_t c = 0; c < largest.size(); ++c) {
    const double scale = largest[c] > 0.0 ? std::ldexp(1.0, -std::clamp(std::ilogb(largest[c]), -1000, 1000)) : 0.0;
    weights_.push_back(scale * (1.0 + 0.5 / static_cast<double>(c + 1)));
    factors.push_back(Wide<T>(weights_.back()));
  }
  columns.combine(std::vector<Wide<T>>(1, Wide<T>(0.0)), sum, factors, parts);
  companion_ = true;
  floor = 8.0 * static_cast<double>(unit_roundoff<T>);
  move_companion(all, 4.0 * static_cast<double>(unit_roundoff<T>), 0.0);
  exponents.begin(R.extent(1) + 1);
  largest = columns.largest(all);
  exponents.normalise(columns, all, largest);
  return all;
}

template <Scalar T> double ActionWorkspace<T>::estimated_error() {
  const MatrixView<T> all(accompanied_);
  const auto n = static_cast<Index>(all.extent(0));
  const auto m = static_cast<Index>(weights_.size());
  std::vector<double> largest = columns.largest(all);
  exponents.normalise(columns, all, largest);
  const MatrixView<T> parts = block_of(all, 0, n, 0, m);
  const MatrixView<T> sum = block_of(all, 0, n, m, m + 1);
  const std::vector<double> sizes = columns.norms(parts);
  std::vector<Wide<T>> factors;
  // Weights relative to the companion; separate powers of two may be out of range.
  std::vector<double> beside;
  for (std::size_t c = 0; c < weights_.size(); ++c) {
    const int exponent = exponents.of(c) - exponents.of(weights_.size());
    beside.push_back(std::ldexp(weights_[c], std::clamp(exponent, -100000, 100000)));
    factors.push_back(Wide<T>(-beside.back()));
  }
  columns.combine(std::vector<Wide<T>>(1, Wide<T>(1.0)), sum, factors, parts);
  const double distance = columns.norms(sum).front();
  double error = 0.0;
  for (std::size_t c = 0; c < weights_.size(); ++c) {
    if (weights_[c] == 0.0) continue;  // A column of zeros.
    const double size = beside[c] * sizes[c];
    error = std::max(error, size > 0.0 ? 4.0 * distance / size + floor : 1.0);
  }
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

template <Scalar T> void ActionWorkspace<T>::leave_companion(const MatrixView<T>& R) {
  companion_ = false;
  const auto m = static_cast<Index>(R.extent(1));
  add_scaled<T>(space_, T(1), block_of(MatrixView<T>(accompanied_), 0, static_cast<Index>(R.extent(0)), 0, m), T(0), R);
}

#define HEDDLE_INSTANTIATE(T) template class ActionWorkspace<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

// Lower bound of |A|_2 by the power method, from which shifts that make a matrix positive definite are computed. The
// bits of shifted eigenvalues depend on every number here.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/core/random.hpp>

#include <cstdint>

namespace heddle::eigen::impl {

/// The numbers of [-1/2, 1/2) that the method begins with, by G. Marsaglia's xorshift (2003).
class StartNumbers {
 public:
  double next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(state_ >> 11U) * 0x1p-53 - 0.5;
  }

 private:
  std::uint64_t state_ = golden_step;
};

/// Return the largest |A x| over some steps with unit x: norm() is the length of the vector, and multiply(length)
/// replaces it by A times the vector over that length.
template <class Norm, class Multiply> double power_method(const Norm& norm, const Multiply& multiply) {
  constexpr int steps = 12;
  double estimate = 0;
  for (int step = 0;; ++step) {
    const double length = norm();
    estimate = step > 0 ? std::max(estimate, length) : estimate;
    if (step == steps || length == 0) {
      return estimate;
    }
    multiply(length);
  }
}

/// A^H x, on the host. Blocks.
template <Scalar T>
std::vector<T> adjoint_product(const ExecutionSpace& space, const MatrixView<T>& A, const Values<T>& x);

/// An estimate of |A|_2 from below, most often within a tenth.
template <Scalar T> Real<T> norm_estimate(const ExecutionSpace& space, const Dense<T>& A);

}  // namespace heddle::eigen::impl

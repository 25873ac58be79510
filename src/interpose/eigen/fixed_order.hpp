// Sums, reflections' sides and rotations in a fixed order of operations, whatever vectors the processor has.
#pragma once

#include "interpose/blas/threads.hpp"
#include "interpose/eigen/scaling.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace heddle::impl::interpose {

/// x y by two roundings for each part's products and sums: no instruction for both is wanted, which older processors
/// lack.
template <Scalar T> T product(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  } else {
    return x * y;
  }
}
template <Scalar T> T scaled_by(const T& x, Real<T> factor) {
  if constexpr (is_complex<T>) {
    return T(x.real() * factor, x.imag() * factor);
  } else {
    return x * factor;
  }
}

/// sum conj(x_k) y_k by eight partial sums.
template <Scalar T> T fixed_dot(Index n, const T* x, const T* y) {
  constexpr Index lanes_of_sum = 8;
  T sums[lanes_of_sum] = {};
  const Index whole = n / lanes_of_sum * lanes_of_sum;
  for (Index k = 0; k < whole; k += lanes_of_sum) {
    for (Index l = 0; l < lanes_of_sum; ++l) sums[l] += product(conjugate(x[k + l]), y[k + l]);
  }
  for (Index k = whole; k < n; ++k) sums[k - whole] += product(conjugate(x[k]), y[k]);
  for (Index half = lanes_of_sum / 2; half > 0; half /= 2) {
    for (Index l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

/// r = sqrt(x^2 + y^2) and x / r, y / r, of numbers scaled by a power of two; 0 and 1 where both are zero.
template <RealScalar R> struct Direction {
  R r;
  R of_x;
  R of_y;
  Direction(R x, R y) : r(std::max(std::abs(x), std::abs(y))), of_x(0), of_y(1) {
    if (!(r > R{0}) || !std::isfinite(r)) return;
    const int exponent = std::ilogb(r);
    const R a = std::scalbn(x, -exponent);
    const R b = std::scalbn(y, -exponent);
    const R size = std::sqrt(a * a + b * b);
    of_x = a / size;
    of_y = b / size;
    r = std::scalbn(size, exponent);
  }
};

/// Rotations of neighbouring columns, which wait for one another so that a matrix is read once for many.
template <Scalar T> class Rotations {
 public:
  using R = Real<T>;
  /// V is n x n, or null where there are no columns to be rotated.
  Rotations(Index n, T* V) : n_(n), V_(V) {}

  /// Columns i and i + 1: (c x - s y, s x + c y).
  void add(Index i, R c, R s) {
    if (V_ == nullptr) return;
    waiting_.push_back({i, c, s});
    if (waiting_.size() >= most) apply();
  }
  void apply() {
    constexpr Index abreast = 32;
    if (waiting_.empty()) return;
    const Index groups = (n_ + abreast - 1) / abreast;
    constexpr Index worth_threads = 256;
    in_parts(groups, n_ < worth_threads ? 1 : usual_threads(), [&](Index begin, Index end) {
      std::vector<T> part(static_cast<std::size_t>(abreast * n_));
      for (Index group = begin; group < end; ++group) {
        const Index first = group * abreast;
        const Index rows = std::min(abreast, n_ - first);
        for (Index j = 0; j < n_; ++j) std::copy_n(V_ + first + j * n_, rows, part.data() + j * abreast);
        for (const Rotation& rotation : waiting_) {
          T* const x = part.data() + rotation.column * abreast;
          T* const y = x + abreast;
          for (Index r = 0; r < abreast; ++r) {
            const T one = x[r];
            x[r] = scaled_by(one, rotation.c) - scaled_by(y[r], rotation.s);
            y[r] = scaled_by(one, rotation.s) + scaled_by(y[r], rotation.c);
          }
        }
        for (Index j = 0; j < n_; ++j) std::copy_n(part.data() + j * abreast, rows, V_ + first + j * n_);
      }
    });
    waiting_.clear();
  }

 private:
  struct Rotation {
    Index column;
    R c;
    R s;
  };
  static constexpr std::size_t most = 1 << 16;
  Index n_;
  T* V_;
  std::vector<Rotation> waiting_;
};

}  // namespace heddle::impl::interpose

// Vectors whose inner products are hard to round, and what they round to.
#pragma once

#include "interpose/library.hpp"
#include <heddle/exact/accumulator.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace heddle::test {

enum class Hard { benign, graded, extreme, tiny, cancelling, ties, integers, sparse, outliers, special };
inline constexpr Hard every_kind[] = {Hard::benign, Hard::graded,   Hard::extreme, Hard::tiny,     Hard::cancelling,
                                      Hard::ties,   Hard::integers, Hard::sparse,  Hard::outliers, Hard::special};

template <RealScalar T> class HardNumbers {
 public:
  explicit HardNumbers(unsigned seed) : engine_(seed) {}
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }

  T number(Hard kind, Index k) {
    const double x = std::uniform_real_distribution<double>(-1.0, 1.0)(engine_);
    using Limits = std::numeric_limits<T>;
    const auto scaled = [&](int least, int most) { return static_cast<T>(std::ldexp(x, pick(least, most))); };
    switch (kind) {
      case Hard::graded:
        return scaled(-30, 30);
      case Hard::extreme:
        return scaled(Limits::min_exponent - 30, Limits::max_exponent - 1);
      case Hard::tiny:
        return scaled(Limits::min_exponent - 30, Limits::min_exponent / 2);
      case Hard::integers:
        return static_cast<T>(std::floor(3.0 * x));
      case Hard::sparse:
        return pick(0, 9) < 8 ? static_cast<T>(pick(0, 1) == 0 ? 0.0 : -0.0) : static_cast<T>(x);
      case Hard::outliers:
        return scaled(k < 20 ? -60 : -3, k < 20 ? -50 : pick(0, 40));
      case Hard::special:
        return pick(0, 30) == 0 ? Limits::infinity() : pick(0, 30) == 0 ? Limits::quiet_NaN() : static_cast<T>(x);
      default:
        return static_cast<T>(x);
    }
  }
  std::vector<T> numbers(Hard kind, Index count) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (Index k = 0; k < count; ++k) all[static_cast<std::size_t>(k)] = number(kind, k);
    return all;
  }
  // Two vectors: of `cancelling` ones nearly all products are there with both signs, and of `ties` the sum is halfway
  // between two numbers, or next to that by much less than their distance.
  void pair(Hard kind, Index n, std::vector<T>& x, std::vector<T>& y) {
    x = numbers(kind, n);
    y = numbers(kind, n);
    const auto at = [&](std::vector<T>& all, Index k) -> T& { return all[static_cast<std::size_t>(k)]; };
    if (kind != Hard::cancelling && kind != Hard::ties) return;
    for (Index k = 0; k + 1 < n; k += 2) {
      at(x, k + 1) = at(x, k);
      at(y, k + 1) = -at(y, k);
    }
    if (kind == Hard::cancelling || n < 4) return;
    const int exponent = pick(-3, 3);
    const int digits = std::numeric_limits<T>::digits;
    at(x, n - 1) = at(x, n - 3) = at(x, n - 2) = T{1};
    at(x, n - 4) = T{0};
    at(y, n - 1) = static_cast<T>(std::ldexp(1.0, exponent));
    at(y, n - 2) = static_cast<T>(std::ldexp(pick(0, 1) == 0 ? 1.0 : 3.0, exponent - digits));
    at(y, n - 3) = static_cast<T>(std::ldexp(pick(-1, 1), exponent - digits - pick(1, sizeof(T) == 8 ? 300 : 60)));
  }

 private:
  std::mt19937 engine_;
};

/// start + sum a(k) b(k), or start less it, rounded once.
template <RealScalar T, class A, class B>
T exact_sum(Index n, const A& a, const B& b, const T* start = nullptr, bool subtracted = false) {
  exact::Accumulator<T> sum;
  for (Index k = 0; k < n; ++k) sum.add_product(subtracted ? -a(k) : a(k), b(k));
  if (start != nullptr) sum.add(*start);
  return sum.value();
}

/// Whether they are the same, but for the bits of NaNs.
template <RealScalar T> bool same_bits(T x, T y) {
  return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof(T)) == 0;
}

}  // namespace heddle::test

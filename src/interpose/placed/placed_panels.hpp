// Factors of placed products: rows of op(A) and columns of op(B) as integers in panels.
#pragma once

#include "emulation/emulated.hpp"
#include "emulation/planes.hpp"
#include "interpose/blas/direct_vectors.hpp"
#include "interpose/placed/placed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

namespace heddle::impl::interpose {

/// Numbers that are not set to zero first, kept from call to call where they are few.
class PanelMemory {
 public:
  double* take(std::size_t numbers) {
    if (numbers > size_) {
      all_ = std::make_unique_for_overwrite<double[]>(numbers + alignment);
      size_ = numbers;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(all_.get());
    return all_.get() + (alignment - address / sizeof(double) % alignment) % alignment;
  }
  void give_back() {
    if (size_ <= kept) return;
    all_.reset();
    size_ = 0;
  }

 private:
  static constexpr std::size_t alignment = 8;
  static constexpr std::size_t kept = std::size_t{1} << 22;
  std::unique_ptr<double[]> all_;
  std::size_t size_ = 0;
};

/// Constants that products of one inner dimension share.
struct Place {
  Index inner = -1;
  bool possible = false;
  double square_of_reach = 0.0;
  double begin = 0.0;
  double error = 0.0;
  double unit = 1.0;  // Sums of products of its multiples lose nothing.

  bool narrow = true;  // Whether integers have 63 bits and sums 127.

  template <Scalar T> void prepare(Index wanted) {
    inner = wanted;
    // Leading bits' sums in floats are off by less than what `usual` leaves.
    constexpr Index most_inner = 16384;
    possible = inner <= most_inner;
    if (possible) prepare<T>(wanted, emulation_moduli<T>(inner));
    possible = possible && narrow;
  }
  template <Scalar T> void prepare(Index wanted, int moduli) {
    inner = wanted;
    const ResidueSystem& system = residue_system(field_of<T>, moduli);
    narrow = system.log2_product < 126.0;
    square_of_reach = square_of_reach_for(system, inner);
    // Sums, and all sums on the way, are below P / 2, up to roundings that `reach` has room for: from 1.5 2^e with
    // 2^e >= P on they stay between 2^e and 2^(e + 1), and each product loses at most 2^(e - 53) to the next double.
    const int e = static_cast<int>(std::ceil(system.log2_product + 0x1p-30));
    begin = std::ldexp(1.5, e);
    unit = std::ldexp(1.0, std::max(0, (e - 51) / 2));
    const auto terms = static_cast<double>(inner * parts<T>);
    // The loss is a sum of integers, which is exact below 2^53. Else each loss is rounded at most by 2^(e - 106),
    // and as often as that each sum of them by terms times as much.
    const bool exact = std::ldexp(terms, e - 53) <= 0x1p53;
    error = exact ? 0.0 : std::ldexp(1.01 * terms * (terms + 1.0), e - 106);
  }
};
/// Vectors of one factor in panels.
template <Scalar T> struct Panels {
  Index vectors = 0;
  Index inner = 0;
  Index planes = 1;  // Of numbers for each panel: two for columns of complex numbers.
  double* numbers = nullptr;
  float* leading = nullptr;
  std::int64_t* exponents = nullptr;
  float* least = nullptr;
  std::uint64_t* squares = nullptr;  // As QuantisedVectors has them, with the exponents of the largest magnitudes.
  std::int64_t* largest = nullptr;
  std::uint64_t* special = nullptr;    // Of each panel, which vectors hold what is not finite.
  std::uint64_t* multiples = nullptr;  // Of each panel, of which vectors all integers are multiples of Place::unit.

  [[nodiscard]] Index count() const { return (vectors + panel_width - 1) / panel_width; }
  [[nodiscard]] Index size() const { return inner * parts<T> * panel_width; }
  [[nodiscard]] double* panel(Index p, Index plane = 0) const { return numbers + (p * planes + plane) * size(); }
  [[nodiscard]] float* leading_of(Index p) const { return leading + p * inner * panel_width; }
  // Total number of doubles.
  [[nodiscard]] std::size_t needed() const {
    return static_cast<std::size_t>(count() * (planes * size() + inner * panel_width / 2 + 5 * panel_width + 1));
  }
  double* place_at(double* begin) {
    numbers = begin;
    begin += count() * planes * size();
    exponents = reinterpret_cast<std::int64_t*>(begin);
    begin += count() * panel_width;
    leading = reinterpret_cast<float*>(begin);
    begin += count() * inner * panel_width / 2;
    least = reinterpret_cast<float*>(begin);
    begin += count() * panel_width;
    squares = reinterpret_cast<std::uint64_t*>(begin);
    begin += count() * panel_width;
    largest = reinterpret_cast<std::int64_t*>(begin);
    begin += count() * panel_width;
    special = reinterpret_cast<std::uint64_t*>(begin);
    begin += count();
    multiples = reinterpret_cast<std::uint64_t*>(begin);
    return begin + count() * panel_width;
  }
};

/// Element (k, v) of a panel from x[k * element + v * vector].
template <Scalar T>
void gather(const T* x, Index vector, Index element, bool conjugated, Index there, Index inner, double* panel) {
  const auto put = [&](Index k, Index v) {
    const T& value = x[k * element + v * vector];
    panel[k * panel_width + v] = real_of<double>(value);
    if constexpr (is_complex<T>) {
      const auto imaginary = static_cast<double>(value.imag());
      panel[(inner + k) * panel_width + v] = conjugated ? -imaginary : imaginary;
    }
  };
  if (there < panel_width) std::fill_n(panel, inner * parts<T> * panel_width, 0.0);
  if (vector == 1 && there == panel_width) {
    for (Index k = 0; k < inner; ++k) {
      for (Index v = 0; v < panel_width; ++v) put(k, v);
    }
    return;
  }
  constexpr Index run = 64;
  for (Index first = 0; first < inner; first += run) {
    const Index end = std::min(inner, first + run);
    for (Index v = 0; v < there; ++v) {
      for (Index k = first; k < end; ++k) put(k, v);
    }
  }
}

/// A panel that can't be measured, made one that can.
struct Raised {
  int by[panel_width] = {};   // Powers of two of vectors with nothing but numbers below the normal ones.
  std::uint64_t special = 0;  // Vectors with what is not finite, which become zeros.

  void prepare(double* panel, Index count) {
    constexpr int up = 600;
    using F = Format<double>;
    std::uint64_t most[panel_width] = {};
    for (Index k = 0; k < count; ++k) {
      for (Index v = 0; v < panel_width; ++v) {
        most[v] = std::max(most[v], F::to_bits(panel[k * panel_width + v]) & (F::sign_bit - 1));
      }
    }
    double factors[panel_width];
    for (Index v = 0; v < panel_width; ++v) {
      if (most[v] >= F::exponent_mask) special |= std::uint64_t{1} << v;
      if (most[v] != 0 && most[v] <= F::fraction_mask) by[v] = up;
      factors[v] = std::ldexp(1.0, by[v]);
    }
    for (Index k = 0; k < count; ++k) {
      for (Index v = 0; v < panel_width; ++v) {
        double& x = panel[k * panel_width + v];
        x = (special >> v & 1U) != 0 ? 0.0 : x * factors[v];
      }
    }
  }
};

/// Return those of the elements `asked` of a tile, by bits as TileSpread has them, whose vectors a and b of `count`
/// numbers have no place in common where neither is zero.
inline std::uint64_t disjoint(const double* a, const double* b, Index count, std::uint64_t asked) {
  std::uint64_t met = 0;
  for (Index c = 0; c < panel_width; ++c) {
    if ((asked >> (c * panel_width) & 0xffU) == 0) continue;
    std::uint64_t nonzero[panel_width] = {};
    for (Index k = 0; k < count; ++k) {
      if (b[k * panel_width + c] == 0.0) continue;
      for (Index r = 0; r < panel_width; ++r) nonzero[r] |= Format<double>::to_bits(a[k * panel_width + r]) << 1;
    }
    for (Index r = 0; r < panel_width; ++r) {
      if (nonzero[r] != 0) met |= std::uint64_t{1} << (c * panel_width + r);
    }
  }
  return asked & ~met;
}

}  // namespace heddle::impl::interpose

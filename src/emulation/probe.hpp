// Ratio of |a| |b| to sum_k |a_k b_k| for rows a and columns b, by products of leading bits.
#pragma once

#include "emulation/emulated.hpp"
#include "emulation/target.hpp"

#include <cmath>

namespace heddle::impl {

/// Sums of products of two planes of leading bits, in the order of their worth.
enum Overlap : int { near_near, near_far, far_near, far_far, present, overlap_count };

/// Data from which sum_k |a_k b_k| is compared with |a| |b|, for a chunk of columns.
template <Scalar T> struct Overlaps {
  const std::int32_t* sums;
  Index leading;
  Index stride;
  int count;  // near_near alone, or all.
  const std::uint64_t* row_squares;
  const std::uint64_t* column_squares;
  const int* row_exponents;
  const int* column_exponents;
  double unit;  // |a|^2 |b|^2 is at most the product of the squares times this, in units of leading bits.
  Operand<T> A;
  Operand<T> B;
  Index inner;

  KOKKOS_INLINE_FUNCTION double sum(Index i, Index j, int which) const {
    return static_cast<double>(sums[i + j * leading + which * stride]);
  }
  /// Lower bound of sum_k |a_k b_k|. It depends on the element alone, not on its piece of C: the other sums count only
  /// if near_near is zero.
  KOKKOS_INLINE_FUNCTION double least(Index i, Index j) const {
    const double first = sum(i, j, near_near);
    if (first > 0.0 || count == 1) {
      return first;
    }
    constexpr double far = 1.0 / (1 << far_bits);
    const double second = far * Kokkos::fmax(sum(i, j, near_far), sum(i, j, far_near));
    return Kokkos::fmax(second, far * far * sum(i, j, far_far));
  }
  /// Return false if the number of moduli does not matter here: special elements are summed plainly, and zeros are
  /// exact.
  KOKKOS_INLINE_FUNCTION bool counts(Index i, Index j) const {
    return row_exponents[i] != QuantisedVectors<T>::special && column_exponents[j] != QuantisedVectors<T>::special &&
           (count > 1 ? sum(i, j, present) != 0.0 : row_squares[i] != 0 && column_squares[j] != 0);
  }
  /// |a|^2 |b|^2.
  KOKKOS_INLINE_FUNCTION double squares(Index i, Index j) const {
    return static_cast<double>(row_squares[i]) * static_cast<double>(column_squares[j]);
  }
  /// Upper bound of log2(|a| |b| / sum |a_k b_k|), from the largest of the products' exponents.
  KOKKOS_INLINE_FUNCTION int excess(Index i, Index j) const {
    int largest = -100000;
    for (Index k = 0; k < inner; ++k) {
      const std::uint64_t a = magnitude_bits(A(i, k));
      const std::uint64_t b = magnitude_bits(B(k, j));
      const int exponent = exponent_of(a) + exponent_of(b);
      largest = a != 0 && b != 0 && exponent > largest ? exponent : largest;
    }
    const int norms =
        (exponent_of(magnitude_bits(squares(i, j))) + 1) / 2 + row_exponents[i] + column_exponents[j] - 2 * norm_bits;
    return norms - (largest - 2);
  }
};

/// Column of an element from its number, in 32 bits if these suffice.
struct Elementwise {
  Index rows;
  bool narrow;
  Elementwise(Index high, Index wide) : rows(high), narrow(high * wide <= Index{0xffffffff}) {}
  KOKKOS_INLINE_FUNCTION Index column(Index e) const {
    return narrow ? static_cast<Index>(static_cast<std::uint32_t>(e) / static_cast<std::uint32_t>(rows)) : e / rows;
  }
};

/// The largest square of a ratio, and the number of elements that leading bits leave undecided; `+=` joins parts of a
/// reduction.
struct Probed {
  double square = 0.0;
  Index undecided = 0;
  KOKKOS_INLINE_FUNCTION Probed& operator+=(const Probed& other) {
    square = other.square > square ? other.square : square;
    undecided += other.undecided;
    return *this;
  }
};

/// Join one element to `seen`. The division is done only if the ratio may be the largest so far: best b >= a (1 +
/// 2^-50) has a / b, rounded, at most `best`.
template <Scalar T>
KOKKOS_INLINE_FUNCTION void probe_element(const Overlaps<T>& overlaps, Index i, Index j, Probed& seen) {
  if (!overlaps.counts(i, j)) return;
  const double sum = overlaps.least(i, j);
  if (sum > 0.0) {
    const double product = overlaps.squares(i, j) * overlaps.unit;
    const double square = sum * sum;
    if (seen.square * square < product * (1.0 + 0x1p-50)) seen += {product / square, 0};
  } else {
    ++seen.undecided;
  }
}

template <Scalar T> struct ProbeRun {
  /// Elements of a row that a thread takes.
  static constexpr Index run = on_host ? 1 : 16;
  Overlaps<T> overlaps;
  Elementwise elements;
  Index rows;
  Index columns;
  KOKKOS_INLINE_FUNCTION void operator()(Index e, Probed& seen) const {
    const Index number = elements.column(e);
    const Index i = e - number * rows;
    const Index end = number * run + run < columns ? number * run + run : columns;
    for (Index j = number * run; j < end; ++j) probe_element(overlaps, i, j, seen);
  }
};

template <Scalar T>
Spread probe_elements(const ExecutionSpace& space, const Overlaps<T>& overlaps, Index rows, Index columns) {
  constexpr Index run = ProbeRun<T>::run;
  Probed found;
  const Index runs = (columns + run - 1) / run;
  const Elementwise elements(rows, runs);
  Kokkos::parallel_reduce("heddle::gemm::probe",
                          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * runs),
                          ProbeRun<T>{overlaps, elements, rows, columns}, found);
  return {std::sqrt(found.square), found.undecided};
}

template <Scalar T> struct DecideElement {
  Overlaps<T> overlaps;
  Elementwise elements;
  Index rows;
  KOKKOS_INLINE_FUNCTION void operator()(Index e, int& largest) const {
    const Index j = elements.column(e);
    const Index i = e - j * rows;
    if (overlaps.counts(i, j) && overlaps.least(i, j) == 0.0) {
      const int here = overlaps.excess(i, j);
      largest = here > largest ? here : largest;
    }
  }
};

/// Upper bound of the ratio of elements that leading bits leave undecided, by a pass over row and column for each of
/// them.
template <Scalar T> double decide(const ExecutionSpace& space, const Overlaps<T>& overlaps, Index rows, Index columns) {
  int excess = 0;
  const Elementwise elements(rows, columns);
  Kokkos::parallel_reduce("heddle::gemm::decide",
                          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
                          DecideElement<T>{overlaps, elements, rows}, Kokkos::Max<int>(excess));
  return std::ldexp(1.0, excess);
}

}  // namespace heddle::impl

// Bands of op(A) and op(B) as residues of integers.
#pragma once

#include "emulation/residues.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/exact/accumulator.hpp>

#include <string>
#include <utility>

namespace heddle::impl {

/// The extent, rounded up to a multiple.
[[nodiscard]] inline Index padded(Index extent, Index multiple) {
  return (extent + multiple - 1) / multiple * multiple;
}

/// Make room for `needed` elements at least; growing discards the contents.
template <class T>
void grow(const ExecutionSpace& space, const std::string& label, Index needed, Kokkos::View<T*, MemorySpace>& view) {
  if (static_cast<Index>(view.extent(0)) < needed) {
    view = {};
    view = Kokkos::View<T*, MemorySpace>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                         static_cast<std::size_t>(needed));
  }
}

/// Bits of |x|, for complex x of the larger part: they are compared and squared as integers, which no mode of the
/// processor changes.
template <Scalar T> KOKKOS_INLINE_FUNCTION std::uint64_t magnitude_bits(const T& x) {
  using F = exact::bits::Format<double>;
  if constexpr (is_complex<T>) {
    const std::uint64_t re = magnitude_bits(x.real());
    const std::uint64_t im = magnitude_bits(x.imag());
    return re > im ? re : im;
  } else {
    return F::to_bits(static_cast<double>(x)) & (F::sign_bit - 1);
  }
}

/// e of 2^(e - 1) <= |x| < 2^e; of zero, that of the smallest number.
KOKKOS_INLINE_FUNCTION int exponent_of(std::uint64_t bits) {
  const auto field = static_cast<int>(bits >> exact::bits::Format<double>::fraction);
  return field > 0 ? field - 1022 : 64 - Kokkos::countl_zero(bits | 1) - 1074;
}

/// Number of bits by which elements far below a vector's largest are raised.
inline constexpr int far_bits = 10;

/// Bits of an element that count for its vector's norm.
inline constexpr int norm_bits = 14;

/// Vectors x (rows of op(A) or columns of op(B)) of length `inner` as integers x' = round(2^s x), ties to even, with
/// the largest s for which |x'|_2 <= reach: any two of them have |x'.y'| < P / 2. The norm is bounded by a sum of
/// squares in integers, so that s depends on the vector alone, and the residues with it: the same on every backend,
/// whatever the threads.
///
/// Residues of a plane (one for each modulus, two or three of complex vectors: see ResidueSystem) lie one vector after
/// the other, `leading` bytes apart, zeros behind the last element. Slices do so too: x' = sum_l 256^l x_l, plane
/// l of the real part, and then of the imaginary one.
template <Scalar T> class QuantisedVectors {
 public:
  static constexpr int near = 0;
  static constexpr int far = 1;

  /// Bytes of the residues of so many vectors, without overflow for more than any memory holds.
  [[nodiscard]] static double bytes(Index vectors, Index inner, int moduli) {
    return static_cast<double>(padded(vectors, vector_padding)) * static_cast<double>(padded(inner, inner_padding)) *
           ResidueSystem::planes(field_of<T>, moduli);
  }
  /// Bytes of the scales and norms of so many vectors.
  [[nodiscard]] static constexpr double bytes_of_sizes(Index vectors) {
    return (sizeof(int) + 2.0 * sizeof(std::uint64_t)) * static_cast<double>(vectors);
  }
  /// Allocates no residues: see reserve().
  QuantisedVectors(const ExecutionSpace& space, Factor factor, Index most_vectors, Index inner);

  /// Make room for residues of so many moduli at least, of all vectors; growing discards the contents.
  void reserve(const ExecutionSpace& space, int moduli);
  /// The same for so many planes of some vectors.
  void reserve(const ExecutionSpace& space, Index vectors, int planes);
  /// Measure the sizes and norms of op(X)'s vectors. This and the calls below are ordered on `space` and do not block.
  void measure(const ExecutionSpace& space, Operation op, const MatrixView<const T>& X);
  /// Make residues or slices of the matrix that was measured, or of a part of it, whose vectors are those from `first`
  /// on; for no more moduli than there is room for. The accessors below describe that part until another one is taken.
  void take(const ExecutionSpace& space, const ResidueSystem& system, EmulationScheme scheme, Operation op,
            const MatrixView<const T>& X, Index first = 0);
  /// Make planes of leading bits of all vectors. Plane `near` holds |x| 2^(width - e) rounded down, e the exponent of
  /// the vector's largest element (of complex x the larger part counts); plane `far` 2^far_bits times that, or the
  /// largest number of `width` bits if that is less; the next plane whether x is not zero. exponents() are then those
  /// e.
  static constexpr int leading_planes = 3;
  void take_leading(const ExecutionSpace& space, int width, Operation op, const MatrixView<const T>& X);

  [[nodiscard]] Index most_vectors() const { return most_vectors_; }
  [[nodiscard]] Index vectors() const { return vectors_; }
  [[nodiscard]] Index inner() const { return inner_; }
  /// Scheme of the last take().
  [[nodiscard]] EmulationScheme scheme() const { return scheme_; }
  [[nodiscard]] Index leading() const { return leading_; }
  /// Bytes from one plane to the next.
  [[nodiscard]] Index stride() const { return leading_ * padded_; }
  [[nodiscard]] const std::int8_t* plane(int number) const { return residues_.data() + number * stride(); }
  /// Sums of squares of |x| 2^(norm_bits - e), each rounded up; of complex x both parts'.
  [[nodiscard]] Kokkos::View<const std::uint64_t*, MemorySpace> squares() const { return squares_; }
  /// s of each vector; `special` where an element is NaN or infinite.
  [[nodiscard]] Kokkos::View<const int*, MemorySpace> exponents() const {
    return Kokkos::subview(exponents_, std::pair(first_, first_ + vectors_));
  }
  static constexpr int special = 1 << 20;

  /// The number of vectors is padded to a multiple of this for integer units.
  static constexpr Index vector_padding = 16;
  static constexpr Index inner_padding = 64;

 private:
  /// Whether op(X)'s vectors are rows of X.
  [[nodiscard]] bool by_rows(Operation op) const;
  void show(const MatrixView<const T>& X, Operation op, Index first);
  template <class Work>
  void store(const ExecutionSpace& space, const std::string& label, Operation op, const Work& work) const;

  Factor factor_;
  EmulationScheme scheme_ = EmulationScheme::residues;
  Index most_vectors_;
  Index first_ = 0;
  Index vectors_ = 0;
  Index inner_ = 0;
  Index leading_ = 0;
  Index padded_ = 0;
  Kokkos::View<std::int8_t*, MemorySpace> residues_;
  Kokkos::View<int*, MemorySpace> exponents_;
  Kokkos::View<std::uint64_t*, MemorySpace> largest_;
  Kokkos::View<std::uint64_t*, MemorySpace> squares_;
};

}  // namespace heddle::impl

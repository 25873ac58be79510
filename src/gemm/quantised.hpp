// Bands of op(A) and op(B) as residues of integers.
#pragma once

#include "gemm/residues.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>

namespace heddle::impl {

/// The extent, rounded up to a multiple.
[[nodiscard]] inline Index padded(Index extent, Index multiple) {
  return (extent + multiple - 1) / multiple * multiple;
}

/// Which factor of a product: op(A), whose rows are scaled, or op(B), whose columns are.
enum class Factor { left, right };

/// Vectors x (rows of op(A) or columns of op(B)) of length `inner` as integers x' = round(2^s x), ties to even, with
/// the largest s for which |x'|_2 <= reach: any two of them have |x'.y'| < P / 2. The norm is bounded by a sum of
/// squares in integers, so that s depends on the vector alone, and the residues with it: the same on every backend,
/// whatever the threads.
///
/// Residues of plane l (modulus l; of complex vectors three planes each: real, imaginary and their sum) lie one vector
/// after the other, `leading` bytes apart, zeros behind the last element.
template <Scalar T> class QuantisedVectors {
 public:
  static constexpr int parts = is_complex<T> ? 3 : 1;

  QuantisedVectors(const ExecutionSpace& space, Factor factor, Index most_vectors, Index inner, int moduli);

  /// Ordered on `space`, does not block.
  void take(const ExecutionSpace& space, const ResidueSystem& system, Operation op, const MatrixView<const T>& X);

  [[nodiscard]] Index vectors() const { return vectors_; }
  [[nodiscard]] Index inner() const { return inner_; }
  [[nodiscard]] Index leading() const { return leading_; }
  /// Bytes from one plane to the next.
  [[nodiscard]] Index stride() const { return leading_ * padded_; }
  [[nodiscard]] const std::int8_t* plane(int number) const { return residues_.data() + number * stride(); }
  /// s of each vector; `special` where an element is NaN or infinite.
  [[nodiscard]] Kokkos::View<const int*, MemorySpace> exponents() const { return exponents_; }
  static constexpr int special = 1 << 20;

  /// Vectors are padded to a multiple of this, which integer units like.
  static constexpr Index vector_padding = 16;
  static constexpr Index inner_padding = 64;

 private:
  Factor factor_;
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

// Normal form of a transposition: C(i, j) = f(A(i, j)) between two strided arrangements of the same elements.
#pragma once

#include "core/product.hpp"
#include <heddle/transpose/transpose.hpp>

#include <string>

namespace heddle::impl {

/// Elements of A and where they go, by A's indices; strides in elements. Batches along k.
template <class T> struct Moves {
  Index rows = 0;
  Index columns = 0;
  Index batch = 1;
  const T* from = nullptr;
  Index from_row = 1;
  Index from_column = 1;
  Index from_batch = 0;
  T* to = nullptr;
  Index to_row = 1;
  Index to_column = 1;
  Index to_batch = 0;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION const T& source(Index i, Index j, Index k) const {
    return from[i * from_row + j * from_column + k * from_batch];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T& target(Index i, Index j, Index k) const {
    return to[i * to_row + j * to_column + k * to_batch];
  }
  /// Contiguous along rows on one side and along columns on the other.
  [[nodiscard]] bool crosses() const { return from_row == 1 && to_column == 1; }
};

/// alpha x or alpha conj(x); x itself, bit for bit, where alpha is 1.
template <class T> struct Map {
  T alpha;
  bool scales;
  bool conjugates;
  Map(T factor, Operation op)
      : alpha(factor), scales(!(factor == T(1))), conjugates(op == Operation::conjugate_transpose) {}
  [[nodiscard]] bool is_identity() const { return !scales && !(conjugates && has_imaginary_part); }
  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    T value = x;
    if constexpr (has_imaginary_part) {
      if (conjugates) {
        value = Kokkos::conj(x);
      }
      return scales ? product(alpha, value) : value;
    }
    return scales ? static_cast<T>(alpha * value) : value;
  }

 private:
  static constexpr bool has_imaginary_part = ScalarTraits<T>::is_complex;
};

/// Throws Error(argument) for options that this device can't run on elements of so many bytes, of a matrix of rows x
/// columns or any part of one: the same on all ranks that have the same device.
void require_runs(const TransposeOptions& options, std::size_t element_bytes, Index rows, Index columns);

/// The fastest way for moves that cross; on CPUs in host.cpp, on GPUs in device.cpp.
template <class T>
void move_streamed(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map, double device_share);

/// The same, on CPUs alone, for moves along whose rows both ends are contiguous.
template <class T> void move_runs(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map);

}  // namespace heddle::impl

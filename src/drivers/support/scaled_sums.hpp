// Sums over rows of distributed matrices that neither over- nor underflow, with the sizes of what was summed.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

#include <complex>
#include <type_traits>
#include <vector>

namespace heddle::driver {

/// What elements of type T are summed in.
template <Scalar T> using SumOf = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <Scalar T> [[nodiscard]] SumOf<T> sum_of(const T& value) {
  if constexpr (is_complex<T>) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else {
    return static_cast<double>(value);
  }
}

[[nodiscard]] bool is_finite(double value);
[[nodiscard]] bool is_finite(const std::complex<double>& value);

/// number[i] 2^exponent[i], the sum of terms whose magnitudes add up to size[i] 2^exponent[i].
template <class Number> struct ScaledSums {
  std::vector<Number> number;
  std::vector<double> size;
  std::vector<int> exponent;

  ScaledSums() = default;
  /// Zeros.
  explicit ScaledSums(std::size_t count) : number(count), size(count), exponent(count, nothing) {}

  /// Sizes in [1/2, 1), or zero.
  void normalise();
  /// this += factor other.
  void add(const Number& factor, const ScaledSums& other);

  /// The exponent of zero: below all others, and any sum of a few of it is far from an int's end.
  static constexpr int nothing = -(1 << 20);
};

/// op(M) x on every rank, without elements that are not finite. Collective.
template <Scalar T>
[[nodiscard]] ScaledSums<SumOf<T>> multiply(Operation op, const DistributedMatrix<T>& M, const ScaledSums<SumOf<T>>& x);

/// 2-norms of op(M)'s rows, in `size`, on every rank, without elements that are not finite. Collective.
template <Scalar T> [[nodiscard]] ScaledSums<SumOf<T>> norms_of_rows(Operation op, const DistributedMatrix<T>& M);

/// Whether each row of op(M) has an element that is not finite, on every rank. Collective.
template <Scalar T> [[nodiscard]] std::vector<int> rows_not_finite(Operation op, const DistributedMatrix<T>& M);

}  // namespace heddle::driver

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

/// A distributed matrix as it is now, each rank's part in host memory. Functions are collective, their results the same
/// on every rank.
template <Scalar T> class HostParts {
 public:
  using Number = SumOf<T>;

  /// Collective.
  explicit HostParts(const DistributedMatrix<T>& M);

  /// Whether no element of the whole matrix is NaN or infinite.
  [[nodiscard]] bool finite() const { return finite_; }
  /// op(M) x, without elements that are not finite.
  [[nodiscard]] ScaledSums<Number> multiply(Operation op, const ScaledSums<Number>& x) const;
  /// 2-norms of op(M)'s rows, in `size`, without elements that are not finite.
  [[nodiscard]] ScaledSums<Number> norms_of_rows(Operation op) const;
  /// Whether each row of op(M) has an element that is not finite.
  [[nodiscard]] std::vector<int> rows_not_finite(Operation op) const;
  /// body(row, column, element) for this rank's elements of op(M), down the columns of M.
  template <class Body> void for_each(Operation op, const Body& body) const {
    const bool transposed = op != Operation::none;
    for (Index j = 0; j < static_cast<Index>(local_.extent(1)); ++j) {
      const auto column = static_cast<std::size_t>(matrix_.global_column(j));
      for (Index i = 0; i < static_cast<Index>(local_.extent(0)); ++i) {
        const auto row = static_cast<std::size_t>(matrix_.global_row(i));
        Number element = sum_of(local_(i, j));
        if constexpr (is_complex<T>) {
          if (op == Operation::conjugate_transpose) element = std::conj(element);
        }
        body(transposed ? column : row, transposed ? row : column, element);
      }
    }
  }

 private:
  [[nodiscard]] std::size_t rows_of(Operation op) const {
    return static_cast<std::size_t>(op == Operation::none ? matrix_.rows() : matrix_.columns());
  }

  DistributedMatrix<T> matrix_;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), MatrixView<T>())) local_;
  bool finite_ = true;  // On every rank, as is the next.
  bool tame_ = true;    // Whether all elements but zeros are far from the ends of double's range.
};

}  // namespace heddle::driver

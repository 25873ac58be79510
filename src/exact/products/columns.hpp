// On the host: inner products of many rows with one vector, column by column, vectorised over neighbouring rows.
#pragma once

#include "exact/products/operand.hpp"

#include <array>
#include <utility>
#include <vector>

namespace heddle::exact::impl {

/// Minimum number of rows.
inline constexpr Index fewest_rows = 16;

/// Sums of `length` rows, stored contiguously.
template <Scalar T> class Rows {
 public:
  explicit Rows(Index length) : length_(static_cast<std::size_t>(length)) {
    for (auto& numbers : parts_) {
      numbers.resize(3 * length_);
    }
  }
  void set(Index i, const T& value) {
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      double* const at = parts_[static_cast<std::size_t>(p)].data() + i;
      at[0] = static_cast<double>(part_of(value, p));
      at[length_] = 0;
      at[2 * length_] = 0;
    }
  }
  void clear(Index rows) {
    for (Index i = 0; i < rows; ++i) {
      set(i, T(0));
    }
  }
  [[nodiscard]] InnerSum<T> get(Index i) const {
    InnerSum<T> sum;
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      const double* const at = parts_[static_cast<std::size_t>(p)].data() + i;
      sum.part[p] = Compensated{at[0], at[length_], at[2 * length_]};
    }
    return sum;
  }
  void swap(Index i, Index j) {
    for (auto& numbers : parts_) {
      for (std::size_t k = 0; k < 3; ++k) {
        std::swap(numbers[k * length_ + static_cast<std::size_t>(i)],
                  numbers[k * length_ + static_cast<std::size_t>(j)]);
      }
    }
  }

  /// Adds to row i the sum over k of A(i, k) x(k), begin <= i < end; A has unit row stride. x(k) is a T.
  template <class X> void add(Index begin, Index end, const Operand<T>& A, const X& x) {
    constexpr int at_once = 8;
    Index k = 0;
    for (; k + at_once <= A.columns; k += at_once) {
      add_columns<at_once>(begin, end, A.data + k * A.column_stride, A.column_stride, A.conjugated,
                           [&](int q) { return x(k + q); });
    }
    for (; k < A.columns; ++k) {
      add_columns<1>(begin, end, A.data + k * A.column_stride, A.column_stride, A.conjugated,
                     [&](int) { return x(k); });
    }
  }

 private:
  template <int many, class X>
  void add_columns(Index begin, Index end, const T* a, Index stride, bool conjugated, const X& x) {
    using R = Real<T>;
    if constexpr (is_complex<T>) {
      std::array<R, many> re;
      std::array<R, many> im;
      for (int q = 0; q < many; ++q) {
        const T value = x(q);
        re[static_cast<std::size_t>(q)] = value.real();
        im[static_cast<std::size_t>(q)] = value.imag();
      }
      const auto* const numbers = reinterpret_cast<const R*>(a);
      const R sign = conjugated ? R(-1) : R(1);
      std::array<R, many> minus_im;
      std::array<R, many> signed_re;
      for (std::size_t q = 0; q < many; ++q) {
        minus_im[q] = -sign * im[q];
        signed_re[q] = sign * re[q];
      }
      accumulate<2 * many>(0, begin, end, [&](Index i, int t, R& left, R& right) {
        const auto q = static_cast<std::size_t>(t / 2);
        left = numbers[2 * (i + static_cast<Index>(q) * stride) + t % 2];
        right = t % 2 == 0 ? re[q] : minus_im[q];
      });
      accumulate<2 * many>(1, begin, end, [&](Index i, int t, R& left, R& right) {
        const auto q = static_cast<std::size_t>(t / 2);
        left = numbers[2 * (i + static_cast<Index>(q) * stride) + t % 2];
        right = t % 2 == 0 ? im[q] : signed_re[q];
      });
    } else {
      std::array<R, many> factors;
      for (int q = 0; q < many; ++q) {
        factors[static_cast<std::size_t>(q)] = x(q);
      }
      accumulate<many>(0, begin, end, [&](Index i, int q, R& left, R& right) {
        left = a[i + q * stride];
        right = factors[static_cast<std::size_t>(q)];
      });
    }
  }
  // Adds `terms` products to each row of a part.
  template <int terms, class Load> void accumulate(std::size_t part, Index begin, Index end, const Load& load) {
    double* const sums = parts_[part].data();
    double* const lost = sums + length_;
    double* const sizes = lost + length_;
#pragma GCC ivdep
    for (Index i = begin; i < end; ++i) {
      double sum = sums[i];
      double rest = lost[i];
      double size = sizes[i];
      for (int t = 0; t < terms; ++t) {
        Real<T> left;
        Real<T> right;
        load(i, t, left, right);
        auto value = static_cast<double>(left);
        auto error = static_cast<double>(right);
        if constexpr (sizeof(Real<T>) == 8) {
          two_product(value, error);
        } else {
          value = rounded_product(value, error);
          error = 0;
        }
        Compensated::add(sum, rest, size, value, error);
      }
      sums[i] = sum;
      lost[i] = rest;
      sizes[i] = size;
    }
  }

  std::size_t length_;
  std::array<std::vector<double>, parts_of_scalar<T>> parts_;
};

}  // namespace heddle::exact::impl

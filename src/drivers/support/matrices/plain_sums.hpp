// Sums over rows of matrices without a look at what the elements are: as fast as memory brings them.
#pragma once

#include "drivers/support/matrices/host_panels.hpp"

#include <cmath>
#include <utility>

namespace heddle::driver {

/// Sum of terms, and of their magnitudes.
template <class Number> struct Sum {
  Number number{};
  double size = 0;
  void join(const Sum& other) {
    number += other.number;
    size += other.size;
  }
};

/// Largest of integers.
struct Largest {
  int value = ScaledSums<double>::nothing;
  void join(const Largest& other) { value = std::max(value, other.value); }
};

/// Factors of the rows of op(M), or their sums, side by side.
struct Numbers {
  explicit Numbers(std::size_t count) : real(count), imaginary(count), size(count) {}
  std::vector<double> real;
  std::vector<double> imaginary;
  std::vector<double> size;
};

/// Terms of a sum: element times factor with its size, or the element's squared size alone.
enum class Term { product, square };

/// Columns of an array, `many` at once.
template <Scalar T, int many> struct Columns {
  const Real<T>* parts[many];  ///< Real and imaginary parts in turn.
  Columns(const T* first, Index leading) {
    for (int q = 0; q < many; ++q) parts[q] = reinterpret_cast<const Real<T>*>(first + q * leading);
  }
};

/// Adds many columns times their factors, which begin at `first`, to sums of `rows` rows.
template <Term term, int many, Scalar T>
void add_columns(const Columns<T, many> columns, Index rows, const Numbers& factors, Index first, Numbers& sums) {
  double x[many];
  double y[many];
  double s[many];
  std::copy_n(factors.real.data() + first, many, x);
  std::copy_n(factors.imaginary.data() + first, many, y);
  std::copy_n(factors.size.data() + first, many, s);
  double* const real = sums.real.data();
  double* const imaginary = sums.imaginary.data();
  double* const size = sums.size.data();
#pragma GCC ivdep
  for (Index i = 0; i < rows; ++i) {
    [[maybe_unused]] double re = real[i];
    [[maybe_unused]] double im = imaginary[i];
    double total = size[i];
    for (int q = 0; q < many; ++q) {
      if constexpr (is_complex<T>) {
        const double a = columns.parts[q][2 * i];
        const double b = columns.parts[q][2 * i + 1];
        if constexpr (term == Term::product) {
          re += a * x[q] - b * y[q];
          im += a * y[q] + b * x[q];
          total += std::sqrt(a * a + b * b) * s[q];
        } else {
          total += a * a + b * b;
        }
      } else {
        const double a = columns.parts[q][i];
        if constexpr (term == Term::product) {
          re += a * x[q];
          total += std::abs(a) * s[q];
        } else {
          total += a * a;
        }
      }
    }
    if constexpr (term == Term::product) real[i] = re;
    if constexpr (term == Term::product && is_complex<T>) imaginary[i] = im;
    size[i] = total;
  }
}

/// Adds to sums of `many` columns, which begin at `into`, their elements times the factors of rows, which begin at
/// `first`. A column has several sums, so that its loop has vectors.
template <Term term, int many, Scalar T>
void add_rows(const Columns<T, many> columns, Index rows, double sign, const Numbers& factors, Index first,
              Numbers& sums, Index into) {
  constexpr int lanes = is_complex<T> || term == Term::square ? 8 : 16;
  double real[many][lanes] = {};
  double imaginary[many][lanes] = {};
  double size[many][lanes] = {};
  const double* const x = factors.real.data() + first;
  const double* const y = factors.imaginary.data() + first;
  const double* const s = factors.size.data() + first;
  const auto add = [&](int q, int lane, Index i) {
    if constexpr (is_complex<T>) {
      const double a = columns.parts[q][2 * i];
      const double b = sign * columns.parts[q][2 * i + 1];
      if constexpr (term == Term::product) {
        real[q][lane] += a * x[i] - b * y[i];
        imaginary[q][lane] += a * y[i] + b * x[i];
        size[q][lane] += std::sqrt(a * a + b * b) * s[i];
      } else {
        size[q][lane] += a * a + b * b;
      }
    } else {
      const double a = columns.parts[q][i];
      if constexpr (term == Term::product) {
        real[q][lane] += a * x[i];
        size[q][lane] += std::abs(a) * s[i];
      } else {
        size[q][lane] += a * a;
      }
    }
  };
  const auto add_lanes = [&](int q, Index i) {
    for (int lane = 0; lane < lanes; ++lane) add(q, lane, i + lane);
  };
  const Index whole = rows - rows % lanes;
  for (Index i = 0; i < whole; i += lanes) {
    // Written out, as it is then that compilers have vectors of lanes.
    [&]<int... q>(std::integer_sequence<int, q...>) {
      (add_lanes(q, i), ...);
    }
    (std::make_integer_sequence<int, many>());
  }
  for (int q = 0; q < many; ++q) {
    for (Index i = whole; i < rows; ++i) add(q, 0, i);
    for (int lane = 0; lane < lanes; ++lane) {
      sums.real[into + q] += real[q][lane];
      sums.imaginary[into + q] += imaginary[q][lane];
      sums.size[into + q] += size[q][lane];
    }
  }
}

/// The kernel of sums of rows of op(M).
template <Term term, Scalar T> auto plain_sums(Operation op, const Numbers& factors) {
  return [op, &factors](const HostBlock<T>& tile, Sum<SumOf<T>>* values) {
    constexpr int many = 4;
    const bool across = op != Operation::none;
    Numbers sums(static_cast<std::size_t>(across ? tile.columns : tile.rows));
    const auto add = [&]<int count>(Index j, Index row, Index rows) {
      const Columns<T, count> columns(tile.column(j) + row, tile.leading);
      if (across) {
        const double sign = op == Operation::conjugate_transpose ? -1.0 : 1.0;
        add_rows<term, count, T>(columns, rows, sign, factors, tile.first_row + row, sums, j);
      } else {
        add_columns<term, count, T>(columns, rows, factors, tile.first_column + j, sums);
      }
    };
    // So many rows at a time that their factors, or their sums, stay in the first cache.
    for (Index row = 0; row < tile.rows; row += Shares::row_block) {
      const Index rows = std::min(Shares::row_block, tile.rows - row);
      Index j = 0;
      for (; j + many <= tile.columns; j += many) add.template operator()<many>(j, row, rows);
      for (; j < tile.columns; ++j) add.template operator()<1>(j, row, rows);
    }
    for (std::size_t k = 0; k < sums.size.size(); ++k) {
      if constexpr (is_complex<T>) {
        values[k] = {{sums.real[k], sums.imaginary[k]}, sums.size[k]};
      } else {
        values[k] = {sums.real[k], sums.size[k]};
      }
    }
  };
}

}  // namespace heddle::driver

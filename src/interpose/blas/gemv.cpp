// Products of a matrix and a vector, by sums of many rows or columns at once.
#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/blas/vector_parts.hpp"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace heddle::impl::interpose {
namespace {

// add_rows() by any processor: `abreast` rows down some columns at a time.
template <Index many, RealScalar T>
void add_columns_to(const T* A, Index leading, Index rows, const double* x, RowSums& sums) {
  for (Index r = 0; r < rows; ++r) {
    exact::Compensated one = sums.of(r);
    for (Index q = 0; q < many; ++q) {
      double value = static_cast<double>(A[r + q * leading]);
      double error = x[q];
      exact::two_product(value, error);
      exact::Compensated::add(one.sum, one.lost, one.size, value, error);
    }
    sums.set(r, one);
  }
}
template <RealScalar T>
void add_rows_anywhere(const T* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  constexpr Index together = 4;
  Index k = 0;
  for (; k + together <= n; k += together) add_columns_to<together>(A + k * leading, leading, rows, x + k, sums);
  for (; k < n; ++k) add_columns_to<1>(A + k * leading, leading, rows, x + k, sums);
  sums.terms = n;
}

// Sums of rows, and what they round to; room for others that are added to them.
struct RoundedRows {
  RowSums sums;
  RowSums others;
  double result[RowSums::rows];
  bool known[RowSums::rows];
  int raised[RowSums::rows];  // The exceptions of results beyond the range.
};

// round_rows() by any processor.
template <RealScalar T>
void round_rows_anywhere(const RowSums& sums, Index rows, double absolute, double* result, bool* known) {
  for (Index r = 0; r < rows; ++r) {
    T value{0};
    known[r] = is_known(sums.of(r), sums.terms, absolute, value);
    result[r] = static_cast<double>(value);
  }
}

// The rounded value of a sum of `terms` terms times 2^-scale, infinity and zero beyond the range of R among them, with
// the exceptions in `raised`. False where the rounding is not known, or the value is a denormal double.
template <RealScalar R>
bool rounds_far(const exact::Compensated& sum, Index terms, double absolute, int scale, double& result, int& raised) {
  double high = 0.0;
  double low = 0.0;
  const double off = sum.split(terms, absolute, high, low);
  if (!(std::abs(high) > 2.0 * off)) return false;
  using Limits = std::numeric_limits<R>;
  const int exponent = std::ilogb(high) - scale;
  if (exponent > Limits::max_exponent) {
    result = std::copysign(std::numeric_limits<double>::infinity(), high);
    raised = FE_OVERFLOW | FE_INEXACT;
    return true;
  }
  if (exponent < Limits::min_exponent - Limits::digits - 2) {
    result = std::copysign(0.0, high);
    raised = FE_UNDERFLOW | FE_INEXACT;
    return true;
  }
  if (exponent < Limits::min_exponent || exponent > Limits::max_exponent - 3) return false;
  R rounded{0};
  if constexpr (sizeof(R) == 4) {
    if (scale != 0) return false;
  }
  if (!sum.rounds_to<R>(terms, absolute, rounded)) return false;
  result = std::ldexp(static_cast<double>(rounded), -scale);
  return true;
}

// The factors of a product as add_and_finish() passes them on: real numbers for each part.
template <Scalar T> using FactorsOf = std::array<std::vector<double>, static_cast<std::size_t>(parts_of<T>)>;

// The power of two that brings the largest of the factors to 2^exponent, and the factors so scaled.
template <class Factors> int scaled_to(int exponent, const Factors& factors, Factors& result) {
  double most = 0.0;
  for (const auto& numbers : factors) {
    for (const double x : numbers) most = std::isfinite(x) ? std::max(most, std::abs(x)) : most;
  }
  const int scale = most > 0.0 ? exponent - std::ilogb(most) : 0;
  result = factors;
  for (auto& numbers : result) {
    for (double& x : numbers) x = std::scalbn(x, scale);
  }
  return scale;
}

// y = alpha op(A) x + beta y, `count` rows of op(A) with n columns, as many parts as RowSums has rows at a time:
// add(factors, first, rows, sums, others) adds up the products of each part, and element(i, k) is one of op(A). Sums of
// doubles that leave the range are added once more with factors that are scaled down, or up.
template <Scalar T, class Add, class Element>
void add_and_finish(Index count, Index n, T alpha, const FactorsOf<T>& factors, const Strided<const T>& x, T beta,
                    const Strided<T>& y, const Add& add, const Element& element) {
  using R = Real<T>;
  constexpr Index parts = parts_of<T>;
  constexpr bool narrow = sizeof(R) == 4;
  // Bound for numbers below 2^1024 and those that scaling made denormal.
  const double lost_by_scaling = 0x1p-50 * static_cast<double>(parts * n);
  const double underflow = narrow ? 0.0 : exact::Compensated::underflow(parts * n);
  const int threads = threads_for_products(parts * parts * count * n);
  const Index at_once = std::min<Index>(RowSums::rows / parts, (count / threads + 15) / 16 * 16 + 16);
  in_parts((count + at_once - 1) / at_once, threads, [&](Index begin, Index end) {
    const OffStack<RoundedRows> of_rows;
    for (Index first = begin * at_once; first < std::min(count, end * at_once); first += at_once) {
      const Index rows = std::min(at_once, count - first);
      RowSums& sums = of_rows->sums;
      double* const result = of_rows->result;
      bool* const known = of_rows->known;
      int* const raised = of_rows->raised;
      {
        const Quiet quiet;
        sums.clear(parts * rows);
        add(factors, first, rows, sums, of_rows->others);
        if (has_placed_sums()) {
          round_rows(sums, parts * rows, underflow, narrow, result, known);
        } else {
          round_rows_anywhere<R>(sums, parts * rows, underflow, result, known);
        }
        std::fill_n(raised, parts * rows, 0);
        bool overflowed = false;
        bool underflowed = false;
        const auto settle = [&](double absolute, int scale) {
          for (Index r = 0; r < parts * rows; ++r) {
            if (known[r] || (known[r] = rounds_far<R>(sums.of(r), sums.terms, absolute, scale, result[r], raised[r])))
              continue;
            (std::isfinite(sums.sum[r]) && std::abs(sums.sum[r]) < 1.0 ? underflowed : overflowed) = true;
          }
        };
        settle(underflow, 0);
        for (const bool down : {true, false}) {
          if (narrow || !(down ? overflowed : underflowed)) continue;
          FactorsOf<T> scaled;
          const int scale = scaled_to(down ? -100 : 900, factors, scaled);
          if (down ? scale >= 0 : scale <= 0) continue;
          sums.clear(parts * rows);
          add(scaled, first, rows, sums, of_rows->others);
          settle(down ? lost_by_scaling : underflow, scale);
        }
      }
      for (Index r = 0; r < rows; ++r) {
        T sum{};
        bool is_sure = false;
        if constexpr (is_complex<T>) {
          sum = T(static_cast<R>(result[2 * r]), static_cast<R>(result[2 * r + 1]));
          is_sure = known[2 * r] && known[2 * r + 1];
        } else {
          sum = static_cast<T>(result[r]);
          is_sure = known[r];
        }
        if (is_sure && may_be_rounded_first(alpha, sum)) {
          for (Index p = 0; p < parts; ++p) {
            if (raised[parts * r + p] != 0) Quiet().raise(raised[parts * r + p]);
          }
          finish(alpha, sum, beta, y(first + r));
        } else {
          multiply_and_finish<T>(
              alpha, n, [&](Index k) { return element(first + r, k); }, x, beta, y(first + r));
        }
      }
    }
  });
}

// Real numbers of A, both parts of complex ones side by side.
template <Scalar T> const Real<T>* parts_in(const T* A) {
  return reinterpret_cast<const Real<T>*>(A);
}

// sums_r = sums_r - others_(r + 1) and sums_(r + 1) + others_r for even r: others times i.
void add_turned(Index rows, RowSums& sums, const RowSums& others) {
  for (Index r = 0; r < rows; ++r) {
    const bool odd = r % 2 != 0;
    const Index from = odd ? r - 1 : r + 1;
    const double factor = odd ? 1.0 : -1.0;
    exact::Compensated one = sums.of(r);
    exact::Compensated other;
    other.sum = factor * others.sum[from];
    other.lost = factor * others.lost[from];
    other.size = others.size[from];
    one.merge(other);
    sums.set(r, one);
  }
  sums.terms += others.terms + 1;
}

// y = alpha A x + beta y. Complex A is real A with a row for each part, times the real and the imaginary parts of x.
template <Scalar T>
void multiply_by_rows(Index m, Index n, T alpha, const T* A, Index leading, const Strided<const T>& x, T beta,
                      const Strided<T>& y) {
  constexpr Index parts = parts_of<T>;
  FactorsOf<T> factors;
  for (Index p = 0; p < parts; ++p) {
    for (Index k = 0; k < n; ++k) {
      factors[static_cast<std::size_t>(p)].push_back(static_cast<double>(part(x, parts * k + p)));
    }
  }
  const auto add_part = [&](const std::vector<double>& numbers, Index first, Index rows, RowSums& sums) {
    const Real<T>* const from = parts_in(A) + parts * first;
    if (has_placed_sums()) {
      add_rows(from, parts * leading, parts * rows, n, numbers.data(), sums);
    } else {
      add_rows_anywhere(from, parts * leading, parts * rows, n, numbers.data(), sums);
    }
  };
  const auto add = [&](const FactorsOf<T>& of_x, Index first, Index rows, RowSums& sums, RowSums& others) {
    add_part(of_x[0], first, rows, sums);
    if constexpr (is_complex<T>) {
      others.clear(parts * rows);
      add_part(of_x[1], first, rows, others);
      add_turned(parts * rows, sums, others);
    }
  };
  add_and_finish(m, n, alpha, factors, x, beta, y, add, [&](Index i, Index k) { return A[i + k * leading]; });
}

// The sums of A(k, j) x_k over k of any number of columns, the first one's at `at`, a multiple of 4.
void add_any_columns(const double* A, Index leading, Index columns, Index n, const double* x, Index at, RowSums& sums) {
  const Index whole = columns / 4 * 4;
  add_columns(A, leading, whole, n, x, at, sums);
  for (Index j = whole; j < columns; ++j) {
    exact::Compensated all;
    const bool added = add_long(n, A + j * leading, x, all);
    sums.sum[at + j] = added ? all.sum : std::numeric_limits<double>::quiet_NaN();
    sums.lost[at + j] = all.lost;
    sums.size[at + j] = all.size;
  }
}
// Likewise of floats, which become doubles first.
void add_any_columns(const float* A, Index leading, Index columns, Index n, const double* x, Index at, RowSums& sums) {
  constexpr Index together = 8;
  std::vector<double> wide(static_cast<std::size_t>(together * n));
  for (Index j = 0; j < columns; j += together) {
    const Index count = std::min(together, columns - j);
    for (Index c = 0; c < count; ++c) std::copy_n(A + (j + c) * leading, n, wide.data() + c * n);
    add_any_columns(wide.data(), n, count, n, x, at + j, sums);
  }
}

// y = alpha A^T x + beta y, or A^H. A column's inner product with complex x has two parts, which are those of its real
// numbers with (re, -im) and (im, re) of x; of conjugates, with (re, im) and (im, -re).
template <Scalar T>
void multiply_by_columns(bool conjugated, Index m, Index n, T alpha, const T* A, Index leading,
                         const Strided<const T>& x, T beta, const Strided<T>& y) {
  FactorsOf<T> factors;
  for (Index k = 0; k < n; ++k) {
    if constexpr (is_complex<T>) {
      const auto re = static_cast<double>(x(k).real());
      const auto im = static_cast<double>(x(k).imag());
      factors[0].insert(factors[0].end(), {re, conjugated ? im : -im});
      factors[1].insert(factors[1].end(), {im, conjugated ? -re : re});
    } else {
      factors[0].push_back(static_cast<double>(x(k)));
    }
  }
  const auto add = [&](const FactorsOf<T>& of_x, Index first, Index rows, RowSums& sums, RowSums& others) {
    const Real<T>* const from = parts_in(A + first * leading);
    if constexpr (is_complex<T>) {
      const Index second = (rows + 3) / 4 * 4;
      others.clear(2 * second);
      add_any_columns(from, 2 * leading, rows, 2 * n, of_x[0].data(), 0, others);
      add_any_columns(from, 2 * leading, rows, 2 * n, of_x[1].data(), second, others);
      for (Index r = 0; r < rows; ++r) {
        for (Index p = 0; p < 2; ++p) {
          sums.sum[2 * r + p] = others.sum[r + p * second];
          sums.lost[2 * r + p] = others.lost[r + p * second];
          sums.size[2 * r + p] = others.size[r + p * second];
        }
      }
      sums.terms = others.terms;
    } else {
      add_any_columns(from, leading, rows, n, of_x[0].data(), 0, sums);
    }
  };
  add_and_finish(m, n, alpha, factors, x, beta, y, add,
                 [&](Index i, Index k) { return conjugated_if(conjugated, A[k + i * leading]); });
}

// Element (i, k) of op(A).
template <Scalar T> T element(const Taken& taken, const T* A, Index leading, Index i, Index k) {
  return conjugated_if(taken.conjugated, taken.transposed ? A[k + i * leading] : A[i + k * leading]);
}

}  // namespace

template <Scalar T>
void gemv(Taken taken, Index m, Index n, T alpha, const T* A, Index leading, const T* x, Index step_x, T beta, T* y,
          Index step_y) {
  const Index rows = taken.transposed ? n : m;
  const Index columns = taken.transposed ? m : n;
  if (is_scaled(rows, columns, alpha, beta, y, step_y)) return;
  const Arithmetic arithmetic;
  const Strided<const T> in(x, columns, step_x);
  const Strided<T> out(y, rows, step_y);
  const bool conjugated = is_complex<T> && taken.conjugated;
  if (!taken.transposed && !conjugated) {
    multiply_by_rows(rows, columns, alpha, A, leading, in, beta, out);
    return;
  }
  if (taken.transposed && has_placed_sums()) {
    multiply_by_columns(conjugated, rows, columns, alpha, A, leading, in, beta, out);
    return;
  }
  in_parts(rows, threads_for_products(rows * columns), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      T sum{};
      bool known = false;
      if constexpr (std::is_same_v<T, double>) {
        const Quiet quiet;
        known = step_x == 1 && contiguous_product(columns, A + i * leading, in.data, sum);
      }
      if (known && may_be_rounded_first(alpha, sum)) {
        finish(alpha, sum, beta, out(i));
      } else {
        multiply_and_finish<T>(
            alpha, columns, [&](Index k) { return element(taken, A, leading, i, k); }, in, beta, out(i));
      }
    }
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template void gemv<T>(Taken, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

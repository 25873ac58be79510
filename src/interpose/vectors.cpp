#include "interpose/vectors.hpp"

#include "core/instantiate.hpp"
#include "interpose/arithmetic.hpp"
#include "interpose/sums.hpp"
#include "interpose/threads.hpp"
#include "interpose/vector_parts.hpp"

#include <limits>
#include <type_traits>
#include <vector>

namespace heddle::impl::interpose {
namespace {

// A number of a vector, of both parts of complex ones.
template <Scalar T> Real<T> part(const Strided<const T>& x, Index k) {
  if constexpr (is_complex<T>) {
    return k % 2 == 0 ? x(k / 2).real() : x(k / 2).imag();
  } else {
    return x(k);
  }
}
template <Scalar T> constexpr Index parts_of = is_complex<T> ? 2 : 1;

// add_rows() by any processor: `abreast` rows down some columns at a time.
template <Index many, RealScalar T>
void add_columns_to(const T* A, Index leading, Index rows, const double* x, RowSums& sums) {
  for (Index r = 0; r < rows; ++r) {
    exact::Compensated one;
    one.sum = sums.sum[r];
    one.lost = sums.lost[r];
    one.size = sums.size[r];
    for (Index q = 0; q < many; ++q) {
      double value = static_cast<double>(A[r + q * leading]);
      double error = x[q];
      exact::two_product(value, error);
      exact::Compensated::add(one.sum, one.lost, one.size, value, error);
    }
    sums.sum[r] = one.sum;
    sums.lost[r] = one.lost;
    sums.size[r] = one.size;
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
};

// As many threads as a product of a matrix and a vector is worth.
int threads_for(Index products) {
  constexpr Index worth = 200000;
  return static_cast<int>(std::min<Index>(usual_threads(), products / worth + 1));
}

// What is_known() says of rows, by any processor.
template <RealScalar T>
void round_rows_anywhere(const RowSums& sums, Index rows, double absolute, double* result, bool* known) {
  for (Index r = 0; r < rows; ++r) {
    exact::Compensated all;
    all.sum = sums.sum[r];
    all.lost = sums.lost[r];
    all.size = sums.size[r];
    T value{0};
    known[r] = is_known(all, sums.terms, absolute, value);
    result[r] = static_cast<double>(value);
  }
}

// y = alpha op(A) x + beta y, `count` rows of op(A) with n columns, as many parts as RowSums has rows at a time:
// add(first, rows, sums, others) adds up the products of each part, and element(i, k) is one of op(A).
template <Scalar T, class Add, class Element>
void add_and_finish(Index count, Index n, T alpha, const Strided<const T>& x, T beta, const Strided<T>& y,
                    const Add& add, const Element& element) {
  using R = Real<T>;
  constexpr Index parts = parts_of<T>;
  constexpr bool narrow = sizeof(R) == 4;
  const double underflow = narrow ? 0.0 : exact::Compensated::underflow(parts * n);
  const int threads = threads_for(parts * parts * count * n);
  const Index at_once = std::min<Index>(RowSums::rows / parts, (count / threads + 15) / 16 * 16 + 16);
  in_parts((count + at_once - 1) / at_once, threads, [&](Index begin, Index end) {
    const OffStack<RoundedRows> of_rows;
    for (Index first = begin * at_once; first < std::min(count, end * at_once); first += at_once) {
      const Index rows = std::min(at_once, count - first);
      RowSums& sums = of_rows->sums;
      double* const result = of_rows->result;
      bool* const known = of_rows->known;
      {
        const Quiet quiet;
        sums.clear(parts * rows);
        add(first, rows, sums, of_rows->others);
        if (has_placed_sums()) {
          round_rows(sums, parts * rows, underflow, narrow, result, known);
        } else {
          round_rows_anywhere<R>(sums, parts * rows, underflow, result, known);
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

// sums_r = sums_r + others_(r + 1) and sums_(r + 1) + others_r for even r: others times i, or -i.
void add_turned(Index rows, double sign, RowSums& sums, const RowSums& others) {
  for (Index r = 0; r < rows; ++r) {
    const bool odd = r % 2 != 0;
    const Index from = odd ? r - 1 : r + 1;
    const double factor = odd ? sign : -sign;
    exact::Compensated one;
    one.sum = sums.sum[r];
    one.lost = sums.lost[r];
    one.size = sums.size[r];
    exact::Compensated other;
    other.sum = factor * others.sum[from];
    other.lost = factor * others.lost[from];
    other.size = others.size[from];
    one.merge(other);
    sums.sum[r] = one.sum;
    sums.lost[r] = one.lost;
    sums.size[r] = one.size;
  }
  sums.terms += others.terms + 1;
}

// y = alpha A x + beta y. Complex A is real A with a row for each part, times the real and the imaginary parts of x.
template <Scalar T>
void multiply_by_rows(Index m, Index n, T alpha, const T* A, Index leading, const Strided<const T>& x, T beta,
                      const Strided<T>& y) {
  constexpr Index parts = parts_of<T>;
  std::vector<double> factors[parts];
  for (Index p = 0; p < parts; ++p) {
    for (Index k = 0; k < n; ++k) factors[p].push_back(static_cast<double>(part(x, parts * k + p)));
  }
  const auto add_part = [&](Index first, Index rows, Index p, RowSums& sums) {
    const Real<T>* const from = parts_in(A) + parts * first;
    if (has_placed_sums()) {
      add_rows(from, parts * leading, parts * rows, n, factors[p].data(), sums);
    } else {
      add_rows_anywhere(from, parts * leading, parts * rows, n, factors[p].data(), sums);
    }
  };
  const auto add = [&](Index first, Index rows, RowSums& sums, RowSums& others) {
    add_part(first, rows, 0, sums);
    if constexpr (is_complex<T>) {
      others.clear(parts * rows);
      add_part(first, rows, 1, others);
      add_turned(parts * rows, 1.0, sums, others);
    }
  };
  add_and_finish(m, n, alpha, x, beta, y, add, [&](Index i, Index k) { return A[i + k * leading]; });
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
  constexpr Index parts = parts_of<T>;
  std::vector<double> factors[parts];
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
  const auto add = [&](Index first, Index rows, RowSums& sums, RowSums& others) {
    const Real<T>* const from = parts_in(A + first * leading);
    if constexpr (is_complex<T>) {
      const Index second = (rows + 3) / 4 * 4;
      others.clear(2 * second);
      add_any_columns(from, 2 * leading, rows, 2 * n, factors[0].data(), 0, others);
      add_any_columns(from, 2 * leading, rows, 2 * n, factors[1].data(), second, others);
      for (Index r = 0; r < rows; ++r) {
        for (Index p = 0; p < 2; ++p) {
          sums.sum[2 * r + p] = others.sum[r + p * second];
          sums.lost[2 * r + p] = others.lost[r + p * second];
          sums.size[2 * r + p] = others.size[r + p * second];
        }
      }
      sums.terms = others.terms;
    } else {
      add_any_columns(from, leading, rows, n, factors[0].data(), 0, sums);
    }
  };
  add_and_finish(m, n, alpha, x, beta, y, add,
                 [&](Index i, Index k) { return conjugated_if(conjugated, A[k + i * leading]); });
}

// Element (i, k) of op(A).
template <Scalar T> T element(const Taken& taken, const T* A, Index leading, Index i, Index k) {
  return conjugated_if(taken.conjugated, taken.transposed ? A[k + i * leading] : A[i + k * leading]);
}

}  // namespace

template <Scalar T> T dot(bool conjugated, Index n, const T* x, Index step_x, const T* y, Index step_y) {
  if (n <= 0) return T{0};
  const Arithmetic arithmetic;
  if constexpr (!is_complex<T>) {
    T result{};
    const Quiet quiet;
    if (step_x == 1 && step_y == 1 && contiguous_product(n, x, y, result, threads_for(n))) return result;
  }
  const Strided<const T> left(x, n, step_x);
  const Strided<const T> right(y, n, step_y);
  return inner_product<T>(
      n, [&](Index k) { return conjugated_if(conjugated, left(k)); }, right);
}

double double_dot(Index n, const float* x, Index step_x, const float* y, Index step_y) {
  if (n <= 0) return 0.0;
  const Arithmetic arithmetic;
  const Strided<const float> left(x, n, step_x);
  const Strided<const float> right(y, n, step_y);
  return inner_product<double>(
      n, [&](Index k) { return static_cast<double>(left(k)); }, [&](Index k) { return static_cast<double>(right(k)); });
}

float started_dot(Index n, float start, const float* x, Index step_x, const float* y, Index step_y) {
  if (n <= 0) return start;
  const Arithmetic arithmetic;
  return inner_product<float>(n, Strided<const float>(x, n, step_x), Strided<const float>(y, n, step_y), &start);
}

template <Scalar T> Real<T> norm(Index n, const T* x, Index step) {
  using R = Real<T>;
  if (n <= 0) return R{0};
  const Arithmetic arithmetic;
  Quiet quiet;
  const Strided<const T> all(x, n, step);
  const Index numbers = n * parts_of<T>;
  R largest{0};
  for (Index k = 0; k < numbers; ++k) {
    const R size = std::abs(part(all, k));
    if (std::isnan(size)) return size;
    largest = std::max(largest, size);
  }
  if (largest == R{0} || std::isinf(largest)) return largest;
  const int exponent = std::ilogb(largest);
  const R sum = sum_of_products<R>(numbers, [&](Index first, Index count, double* a, double* b) {
    for (Index k = 0; k < count; ++k) a[k] = b[k] = static_cast<double>(std::scalbn(part(all, first + k), -exponent));
  });
  R result = std::scalbn(std::sqrt(sum), exponent);
  quiet.settle(result);
  quiet.raise(exceptions_of(result, {}));
  return result;
}

template <Scalar T> Real<T> absolute_sum(Index n, const T* x, Index step) {
  using R = Real<T>;
  if (n <= 0 || step <= 0) return R{0};
  const Arithmetic arithmetic;
  const Strided<const T> all(x, n, step);
  Quiet quiet;
  R sum = sum_of_products<R>(n * parts_of<T>, [&](Index first, Index count, double* a, double* b) {
    for (Index k = 0; k < count; ++k) {
      a[k] = static_cast<double>(std::abs(part(all, first + k)));
      b[k] = 1.0;
    }
  });
  quiet.settle(sum);
  if (!std::isfinite(sum))
    quiet.raise(exceptions_of_sum<T>(
        T(sum), n, all, [](Index) { return T{1}; }, nullptr));
  return sum;
}

template <Scalar T> void axpy(Index n, T alpha, const T* x, Index step_x, T* y, Index step_y) {
  if (n <= 0 || alpha == T{0}) return;
  const Arithmetic arithmetic;
  const Strided<const T> from(x, n, step_x);
  const Strided<T> to(y, n, step_y);
  if (step_x == 1 && step_y == 1) {
    for (Index k = 0; k < n; ++k) y[k] = multiply_add(alpha, x[k], y[k]);
  } else {
    for (Index k = 0; k < n; ++k) to(k) = multiply_add(alpha, from(k), to(k));
  }
}

template <Scalar T, class Factor> void scal(Index n, Factor alpha, T* x, Index step) {
  if (n <= 0 || step <= 0) return;
  const Arithmetic arithmetic;
  for (Index k = 0; k < n; ++k) {
    T& value = x[k * step];
    if constexpr (is_complex<T> && !is_complex<Factor>) {
      value = T(alpha * value.real(), alpha * value.imag());
    } else if constexpr (is_complex<T>) {
      value = multiply_add(alpha, value, T{0});
    } else {
      value = alpha * value;
    }
  }
}

template <Scalar T>
void gemv(Taken taken, Index m, Index n, T alpha, const T* A, Index leading, const T* x, Index step_x, T beta, T* y,
          Index step_y) {
  const Index rows = taken.transposed ? n : m;
  const Index columns = taken.transposed ? m : n;
  if (m == 0 || n == 0 || (alpha == T{0} && beta == T{1})) return;
  const Arithmetic arithmetic;
  const Strided<const T> in(x, columns, step_x);
  const Strided<T> out(y, rows, step_y);
  if (alpha == T{0}) {
    scale(rows, beta, out);
    return;
  }
  if (!taken.transposed && !taken.conjugated) {
    multiply_by_rows(rows, columns, alpha, A, leading, in, beta, out);
    return;
  }
  if (taken.transposed && has_placed_sums()) {
    multiply_by_columns(taken.conjugated, rows, columns, alpha, A, leading, in, beta, out);
    return;
  }
  in_parts(rows, threads_for(rows * columns), [&](Index begin, Index end) {
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

template <Scalar T>
void ger(bool conjugated_x, bool conjugated_y, Index m, Index n, T alpha, const T* x, Index step_x, const T* y,
         Index step_y, T* A, Index leading) {
  if (m == 0 || n == 0 || alpha == T{0}) return;
  const Arithmetic arithmetic;
  const Strided<const T> left(x, m, step_x);
  const Strided<const T> right(y, n, step_y);
  for (Index j = 0; j < n; ++j) {
    if (right(j) == T{0}) continue;
    const Factor<T> factor(alpha, conjugated_if(conjugated_y, right(j)));
    T* const column = A + j * leading;
    for (Index i = 0; i < m; ++i) column[i] = factor.add_product(conjugated_if(conjugated_x, left(i)), column[i]);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template T dot<T>(bool, Index, const T*, Index, const T*, Index);                              \
  template Real<T> norm<T>(Index, const T*, Index);                                              \
  template Real<T> absolute_sum<T>(Index, const T*, Index);                                      \
  template void axpy<T>(Index, T, const T*, Index, T*, Index);                                   \
  template void scal<T, T>(Index, T, T*, Index);                                                 \
  template void gemv<T>(Taken, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index); \
  template void ger<T>(bool, bool, Index, Index, T, const T*, Index, const T*, Index, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
template void scal<Kokkos::complex<float>, float>(Index, float, Kokkos::complex<float>*, Index);
template void scal<Kokkos::complex<double>, double>(Index, double, Kokkos::complex<double>*, Index);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

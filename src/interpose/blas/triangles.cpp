// BLAS 2 of symmetric, triangular and banded matrices.
#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/blas/vector_parts.hpp"

#include <vector>

namespace heddle::impl::interpose {
namespace {

// Rows of a column that are stored.
template <class Stored> Around rows_of(const Stored& stored, Index j, Index n) {
  Around rows(j, n, stored.reach());
  if (stored.lower) {
    rows.begin = j;
  } else {
    rows.end = j + 1;
  }
  return rows;
}
// Indices k of op(A)(i, k) other than zero, the diagonal's included.
template <class Stored> Around columns_of(const Stored& stored, const Taken& taken, Index i, Index n) {
  Around columns(i, n, stored.reach());
  if (stored.lower != taken.transposed) {
    columns.end = i + 1;
  } else {
    columns.begin = i;
  }
  return columns;
}
template <Scalar T, class Stored> T element(const Stored& stored, const Taken& taken, const T* A, Index i, Index k) {
  return conjugated_if(taken.conjugated, A[taken.transposed ? stored.at(k, i) : stored.at(i, k)]);
}

}  // namespace

template <Scalar T>
void gbmv(Taken taken, Index m, Index n, Index lower, Index upper, T alpha, const T* A, Index leading, const T* x,
          Index step_x, T beta, T* y, Index step_y) {
  const Index rows = taken.transposed ? n : m;
  const Index columns = taken.transposed ? m : n;
  if (is_scaled(rows, columns, alpha, beta, y, step_y)) return;
  const Arithmetic arithmetic;
  const Strided<const T> in(x, columns, step_x);
  const Strided<T> out(y, rows, step_y);
  const Index below = taken.transposed ? upper : lower;
  const Index above = taken.transposed ? lower : upper;
  for (Index i = 0; i < rows; ++i) {
    const Index begin = std::max<Index>(0, i - below);
    const Index end = std::min(columns, i + above + 1);
    const auto row = [&](Index step) {
      const Index k = begin + step;
      const Index at = taken.transposed ? upper + k - i + i * leading : upper + i - k + k * leading;
      return conjugated_if(taken.conjugated, A[at]);
    };
    multiply_and_finish<T>(
        alpha, std::max<Index>(0, end - begin), row, [&](Index step) { return in(begin + step); }, beta, out(i));
  }
}

template <Scalar T, class Stored>
void symv(const Stored& stored, bool hermitian, bool conjugated, Index n, T alpha, const T* A, const T* x, Index step_x,
          T beta, T* y, Index step_y) {
  if (is_scaled(n, n, alpha, beta, y, step_y)) return;
  const Arithmetic arithmetic;
  const Strided<const T> in(x, n, step_x);
  const Strided<T> out(y, n, step_y);
  for (Index i = 0; i < n; ++i) {
    const Around all(i, n, stored.reach());
    const auto row = [&](Index step) {
      const Index k = all.begin + step;
      const bool as_it_is = stored.lower ? i >= k : i <= k;
      const T a = A[as_it_is ? stored.at(i, k) : stored.at(k, i)];
      if (!hermitian) return a;
      return i == k ? real_part(a) : conjugated_if(as_it_is == conjugated, a);
    };
    multiply_and_finish<T>(
        alpha, all.end - all.begin, row, [&](Index step) { return in(all.begin + step); }, beta, out(i));
  }
}

template <Scalar T, class Stored>
void syr(const Stored& stored, bool hermitian, bool conjugated, Index n, T alpha, const T* x, Index step, T* A) {
  if (n == 0 || alpha == T{0}) return;
  const Arithmetic arithmetic;
  const Strided<const T> all(x, n, step);
  const Real<T> largest = largest_part_of(n, all);
  for (Index j = 0; j < n; ++j) {
    const T own = conjugated_if(conjugated, all(j));
    const Factor<T> factor = Factor<T>(alpha, conjugated_if(hermitian, own)).for_up_to(largest);
    const Around rows = rows_of(stored, j, n);
    T* const column = A + stored.at(0, j);
    if (own != T{0}) {
      for (Index i = rows.begin; i < rows.end; ++i) {
        const T before = hermitian && i == j ? real_part(column[i]) : column[i];
        column[i] = factor.add_product(conjugated_if(conjugated, all(i)), before);
      }
    }
    if (hermitian) column[j] = real_part(column[j]);
  }
}

template <Scalar T, class Stored>
void syr2(const Stored& stored, bool hermitian, bool conjugated, Index n, T alpha, const T* x, Index step_x, const T* y,
          Index step_y, T* A) {
  if (n == 0 || alpha == T{0}) return;
  const Arithmetic arithmetic;
  const Strided<const T> left(x, n, step_x);
  const Strided<const T> right(y, n, step_y);
  const Real<T> largest_x = largest_part_of(n, left);
  const Real<T> largest_y = largest_part_of(n, right);
  for (Index j = 0; j < n; ++j) {
    const T own_x = conjugated_if(conjugated, left(j));
    const T own_y = conjugated_if(conjugated, right(j));
    const Factor<T> of_x = Factor<T>(alpha, conjugated_if(hermitian, own_y)).for_up_to(largest_x);
    const Factor<T> own = Factor<T>(alpha, own_x).for_up_to(largest_y);
    const Factor<T> of_y = hermitian ? own.conjugated() : own;
    const Around rows = rows_of(stored, j, n);
    T* const column = A + stored.at(0, j);
    if (own_x != T{0} || own_y != T{0}) {
      for (Index i = rows.begin; i < rows.end; ++i) {
        const T before = hermitian && i == j ? real_part(column[i]) : column[i];
        const T first = of_y.add_product(conjugated_if(conjugated, right(i)), before);
        column[i] = of_x.add_product(conjugated_if(conjugated, left(i)), first);
      }
    }
    if (hermitian) column[j] = real_part(column[j]);
  }
}

template <Scalar T, class Stored>
void trmv(const Stored& stored, Taken taken, bool unit, Index n, const T* A, T* x, Index step) {
  if (n == 0) return;
  const Arithmetic arithmetic;
  const Strided<T> all(x, n, step);
  std::vector<T> copy(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) copy[static_cast<std::size_t>(k)] = all(k);
  for (Index i = 0; i < n; ++i) {
    const Around row = columns_of(stored, taken, i, n);
    all(i) = inner_product<T>(
        row.end - row.begin,
        [&](Index k) { return unit && row.begin + k == i ? T{1} : element(stored, taken, A, i, row.begin + k); },
        [&](Index k) { return copy[static_cast<std::size_t>(row.begin + k)]; });
  }
}

template <Scalar T, class Stored>
void trsv(const Stored& stored, Taken taken, bool unit, Index n, const T* A, T* x, Index step) {
  if (n == 0) return;
  const Arithmetic arithmetic;
  const Strided<T> all(x, n, step);
  const bool forward = stored.lower != taken.transposed;
  for (Index number = 0; number < n; ++number) {
    const Index i = forward ? number : n - 1 - number;
    Around row = columns_of(stored, taken, i, n);
    // Without its own.
    row.begin += forward ? 0 : 1;
    row.end -= forward ? 1 : 0;
    T value = all(i);
    if (row.end > row.begin) {
      const T start = value;
      value = inner_product<T>(
          row.end - row.begin, [&](Index k) { return element(stored, taken, A, i, row.begin + k); },
          [&](Index k) { return all(row.begin + k); }, &start, true);
    }
    all(i) = unit ? value : divided(value, element(stored, taken, A, i, i));
  }
}

#define HEDDLE_INSTANTIATE_STORED(T, S)                                                              \
  template void symv<T, S>(const S&, bool, bool, Index, T, const T*, const T*, Index, T, T*, Index); \
  template void trmv<T, S>(const S&, Taken, bool, Index, const T*, T*, Index);                       \
  template void trsv<T, S>(const S&, Taken, bool, Index, const T*, T*, Index)
#define HEDDLE_INSTANTIATE_UPDATED(T, S)                                        \
  template void syr<T, S>(const S&, bool, bool, Index, T, const T*, Index, T*); \
  template void syr2<T, S>(const S&, bool, bool, Index, T, const T*, Index, const T*, Index, T*)
#define HEDDLE_INSTANTIATE(T)            \
  HEDDLE_INSTANTIATE_STORED(T, Dense);   \
  HEDDLE_INSTANTIATE_STORED(T, Banded);  \
  HEDDLE_INSTANTIATE_STORED(T, Packed);  \
  HEDDLE_INSTANTIATE_UPDATED(T, Dense);  \
  HEDDLE_INSTANTIATE_UPDATED(T, Packed); \
  template void gbmv<T>(Taken, Index, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_STORED
#undef HEDDLE_INSTANTIATE_UPDATED

}  // namespace heddle::impl::interpose

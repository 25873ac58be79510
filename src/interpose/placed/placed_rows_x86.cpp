// Placed sums of rows by the vectors of x86-64.
#include "interpose/blas/off_stack.hpp"
#include "interpose/placed/placed_x86.hpp"

#ifdef HEDDLE_FMA
namespace heddle::impl::interpose {
namespace {

constexpr Index piece = 64;  // Columns of rows that are added at one place.

// Rows of some columns, `step` side by side, and the largest of each.
struct PackedVector {
  alignas(32) double numbers[RowSums::rows / step][piece][step];
  alignas(32) double largest[RowSums::rows];
};
template <int many, class T>
HEDDLE_FMA void pack(const T* A, Index leading, Index column, Index rows, PackedVector& packed) {
  for (Index r = 0; r < rows; r += 4) {
    __m256d most = _mm256_load_pd(packed.largest + r);
#pragma GCC unroll 4
    for (int q = 0; q < many; ++q) {
      const __m256d a = load_four(A + (column + q) * leading + r);
      most = _mm256_max_pd(most, magnitude_of(a));
      _mm256_store_pd(&packed.numbers[r / step][column + q][r % step], a);
    }
    _mm256_store_pd(packed.largest + r, most);
  }
}

// Up to `piece` columns of rows, of which there are a multiple of `step`.
template <class T>
[[gnu::noinline]] HEDDLE_FMA void add_piece(const T* A, Index leading, Index rows, Index count, const double* x,
                                            RowSums& sums) {
  const OffStack<PackedVector> work;
  PackedVector& packed = *work;
  double most_x = 0.0;
  for (Index k = 0; k < count; ++k) most_x = std::max(most_x, std::abs(x[k]));
  for (Index r = 0; r < rows; r += 4) _mm256_store_pd(packed.largest + r, _mm256_setzero_pd());
  Index column = 0;
  for (; column + 4 <= count; column += 4) pack<4>(A, leading, column, rows, packed);
  for (; column < count; ++column) pack<1>(A, leading, column, rows, packed);
  const auto terms = static_cast<double>(count);
  const __m256d reach = _mm256_set1_pd(terms * most_x * (1.0 + 0x1p-30));
  const __m256d error = _mm256_set1_pd(0.7 * 0x1p-106 * terms * (terms + 1.0) * 0x1p46);
  for (Index r = 0; r < rows; r += step) {
    __m256d place[abreast];
    __m256d high[abreast];
    __m256d low[abreast];
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l) {
      place[l] = place_for(_mm256_mul_pd(_mm256_load_pd(packed.largest + r + 4 * l), reach), 2);
      high[l] = place[l];
      low[l] = _mm256_setzero_pd();
    }
    for (Index k = 0; k < count; ++k) {
      const __m256d y = _mm256_broadcast_sd(x + k);
#pragma GCC unroll 4
      for (int l = 0; l < abreast; ++l) {
        const __m256d a = _mm256_load_pd(&packed.numbers[r / step][k][4 * l]);
        const __m256d sum = _mm256_fmadd_pd(a, y, high[l]);
        const __m256d added = _mm256_sub_pd(sum, high[l]);
        low[l] = _mm256_add_pd(low[l], _mm256_fmsub_pd(a, y, added));
        high[l] = sum;
      }
    }
#pragma GCC unroll 4
    for (int l = 0; l < abreast; ++l) {
      merge(_mm256_sub_pd(high[l], place[l]), low[l], _mm256_mul_pd(place[l], error), r + 4 * l, sums);
    }
  }
}

// The same at places that the first columns let expect; false, and nothing done, where sums leave them.
template <int many, class T>
HEDDLE_FMA void add_group(const T* A, Index leading, Index rows, const double* x, const double* place, double* high,
                          double* low, __m256d& changed) {
  constexpr std::uintptr_t bytes = sizeof(T);
  for (Index r = 0; r < rows; r += step) {
    if (many == 4) {
      // The next columns.
      for (Index q = 4; q < 8; ++q) {
        const auto next = reinterpret_cast<std::uintptr_t>(A) + bytes * (q * leading + r);
        _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(next + 64), _MM_HINT_T0);
      }
    }
    __m256d h[abreast];
    __m256d l[abreast];
#pragma GCC unroll 4
    for (int v = 0; v < abreast; ++v) {
      h[v] = _mm256_load_pd(high + r + 4 * v);
      l[v] = _mm256_load_pd(low + r + 4 * v);
    }
#pragma GCC unroll 4
    for (int q = 0; q < many; ++q) {
      const __m256d y = _mm256_broadcast_sd(x + q);
#pragma GCC unroll 4
      for (int v = 0; v < abreast; ++v) {
        const __m256d a = load_four(A + q * leading + r + 4 * v);
        const __m256d sum = _mm256_fmadd_pd(a, y, h[v]);
        const __m256d added = _mm256_sub_pd(sum, h[v]);
        l[v] = _mm256_add_pd(l[v], _mm256_fmsub_pd(a, y, added));
        h[v] = sum;
        changed = _mm256_or_pd(changed, _mm256_xor_pd(sum, _mm256_load_pd(place + r + 4 * v)));
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < abreast; ++v) {
      _mm256_store_pd(high + r + 4 * v, h[v]);
      _mm256_store_pd(low + r + 4 * v, l[v]);
    }
  }
}
struct Expected {
  alignas(32) double place[RowSums::rows];
  alignas(32) double high[RowSums::rows];
  alignas(32) double low[RowSums::rows];
};
template <class T>
[[gnu::noinline]] HEDDLE_FMA bool add_where_expected(const T* A, Index leading, Index rows, Index count,
                                                     const double* x, RowSums& sums) {
  const OffStack<Expected> work;
  double* const place = work->place;
  double* const high = work->high;
  double* const low = work->low;
  const auto terms = static_cast<double>(count);
  const __m256d reach = _mm256_set1_pd(terms * largest(x, count));
  const Index seen = std::min<Index>(count, 4);
  for (Index r = 0; r < rows; r += 4) {
    __m256d most = _mm256_setzero_pd();
    for (Index q = 0; q < seen; ++q) most = _mm256_max_pd(most, magnitude_of(load_four(A + q * leading + r)));
    const __m256d at = place_for(_mm256_mul_pd(most, reach), 3);
    _mm256_store_pd(place + r, at);
    _mm256_store_pd(high + r, at);
    _mm256_store_pd(low + r, _mm256_setzero_pd());
  }
  __m256d changed = _mm256_setzero_pd();
  Index k = 0;
  for (; k + 4 <= count; k += 4) add_group<4>(A + k * leading, leading, rows, x + k, place, high, low, changed);
  for (; k < count; ++k) add_group<1>(A + k * leading, leading, rows, x + k, place, high, low, changed);
  if (!stayed(changed)) return false;
  const __m256d error = _mm256_set1_pd(0.7 * 0x1p-106 * terms * (terms + 1.0) * 0x1p46);
  for (Index r = 0; r < rows; r += 4) {
    const __m256d at = _mm256_load_pd(place + r);
    merge(_mm256_sub_pd(_mm256_load_pd(high + r), at), _mm256_load_pd(low + r), _mm256_mul_pd(at, error), r, sums);
  }
  return true;
}

template <class T> void add_some(const T* A, Index leading, Index rows, Index count, const double* x, RowSums& sums) {
  if (!add_where_expected(A, leading, rows, count, x, sums)) add_piece(A, leading, rows, count, x, sums);
}

template <class T> void add_all_rows(const T* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  const Index whole = rows / step * step;
  struct Others {
    T copy[piece * step];
    RowSums sums;
  };
  const OffStack<Others> work;
  T* const copy = work->copy;
  RowSums& others = work->sums;
  others.clear(rows - whole);
  for (Index k = 0; k < n; k += piece) {
    const Index count = std::min(piece, n - k);
    const T* const columns = A + k * leading;
    if (whole > 0) add_some(columns, leading, whole, count, x + k, sums);
    if (whole == rows) continue;
    for (Index q = 0; q < count; ++q) {
      T* const end = std::copy_n(columns + whole + q * leading, rows - whole, copy + q * step);
      std::fill(end, copy + (q + 1) * step, T{0});
    }
    add_some(copy, step, step, count, x + k, others);
  }
  for (Index r = whole; r < rows; ++r) {
    sums.sum[r] = others.sum[r - whole];
    sums.lost[r] = others.lost[r - whole];
    sums.size[r] = others.size[r - whole];
  }
  sums.terms = (n + piece - 1) / piece;
}

}  // namespace

void add_rows(const double* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  add_all_rows(A, leading, rows, n, x, sums);
}
void add_rows(const float* A, Index leading, Index rows, Index n, const double* x, RowSums& sums) {
  add_all_rows(A, leading, rows, n, x, sums);
}

HEDDLE_FMA void round_rows(const RowSums& sums, Index rows, double absolute, bool narrow, double* result, bool* known) {
  const __m256d each = _mm256_set1_pd(0x1p-52 * (static_cast<double>(2 * sums.terms) + 64.0));
  for (Index r = 0; r < rows; r += 4) {
    const __m256d off = _mm256_fmadd_pd(each, _mm256_load_pd(sums.size + r), _mm256_set1_pd(absolute));
    __m256d decided;
    const __m256d value =
        nearest_of(between(_mm256_load_pd(sums.sum + r), _mm256_load_pd(sums.lost + r), off, narrow), narrow, decided);
    const int all = _mm256_movemask_pd(decided);
    _mm256_storeu_pd(result + r, value);
    for (Index l = 0; l < 4; ++l) known[r + l] = (all >> l & 1) != 0;
  }
}

}  // namespace heddle::impl::interpose

#else

namespace heddle::impl::interpose {

void add_rows(const double*, Index, Index, Index, const double*, RowSums&) {}
void add_rows(const float*, Index, Index, Index, const double*, RowSums&) {}
void round_rows(const RowSums&, Index, double, bool, double*, bool*) {}

}  // namespace heddle::impl::interpose
#endif

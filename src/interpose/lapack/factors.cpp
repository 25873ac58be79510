// LU and Cholesky factorizations of LAPACK, and the solution of systems with them.
#include "interpose/lapack/factors.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/level3.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/eigen/scaling.hpp"
#include "interpose/lapack/reduced.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::impl::interpose {
namespace {

constexpr Index block = 64;

template <Scalar T> void swap_rows(T* A, Index leading, Index columns, Index one, Index other) {
  if (one == other) return;
  for (Index j = 0; j < columns; ++j) std::swap(A[one + j * leading], A[other + j * leading]);
}
// The swaps of rows first + i and pivots[i] in some columns, column by column.
template <Scalar T, class Pivots>
[[gnu::noinline]] void move_rows(T* A, Index leading, Index columns, Index first, Index count, const Pivots& pivot) {
  constexpr Index worth = 50000;
  const Index threads = std::min<Index>(usual_threads(), columns * count / worth + 1);
  in_parts(columns, static_cast<int>(threads), [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      T* const column = A + j * leading;
      for (Index i = 0; i < count; ++i) std::swap(column[first + i], column[pivot(i)]);
    }
  });
}
// a_ij less what the first `count` columns and rows of the panel have given it.
template <Scalar T> T reduced(const T* A, Index leading, Index i, Index j, Index count) {
  const T start = A[i + j * leading];
  if (count == 0) return start;
  return inner_product<T>(
      count, [&](Index k) { return A[i + k * leading]; }, [&](Index k) { return A[k + j * leading]; }, &start, true);
}

// A panel whose rows' and columns' sums advance side by side.
template <RealScalar T> class Panel {
 public:
  Panel(Index rows, Index columns, T* A, Index leading)
      : rows_(rows),
        columns_(columns),
        A_(A),
        leading_(leading),
        factors_(block),
        lower_(rows, columns),
        upper_(columns, columns) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) lower_.at(i, j) = static_cast<double>(A[i + j * leading]);
    }
  }

  // Pivots count from 0. Returns the first zero pivot's number, or 0.
  Index factor(std::vector<Index>& pivots) {
    Index zero = 0;
    for (Index j = 0; j < columns_; ++j) {
      const Index pivot_row = reduce_column(j);
      pivots.push_back(pivot_row);
      lower_.swap_rows(j, pivot_row);
      const double pivot = lower_.at(j, j);
      reduce_row(j);
      if (pivot == 0.0 && zero == 0) zero = j + 1;
      for (Index i = j + 1; i < rows_; ++i) {
        double& value = lower_.at(i, j);
        if (pivot != 0.0) value = static_cast<double>(static_cast<T>(value) / static_cast<T>(pivot));
        lower_.count_in(i, value);
      }
    }
    for (Index j = 0; j < columns_; ++j) {
      for (Index i = 0; i < rows_; ++i) A_[i + j * leading_] = static_cast<T>(lower_.at(i, j));
    }
    return zero;
  }

 private:
  static constexpr Index lanes = LaneColumns::lanes;

  // Reduce column j from row j on, and return the row of its largest element.
  [[gnu::noinline]] Index reduce_column(Index j) {
    double* const factors = factors_.data();
    double largest_factor = 0.0;
    for (Index k = 0; k < j; ++k) {
      factors[k] = upper_.at(j, k);
      largest_factor = std::max(largest_factor, std::abs(factors[k]));
    }
    for (Index b = j / lanes; b < LaneColumns::blocks_of(rows_); ++b) {
      const Index first = b * lanes;
      double result[lanes];
      double* const own = lower_.block(b, j);
      reduce_abreast<T>({lower_.block(b, 0), lanes, factors, j, own, &lower_.largest(first), largest_factor, false},
                        std::min(lanes, rows_ - first), result);
      for (Index l = std::max<Index>(0, j - first); l < std::min(lanes, rows_ - first); ++l) own[l] = result[l];
    }
    Index largest = j;
    for (Index i = j; i < rows_; ++i) {
      if (std::abs(lower_.at(i, j)) > std::abs(lower_.at(largest, j))) largest = i;
    }
    return largest;
  }
  // Row j of U, where the panel has it too; row j of `upper_` are columns.
  [[gnu::noinline]] void reduce_row(Index j) {
    double* const factors = factors_.data();
    for (Index k = 0; k < j; ++k) factors[k] = lower_.at(j, k);
    const double largest_factor = lower_.largest(j);
    for (Index b = (j + 1) / lanes; b < LaneColumns::blocks_of(columns_); ++b) {
      const Index first = b * lanes;
      const Index wanted = std::min(lanes, columns_ - first);
      double start[lanes] = {};
      double result[lanes];
      for (Index l = 0; l < wanted; ++l) start[l] = lower_.at(j, first + l);
      reduce_abreast<T>({upper_.block(b, 0), lanes, factors, j, start, &upper_.largest(first), largest_factor, false},
                        wanted, result);
      for (Index l = std::max<Index>(0, j + 1 - first); l < wanted; ++l) {
        lower_.at(j, first + l) = upper_.at(first + l, j) = result[l];
        upper_.count_in(first + l, result[l]);
      }
    }
  }

  Index rows_;
  Index columns_;
  T* A_;
  Index leading_;
  std::vector<double> factors_;  // Of a row or column.
  LaneColumns lower_;
  LaneColumns upper_;  // Columns of U as rows.
};

// L and U of a panel; pivots count from 0 within it. Returns the first zero pivot's number, or 0.
template <Scalar T>
[[gnu::noinline]] Index factor_panel(Index rows, Index columns, T* A, Index leading, std::vector<Index>& pivots) {
  if constexpr (!is_complex<T>) {
    return Panel<T>(rows, columns, A, leading).factor(pivots);
  }
  Index zero = 0;
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 1; i < std::min(j, rows); ++i) A[i + j * leading] = reduced(A, leading, i, j, i);
    if (j >= rows) continue;
    Index largest = j;
    for (Index i = j; i < rows; ++i) {
      T& a = A[i + j * leading];
      a = reduced(A, leading, i, j, j);
      if (size_of(a) > size_of(A[largest + j * leading])) largest = i;
    }
    pivots.push_back(largest);
    swap_rows(A, leading, columns, j, largest);
    const T pivot = A[j + j * leading];
    if (pivot == T{0}) {
      zero = zero == 0 ? j + 1 : zero;
      continue;
    }
    for (Index i = j + 1; i < rows; ++i) A[i + j * leading] = divided(A[i + j * leading], pivot);
  }
  return zero;
}

// Applies the first `half` columns, which are factored, to the `rest` on their right.
template <Scalar T>
[[gnu::noinline]] void update_right(Index rows, Index half, Index rest, T* A, Index leading,
                                    const std::vector<Index>& pivots) {
  T* const right = A + half * leading;
  move_rows(right, leading, rest, 0, half, [&](Index i) { return pivots[static_cast<std::size_t>(i)]; });
  trsm<T>('L', 'L', 'N', 'U', half, rest, T{1}, A, leading, right, leading);
  multiply<T>({Operation::none, Operation::none, rows - half, rest, half, T{-1}, A + half, leading, right, leading,
               T{1}, right + half, leading});
}
// Applies the row swaps of the `rest` to the `half` columns on their left, and appends them to `pivots`.
template <Scalar T>
[[gnu::noinline]] void update_left(Index half, Index rest, T* A, Index leading, const std::vector<Index>& of_rest,
                                   std::vector<Index>& pivots) {
  move_rows(A, leading, half, half, rest, [&](Index i) { return half + of_rest[static_cast<std::size_t>(i)]; });
  for (const Index other : of_rest) pivots.push_back(half + other);
}

// The same of any number of columns, at most as many as rows: half of them after the other. The frame is small: there
// is one for each halving.
template <Scalar T>
[[gnu::noinline]] Index factor_columns(Index rows, Index columns, T* A, Index leading, std::vector<Index>& pivots) {
  if (columns <= block) return factor_panel(rows, columns, A, leading, pivots);
  const Index half = (columns / block + 1) / 2 * block;
  const Index rest = columns - half;
  const Index zero = factor_columns(rows, half, A, leading, pivots);
  update_right(rows, half, rest, A, leading, pivots);
  std::vector<Index> of_rest;
  const Index later = factor_columns(rows - half, rest, A + half + half * leading, leading, of_rest);
  update_left(half, rest, A, leading, of_rest, pivots);
  return zero == 0 && later != 0 ? half + later : zero;
}

// L of a small block of a positive definite matrix; of its upper triangle U = L^H.
template <Scalar T> [[gnu::noinline]] Index factor_block(bool lower, Index n, T* A, Index leading) {
  using R = Real<T>;
  const auto get = [&](Index i, Index k) { return lower ? A[i + k * leading] : conjugate(A[k + i * leading]); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      T value = i == j ? T(real_of<R>(get(i, j))) : get(i, j);
      if (j > 0) {
        const T start = value;
        value = inner_product<T>(
            j, [&](Index k) { return get(i, k); }, [&](Index k) { return conjugate(get(j, k)); }, &start, true);
      }
      if (i == j) {
        const R square = real_of<R>(value);
        if (!(square > R{0})) return j + 1;
        value = T(std::sqrt(square));
      } else {
        const R pivot = real_of<R>(get(j, j));
        if constexpr (is_complex<T>) {
          value = T(value.real() / pivot, value.imag() / pivot);
        } else {
          value = value / pivot;
        }
      }
      if (lower) {
        A[i + j * leading] = value;
      } else {
        A[j + i * leading] = conjugate(value);
      }
    }
  }
  return 0;
}

template <Scalar T> std::vector<T> identity(Index n) {
  std::vector<T> all(static_cast<std::size_t>(n * n), T{0});
  for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i + i * n)] = T{1};
  return all;
}
template <Scalar T> Index first_zero(Index n, const T* A, Index leading) {
  for (Index i = 0; i < n; ++i) {
    if (A[i + i * leading] == T{0}) return i + 1;
  }
  return 0;
}

}  // namespace

template <Scalar T, class I> Index getrf(Index m, Index n, T* A, Index leading, I* pivots) {
  const Arithmetic arithmetic;
  const Index order = std::min(m, n);
  std::vector<Index> found;
  const Index zero = order > 0 ? factor_columns(m, order, A, leading, found) : 0;
  T* const others = A + order * leading;
  move_rows(others, leading, n - order, 0, order, [&](Index i) { return found[static_cast<std::size_t>(i)]; });
  for (Index i = 0; i < order; ++i) pivots[i] = static_cast<I>(found[static_cast<std::size_t>(i)] + 1);
  trsm<T>('L', 'L', 'N', 'U', order, n - order, T{1}, A, leading, others, leading);
  return zero;
}

template <Scalar T, class I>
void getrs(char op, Index n, Index columns, const T* A, Index leading, const I* pivots, T* B, Index leading_b) {
  if (op == 'N') {
    move_rows(B, leading_b, columns, 0, n, [&](Index i) { return static_cast<Index>(pivots[i]) - 1; });
    trsm<T>('L', 'L', 'N', 'U', n, columns, T{1}, A, leading, B, leading_b);
    trsm<T>('L', 'U', 'N', 'N', n, columns, T{1}, A, leading, B, leading_b);
  } else {
    trsm<T>('L', 'U', op, 'N', n, columns, T{1}, A, leading, B, leading_b);
    trsm<T>('L', 'L', op, 'U', n, columns, T{1}, A, leading, B, leading_b);
    for (Index i = n; i-- > 0;) swap_rows(B, leading_b, columns, i, static_cast<Index>(pivots[i]) - 1);
  }
}

template <Scalar T, class I> Index getri(Index n, T* A, Index leading, const I* pivots) {
  if (const Index zero = first_zero(n, A, leading); zero != 0) return zero;
  std::vector<T> inverse = identity<T>(n);
  getrs('N', n, n, A, leading, pivots, inverse.data(), std::max<Index>(1, n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) A[i + j * leading] = inverse[static_cast<std::size_t>(i + j * n)];
  }
  return 0;
}

template <Scalar T> Index potrf(bool lower, Index n, T* A, Index leading) {
  const Arithmetic arithmetic;
  const char triangle = lower ? 'L' : 'U';
  for (Index begin = 0; begin < n; begin += block) {
    const Index width = std::min(block, n - begin);
    const Index rest = begin + width;
    T* const diagonal = A + begin + begin * leading;
    if (const Index minor = factor_block(lower, width, diagonal, leading); minor != 0) return begin + minor;
    T* const others = lower ? A + rest + begin * leading : A + begin + rest * leading;
    T* const remaining = A + rest + rest * leading;
    if (lower) {
      trsm<T>('R', 'L', 'C', 'N', n - rest, width, T{1}, diagonal, leading, others, leading);
    } else {
      trsm<T>('L', 'U', 'C', 'N', width, n - rest, T{1}, diagonal, leading, others, leading);
    }
    syrk<T, is_complex<T>>(triangle, lower ? 'N' : 'C', n - rest, width, T{-1}, others, leading, T{1}, remaining,
                           leading);
  }
  return 0;
}

template <Scalar T> void potrs(bool lower, Index n, Index columns, const T* A, Index leading, T* B, Index leading_b) {
  const char triangle = lower ? 'L' : 'U';
  trsm<T>('L', triangle, lower ? 'N' : 'C', 'N', n, columns, T{1}, A, leading, B, leading_b);
  trsm<T>('L', triangle, lower ? 'C' : 'N', 'N', n, columns, T{1}, A, leading, B, leading_b);
}

template <Scalar T>
Index trtrs(bool lower, char op, bool unit, Index n, Index columns, const T* A, Index leading, T* B, Index leading_b) {
  if (const Index zero = unit ? 0 : first_zero(n, A, leading); zero != 0) return zero;
  trsm<T>('L', lower ? 'L' : 'U', op, unit ? 'U' : 'N', n, columns, T{1}, A, leading, B, leading_b);
  return 0;
}

template <Scalar T> Index trtri(bool lower, bool unit, Index n, T* A, Index leading) {
  if (const Index zero = unit ? 0 : first_zero(n, A, leading); zero != 0) return zero;
  std::vector<T> inverse = identity<T>(n);
  trsm<T>('L', lower ? 'L' : 'U', 'N', unit ? 'U' : 'N', n, n, T{1}, A, leading, inverse.data(), std::max<Index>(1, n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
      if (!unit || i != j) A[i + j * leading] = inverse[static_cast<std::size_t>(i + j * n)];
    }
  }
  return 0;
}

#define HEDDLE_INSTANTIATE_PIVOTS(T, I)                                                \
  template Index getrf<T, I>(Index, Index, T*, Index, I*);                             \
  template void getrs<T, I>(char, Index, Index, const T*, Index, const I*, T*, Index); \
  template Index getri<T, I>(Index, T*, Index, const I*)
#define HEDDLE_INSTANTIATE(T)                                                          \
  HEDDLE_INSTANTIATE_PIVOTS(T, std::int32_t);                                          \
  HEDDLE_INSTANTIATE_PIVOTS(T, std::int64_t);                                          \
  template Index potrf<T>(bool, Index, T*, Index);                                     \
  template void potrs<T>(bool, Index, Index, const T*, Index, T*, Index);              \
  template Index trtrs<T>(bool, char, bool, Index, Index, const T*, Index, T*, Index); \
  template Index trtri<T>(bool, bool, Index, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_PIVOTS

}  // namespace heddle::impl::interpose

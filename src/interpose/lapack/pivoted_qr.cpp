// QR with column pivoting, and least squares by it.
#include "interpose/lapack/pivoted_qr.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/rotations.hpp"
#include "interpose/blas/vectors.hpp"
#include "interpose/eigen/singular.hpp"
#include "interpose/lapack/factors.hpp"
#include "interpose/lapack/ordered_reflectors.hpp"
#include "interpose/lapack/reflectors.hpp"
#include "interpose/lapack/right_sides.hpp"

#include <cstdint>
#include <limits>

namespace heddle::impl::interpose {
namespace {

// Length of a column below the finished rows, and its length when its digits were counted last.
template <RealScalar R> struct Length {
  R now;
  R known;
};

// Columns that are to stay come first, in their order; returns how many.
template <Scalar T, class I> Index bring_to_front(Index m, Index n, T* A, Index leading, I* pivots) {
  Index fixed = 0;
  for (Index j = 0; j < n; ++j) {
    const bool stays = pivots[j] != 0;
    pivots[j] = static_cast<I>(j + 1);
    if (!stays) continue;
    if (j != fixed) {
      swap<T>(m, A + j * leading, 1, A + fixed * leading, 1);
      std::swap(pivots[j], pivots[fixed]);
    }
    ++fixed;
  }
  return fixed;
}

// After step k, whose row has a column's element `done`.
template <Scalar T> void shorten(Length<Real<T>>& length, const T& done, Index below, const T* rest) {
  using R = Real<T>;
  if (length.now == R{0}) return;
  const R part = norm<T>(1, &done, 1) / length.now;
  const R left = std::max(R{0}, (R{1} - part) * (R{1} + part));
  const R since = length.now / length.known;
  if (!(left * (since * since) > std::sqrt(unit_roundoff<R>))) {
    length.now = length.known = norm<T>(below, rest, 1);
  } else {
    length.now = length.now * std::sqrt(left);
  }
}

// How many rows and columns the largest leading triangle has whose smallest singular value is a part of the largest
// that is neither below `relative` nor zero. Each triangle's largest value is at least, and its smallest at most, that
// of the one before: so halves are looked at.
template <Scalar T> Index rank_of(Index order, const std::vector<T>& R, Index leading, Real<T> relative) {
  const auto counts = [&](Index r) {
    std::vector<T> triangle(count(r * r), T{0});
    for (Index j = 0; j < r; ++j) std::copy_n(R.data() + j * leading, j + 1, triangle.data() + j * r);
    std::vector<Real<T>> values;
    std::vector<T> none;
    square_svd<T>(r, triangle, false, false, values, none, none);
    return values.back() > Real<T>{0} && values.back() >= relative * values[0];
  };
  if (order == 0 || counts(order)) return order;
  Index known = 0;
  Index too_many = order;
  while (too_many - known > 1) {
    const Index middle = (known + too_many) / 2;
    (counts(middle) ? known : too_many) = middle;
  }
  return known;
}

template <Scalar T> bool is_finite(Index m, Index n, const T* A, Index leading) {
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      if (!std::isfinite(real_of<Real<T>>(A[i + j * leading])) ||
          !std::isfinite(imaginary_of<Real<T>>(A[i + j * leading]))) {
        return false;
      }
    }
  }
  return true;
}

// b's first n rows become the shortest x of [R11 R12] x = its first `rank` ones; R has n columns. QR is taken of the
// adjoint with its columns in the opposite order: [R11 R12] = [T 0] Q^H with an upper triangle T, which takes R11's
// place.
template <Scalar T> void solve_rows(Index n, Index rank, std::vector<T>& R, Index leading, RightSides<T>& b) {
  if (rank == n) {
    trtrs<T>(false, 'N', false, n, b.columns, R.data(), leading, b.data(), b.height);
    return;
  }
  const Index last = rank - 1;
  std::vector<T> flipped(count(n * rank), T{0});
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= std::min(j, last); ++i)
      flipped[count(j + (last - i) * n)] = conjugate(R[count(i + j * leading)]);
  }
  std::vector<T> tau(count(rank));
  ordered_geqrf<T>(n, rank, flipped.data(), n, tau.data());
  for (Index j = 0; j < rank; ++j) {
    for (Index i = 0; i <= j; ++i) R[count(i + j * leading)] = conjugate(flipped[count(last - j + (last - i) * n)]);
  }
  for (Index j = 0; j < b.columns; ++j) std::reverse(b.data() + j * b.height, b.data() + rank + j * b.height);
  trtrs<T>(false, 'C', false, rank, b.columns, flipped.data(), n, b.data(), b.height);
  for (Index j = 0; j < b.columns; ++j) std::fill_n(b.data() + rank + j * b.height, n - rank, T{0});
  ordered_ormqr<T>(false, n, b.columns, rank, flipped.data(), n, tau.data(), b.data(), b.height);
}

}  // namespace

template <Scalar T, class I> void geqp3(Index m, Index n, T* A, Index leading, I* pivots, T* tau) {
  const Arithmetic arithmetic;
  using R = Real<T>;
  const Index fixed = std::min(bring_to_front(m, n, A, leading, pivots), std::min(m, n));
  std::vector<Length<R>> lengths(count(n));
  for (Index k = 0; k < std::min(m, n); ++k) {
    if (k >= fixed) {
      if (k == fixed) {
        for (Index j = k; j < n; ++j) {
          const R length = norm<T>(m - k, A + k + j * leading, 1);
          lengths[count(j)] = {length, length};
        }
      }
      const auto longest = std::max_element(lengths.begin() + k, lengths.end(),
                                            [](const Length<R>& x, const Length<R>& y) { return x.now < y.now; });
      const Index first = longest - lengths.begin();
      if (first != k) {
        swap<T>(m, A + first * leading, 1, A + k * leading, 1);
        std::swap(pivots[first], pivots[k]);
        lengths[count(first)] = lengths[count(k)];
      }
    }
    T* const own = A + k + k * leading;
    tau[k] = make_reflector(m - k, own[0], own + 1);
    ordered_ormqr<T>(true, m - k, n - k - 1, 1, own, leading, tau + k, own + leading, leading);
    for (Index j = k + 1; k >= fixed && j < n; ++j) {
      const T* const column = A + k + j * leading;
      shorten(lengths[count(j)], column[0], m - k - 1, column + 1);
    }
  }
}

template <Scalar T, class I>
Index solve_by_geqp3(Index m, Index n, Index columns, T* A, Index leading, T* B, Index leading_b, I* pivots,
                     Real<T> relative) {
  const Arithmetic arithmetic;
  const Index order = std::min(m, n);
  const int exponent = exponent_of(m, n, A, leading);
  std::vector<T> QR(count(m * n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) QR[count(i + j * m)] = scaled(A[i + j * leading], -exponent);
  }
  std::vector<T> tau(count(order));
  geqp3<T, I>(m, n, QR.data(), m, pivots, tau.data());
  // NaN must reach x.
  const Index rank = is_finite(m, n, QR.data(), m) ? rank_of(order, QR, m, relative) : order;
  RightSides<T> b(m, std::max(m, n), columns, B, leading_b);
  ordered_ormqr<T>(true, m, columns, order, QR.data(), m, tau.data(), b.data(), b.height);
  if (rank > 0) solve_rows(n, rank, QR, m, b);
  for (Index j = 0; j < columns; ++j) {
    T* const x = b.data() + j * b.height;
    if (rank == 0) std::fill_n(x, n, T{0});
    const std::vector<T> turned(x, x + n);
    for (Index i = 0; i < n; ++i) x[pivots[i] - 1] = turned[count(i)];
  }
  b.put(0, n, -exponent, B, leading_b);
  if (m > n) b.put(n, m, 0, B, leading_b);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T& value = QR[count(i + j * m)];
      A[i + j * leading] = i <= j ? scaled(value, exponent) : value;
    }
  }
  return rank;
}

#define HEDDLE_INSTANTIATE_FOR(T, I)                          \
  template void geqp3<T, I>(Index, Index, T*, Index, I*, T*); \
  template Index solve_by_geqp3<T, I>(Index, Index, Index, T*, Index, T*, Index, I*, Real<T>)
#define HEDDLE_INSTANTIATE(T)              \
  HEDDLE_INSTANTIATE_FOR(T, std::int32_t); \
  HEDDLE_INSTANTIATE_FOR(T, std::int64_t)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle::impl::interpose

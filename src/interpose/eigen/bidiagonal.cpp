// Implicit QR of bidiagonal matrices, for singular values.
#include "interpose/eigen/bidiagonal.hpp"

#include "core/instantiate.hpp"

#include <cmath>
#include <limits>

namespace heddle::impl::interpose {
namespace {

// A block on the diagonal, or, reversed, its transpose with rows and columns in the opposite order, which is upper
// bidiagonal too: what goes down the one goes up the other, and U and V change places.
template <Scalar T> struct BidiagonalBlock {
  using R = Real<T>;
  R* d;
  R* e;
  Rotations<T>& left;
  Rotations<T>& right;
  Index first;
  Index size;
  bool reversed;

  R& diagonal(Index k) const { return d[reversed ? first + size - 1 - k : first + k]; }
  R& above(Index k) const { return e[reversed ? first + size - 2 - k : first + k]; }
  // Columns k and k + 1 of this V and U: (c x + s y, c y - s x).
  void rotate_right(Index k, R c, R s) const { rotate(reversed ? left : right, k, c, s); }
  void rotate_left(Index k, R c, R s) const { rotate(reversed ? right : left, k, c, s); }

 private:
  void rotate(Rotations<T>& columns, Index k, R c, R s) const {
    if (reversed) {
      columns.add(first + size - 2 - k, c, s);
    } else {
      columns.add(first + k, c, -s);
    }
  }
};

// The smaller singular value of [f g; 0 h], by quotients that neither overflow nor lose digits.
template <RealScalar R> R smaller_value(R f, R g, R h) {
  const R least = std::min(std::abs(f), std::abs(h));
  const R most = std::max(std::abs(f), std::abs(h));
  const R beside = std::abs(g);
  if (least == R{0}) return R{0};
  const R sum = R{1} + least / most;
  const R gap = (most - least) / most;
  if (beside < most) {
    const R square = (beside / most) * (beside / most);
    return least * (R{2} / (std::sqrt(sum * sum + square) + std::sqrt(gap * gap + square)));
  }
  const R ratio = most / beside;
  if (ratio == R{0}) return least * most / beside;
  const R a = sum * ratio;
  const R b = gap * ratio;
  return R{2} * (least * (R{1} / (std::sqrt(R{1} + a * a) + std::sqrt(R{1} + b * b))) * ratio);
}

// Two rotations for each row, neither of which subtracts.
template <Scalar T> void step_without_shift(const BidiagonalBlock<T>& block) {
  using R = Real<T>;
  R c{1};
  R c_before{1};
  R s_before{0};
  for (Index k = 0; k + 1 < block.size; ++k) {
    const Direction<R> right(block.above(k), block.diagonal(k) * c);
    c = right.of_y;
    if (k > 0) block.above(k - 1) = s_before * right.r;
    const Direction<R> left(block.diagonal(k + 1) * right.of_x, c_before * right.r);
    c_before = left.of_y;
    s_before = left.of_x;
    block.diagonal(k) = left.r;
    block.rotate_right(k, c, right.of_x);
    block.rotate_left(k, c_before, s_before);
  }
  const R last = block.diagonal(block.size - 1) * c;
  block.diagonal(block.size - 1) = last * c_before;
  block.above(block.size - 2) = last * s_before;
}

template <Scalar T> void step_with_shift(const BidiagonalBlock<T>& block, Real<T> shift) {
  using R = Real<T>;
  const R first = block.diagonal(0);
  R f = (std::abs(first) - shift) * (std::copysign(R{1}, first) + shift / first);
  R g = block.above(0);
  for (Index k = 0; k + 1 < block.size; ++k) {
    const Direction<R> right(g, f);
    if (k > 0) block.above(k - 1) = right.r;
    R own = block.diagonal(k);
    R beside = block.above(k);
    f = right.of_y * own + right.of_x * beside;
    beside = right.of_y * beside - right.of_x * own;
    R next = block.diagonal(k + 1);
    g = right.of_x * next;
    next = right.of_y * next;
    const Direction<R> left(g, f);
    block.diagonal(k) = left.r;
    f = left.of_y * beside + left.of_x * next;
    block.diagonal(k + 1) = left.of_y * next - left.of_x * beside;
    block.above(k) = f;
    if (k + 2 < block.size) {
      g = left.of_x * block.above(k + 1);
      block.above(k + 1) = left.of_y * block.above(k + 1);
    }
    block.rotate_right(k, right.of_y, right.of_x);
    block.rotate_left(k, left.of_y, left.of_x);
  }
}

// One step, or a zero above the diagonal where that is as good as one.
template <Scalar T> void advance(const BidiagonalBlock<T>& block, Index n, Real<T> threshold) {
  using R = Real<T>;
  constexpr R unit = unit_roundoff<R>;
  constexpr R tolerance = R{16} * unit;
  const Index last = block.size - 1;
  R& beside_last = block.above(last - 1);
  if (std::abs(beside_last) <= tolerance * std::abs(block.diagonal(last))) {
    beside_last = R{0};
    return;
  }
  // The smallest singular value is not much below this bound, and the largest not much above.
  R bound = std::abs(block.diagonal(0));
  R least = bound;
  R largest = bound;
  for (Index k = 0; k < last; ++k) {
    const R beside = std::abs(block.above(k));
    largest = std::max({largest, beside, std::abs(block.diagonal(k + 1))});
    if (beside <= tolerance * bound) {
      block.above(k) = R{0};
      return;
    }
    bound = std::abs(block.diagonal(k + 1)) * (bound / (bound + beside));
    least = std::min(least, bound);
  }
  R shift{0};
  if (static_cast<R>(n) * tolerance * (least / largest) > unit) {
    shift = smaller_value(block.diagonal(last - 1), beside_last, block.diagonal(last));
    const R quotient = shift / std::abs(block.diagonal(0));
    if (!(quotient * quotient >= unit)) shift = R{0};
  }
  if (shift == R{0}) {
    step_without_shift(block);
  } else {
    step_with_shift(block, shift);
  }
  if (std::abs(beside_last) <= threshold) beside_last = R{0};
}

}  // namespace

template <Scalar T> Index diagonalise(Index n, Real<T>* d, Real<T>* e, Rotations<T>& left, Rotations<T>& right) {
  using R = Real<T>;
  constexpr Index most_steps = 60;
  const R threshold = static_cast<R>(n) * std::numeric_limits<R>::min() / unit_roundoff<R>;
  Index last = n - 1;
  Index first_before = n;
  Index last_before = -1;
  bool reversed = false;
  for (Index steps = 0; last > 0 && steps < most_steps * n;) {
    if (std::abs(e[last - 1]) <= threshold) {
      e[last - 1] = R{0};
      --last;
      continue;
    }
    Index first = last - 1;
    while (first > 0 && std::abs(e[first - 1]) > threshold) --first;
    if (first > 0) e[first - 1] = R{0};
    // Steps go on as they began, until their block is done.
    if (first > last_before || last < first_before) reversed = std::abs(d[first]) < std::abs(d[last]);
    first_before = first;
    last_before = last;
    advance(BidiagonalBlock<T>{d, e, left, right, first, last - first + 1, reversed}, n, threshold);
    ++steps;
  }
  left.apply();
  right.apply();
  return std::count_if(e, e + std::max<Index>(0, n - 1), [](R x) { return x != R{0}; });
}

#define HEDDLE_INSTANTIATE(T) template Index diagonalise<T>(Index, Real<T>*, Real<T>*, Rotations<T>&, Rotations<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

// Eigenvalues and eigenvectors of symmetric and Hermitian matrices, by tridiagonal QL and QR.
#include "interpose/eigen/spectrum.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/eigen/fixed_order.hpp"
#include "interpose/lapack/reflectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace heddle::impl::interpose {
namespace {

// A whole Hermitian matrix made tridiagonal: d and e, and for the product of reflectors their vectors below the
// diagonal.
template <Scalar T> class Reduction {
 public:
  using R = Real<T>;
  Reduction(Index n, std::vector<T>& A) : n_(n), A_(A), d(count(n)), e(count(n)), tau_(count(n)), p_(count(n)) {
    for (Index k = 0; k < n; ++k) {
      d[count(k)] = real_of<R>(A_[count(k + k * n)]);
      if (k + 1 < n) e[count(k)] = reduce(k);
    }
  }
  // Q of A = Q T Q^H.
  std::vector<T> vectors() const {
    std::vector<T> Q(count(n_ * n_), T{0});
    for (Index i = 0; i < n_; ++i) Q[count(i + i * n_)] = T{1};
    for (Index k = n_ - 1; k-- > 0;) {
      const T tau = tau_[count(k)];
      if (tau == T{0}) continue;
      const T* const v = A_.data() + k + 1 + k * n_;
      const Index size = n_ - k - 1;
      for (Index j = k + 1; j < n_; ++j) {
        T* const column = Q.data() + k + 1 + j * n_;
        const T factor = product(tau, fixed_dot(size, v, column));
        for (Index i = 0; i < size; ++i) column[i] -= product(v[i], factor);
      }
    }
    return Q;
  }

 private:
  // Turns what is below column k's element under the diagonal to zero; returns that element.
  R reduce(Index k) {
    const Index size = n_ - k - 1;
    T* const v = A_.data() + k + 1 + k * n_;
    T beta = v[0];
    const T tau = make_reflector(size, beta, v + 1);
    tau_[count(k)] = tau;
    if (tau == T{0}) return real_of<R>(beta);
    v[0] = T{1};
    // A = A - v w^H - w v^H with p = tau A v and w = p - tau p^H v / 2 v.
    T* const p = p_.data();
    std::fill_n(p, size, T{0});
    for (Index j = 0; j < size; ++j) {
      const T factor = product(tau, v[j]);
      const T* const column = A_.data() + k + 1 + (k + 1 + j) * n_;
      for (Index i = 0; i < size; ++i) p[i] += product(column[i], factor);
    }
    const T half = product(T(R{-0.5}), product(tau, fixed_dot(size, p, v)));
    for (Index i = 0; i < size; ++i) p[i] += product(half, v[i]);
    for (Index j = 0; j < size; ++j) {
      T* const column = A_.data() + k + 1 + (k + 1 + j) * n_;
      const T of_v = conjugate(p[j]);
      const T of_p = conjugate(v[j]);
      for (Index i = 0; i < size; ++i) column[i] -= product(v[i], of_v) + product(p[i], of_p);
    }
    return real_of<R>(beta);
  }

  Index n_;
  std::vector<T>& A_;

 public:
  std::vector<R> d;
  std::vector<R> e;

 private:
  std::vector<T> tau_;
  std::vector<T> p_;
};

// An unreduced block of a tridiagonal matrix or, reversed, the same with rows and columns in the opposite order: QL of
// the one is QR of the other.
template <Scalar T> struct TridiagonalBlock {
  using R = Real<T>;
  R* d;
  R* e;
  Rotations<T>& rotations;
  Index first;
  Index size;
  bool reversed;

  R& diagonal(Index k) const { return d[reversed ? first + size - 1 - k : first + k]; }
  R& beside(Index k) const { return e[reversed ? first + size - 2 - k : first + k]; }
  // Columns k and k + 1 of V: (c x - s y, s x + c y).
  void rotate(Index k, R c, R s) const {
    if (reversed) {
      rotations.add(first + size - 2 - k, c, -s);
    } else {
      rotations.add(first + k, c, s);
    }
  }
};

// Whether e is nothing beside its neighbours on the diagonal, of which one may be far below the other.
template <RealScalar R> bool is_nothing(R e, R d, R next) {
  constexpr R least = std::numeric_limits<R>::min();
  return std::abs(e) <= std::max(least, unit_roundoff<R> * std::sqrt(std::abs(d)) * std::sqrt(std::abs(next)));
}

// One step of QL on [l, m] of a block, with an implicit shift or none.
template <Scalar T> void step(const TridiagonalBlock<T>& block, Index l, Index m, bool shifted_by_l) {
  using R = Real<T>;
  R g = block.diagonal(m);
  if (shifted_by_l) {
    const R half = (block.diagonal(l + 1) - block.diagonal(l)) / (R{2} * block.beside(l));
    g = g - block.diagonal(l) + block.beside(l) / (half + std::copysign(Direction<R>(half, R{1}).r, half));
  }
  R s{1};
  R c{1};
  R p{0};
  for (Index i = m; i-- > l;) {
    const R f = s * block.beside(i);
    const R b = c * block.beside(i);
    const Direction<R> turned(f, g);
    if (i + 1 < m) block.beside(i + 1) = turned.r;
    s = turned.of_x;
    c = turned.of_y;
    g = block.diagonal(i + 1) - p;
    const R shifted = (block.diagonal(i) - g) * s + R{2} * (c * b);
    p = s * shifted;
    block.diagonal(i + 1) = g + p;
    g = c * shifted - b;
    block.rotate(i, c, s);
  }
  block.diagonal(l) -= p;
  block.beside(l) = g;
}

// The eigenvalues of an unreduced block, at most `steps` of which are taken. False where that was not enough. Steps
// without a shift bring small elements to the beginning: needed where large ones stand there, since rotations by shifts
// of their size leave small elements behind them as they are.
template <Scalar T> bool solve_block(const TridiagonalBlock<T>& block, Index& steps) {
  constexpr Index patience = 10;  // Most eigenvalues take two or three steps.
  Index taken = 0;
  for (Index l = 0; l < block.size;) {
    Index m = l;
    while (m + 1 < block.size && !is_nothing(block.beside(m), block.diagonal(m), block.diagonal(m + 1))) ++m;
    if (m + 1 < block.size) block.beside(m) = Real<T>{0};
    if (m == l) {
      ++l;
      taken = 0;
    } else if (steps-- == 0) {
      return false;
    } else {
      step(block, l, m, ++taken <= patience || taken % 2 == 0);
    }
  }
  return true;
}

// d becomes the eigenvalues. Returns how many elements beside the diagonal are not zero yet. Blocks are scaled by
// powers of two so that their largest element is near 1, and begin at the end where the smaller elements are: from
// there on small eigenvalues keep their digits, and the steps converge.
template <Scalar T> Index find_eigenvalues(std::vector<Real<T>>& d, std::vector<Real<T>>& e, Rotations<T>& rotations) {
  using R = Real<T>;
  constexpr Index most_steps = 60;
  const auto n = static_cast<Index>(d.size());
  Index steps = most_steps * n;
  bool found = true;
  const auto scale_by = [&](Index first, Index last, int exponent) {
    if (exponent == 0) return;
    for (Index k = first; k <= last; ++k) d[count(k)] = std::scalbn(d[count(k)], exponent);
    for (Index k = first; k < last; ++k) e[count(k)] = std::scalbn(e[count(k)], exponent);
  };
  for (Index first = 0, last = 0; found && first < n; first = last + 1) {
    R largest = std::abs(d[count(first)]);
    for (last = first; last + 1 < n && e[count(last)] != R{0}; ++last) {
      largest = std::max({largest, std::abs(e[count(last)]), std::abs(d[count(last + 1)])});
    }
    if (first == last) continue;
    const int exponent = std::isfinite(largest) ? std::ilogb(largest) : 0;
    scale_by(first, last, -exponent);
    Index split = first;
    while (split < last && !is_nothing(e[count(split)], d[count(split)], d[count(split + 1)])) ++split;
    if (split < last) {
      // Into blocks with scales of their own.
      e[count(split)] = R{0};
      scale_by(first, last, exponent);
      last = first - 1;
      continue;
    }
    const bool reversed = std::abs(d[count(last)]) < std::abs(d[count(first)]);
    found = solve_block(TridiagonalBlock<T>{d.data(), e.data(), rotations, first, last - first + 1, reversed}, steps);
    scale_by(first, last, exponent);
  }
  rotations.apply();
  return found ? 0 : std::count_if(e.begin(), e.begin() + n - 1, [](R x) { return x != R{0}; });
}

}  // namespace

template <Scalar T> Index heev(bool vectors, bool lower, Index n, T* A, Index leading, Real<T>* w) {
  using R = Real<T>;
  if (n == 0) return 0;
  const Arithmetic arithmetic;
  std::vector<T> all(count(n * n));
  R largest{0};
  for (Index j = 0; j < n; ++j) {
    for (Index i = lower ? j : 0; i < (lower ? n : j + 1); ++i)
      largest = std::max(largest, i == j ? std::abs(real_of<R>(A[i + i * leading])) : largest_part(A[i + j * leading]));
  }
  // So that squares neither overflow nor vanish.
  const int exponent = largest > R{0} && std::isfinite(largest) ? std::ilogb(largest) : 0;
  // Reflectors begin at the end where the larger elements are, so that those of graded matrices mix little.
  const bool turned = std::abs(real_of<R>(A[0])) < std::abs(real_of<R>(A[n - 1 + (n - 1) * leading]));
  const auto place = [&](Index i) { return turned ? n - 1 - i : i; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
      const T a = i == j ? T(scaled(real_of<R>(A[i + i * leading]), -exponent)) : scaled(A[i + j * leading], -exponent);
      all[count(place(i) + place(j) * n)] = a;
      all[count(place(j) + place(i) * n)] = i == j ? a : conjugate(a);
    }
  }
  Reduction<T> reduction(n, all);
  std::vector<T> V;
  if (vectors) V = reduction.vectors();
  Rotations<T> rotations(n, vectors ? V.data() : nullptr);
  const Index missing = find_eigenvalues(reduction.d, reduction.e, rotations);
  std::vector<Index> order(count(n));
  std::iota(order.begin(), order.end(), Index{0});
  if (missing == 0) {
    std::stable_sort(order.begin(), order.end(),
                     [&](Index i, Index k) { return reduction.d[count(i)] < reduction.d[count(k)]; });
  }
  for (Index j = 0; j < n; ++j) {
    const Index from = order[count(j)];
    w[j] = std::scalbn(reduction.d[count(from)], exponent);
    if (!vectors) continue;
    for (Index i = 0; i < n; ++i) A[i + j * leading] = V[count(place(i) + from * n)];
  }
  return missing;
}

#define HEDDLE_INSTANTIATE(T) template Index heev<T>(bool, bool, Index, T*, Index, Real<T>*)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

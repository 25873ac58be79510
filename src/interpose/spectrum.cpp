#include "interpose/spectrum.hpp"

#include "core/instantiate.hpp"
#include "interpose/arithmetic.hpp"
#include "interpose/fixed_order.hpp"
#include "interpose/reflectors.hpp"

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
  static std::size_t count(Index k) { return static_cast<std::size_t>(k); }

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

// One step of QL with an implicit shift on [l, m] of a tridiagonal matrix.
template <Scalar T>
void step(Index first, Index last, std::vector<Real<T>>& d, std::vector<Real<T>>& e, Rotations<T>& rotations) {
  using R = Real<T>;
  const auto l = static_cast<std::size_t>(first);
  const auto m = static_cast<std::size_t>(last);
  R g = (d[l + 1] - d[l]) / (R{2} * e[l]);
  g = d[m] - d[l] + e[l] / (g + std::copysign(Direction<R>(g, R{1}).r, g));
  R s{1};
  R c{1};
  R p{0};
  for (std::size_t i = m; i-- > l;) {
    const R f = s * e[i];
    const R b = c * e[i];
    const Direction<R> turned(f, g);
    e[i + 1] = turned.r;
    if (turned.r == R{0}) {
      // What underflowed splits the matrix.
      d[i + 1] -= p;
      e[m] = R{0};
      return;
    }
    s = turned.of_x;
    c = turned.of_y;
    g = d[i + 1] - p;
    const R shifted = (d[i] - g) * s + R{2} * (c * b);
    p = s * shifted;
    d[i + 1] = g + p;
    g = c * shifted - b;
    rotations.add(static_cast<Index>(i), c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = R{0};
}

// d becomes the eigenvalues. Returns the number of one that was not found, or 0.
template <Scalar T> Index find_eigenvalues(std::vector<Real<T>>& d, std::vector<Real<T>>& e, Rotations<T>& rotations) {
  using R = Real<T>;
  constexpr int most_steps = 60;
  // Of a matrix whose largest elements are near 1.
  constexpr R nothing = std::numeric_limits<R>::min() / unit_roundoff<R>;
  const auto n = static_cast<Index>(d.size());
  for (Index l = 0; l < n; ++l) {
    for (int number = 0;; ++number) {
      Index m = l;
      for (; m + 1 < n; ++m) {
        const auto at = static_cast<std::size_t>(m);
        if (std::abs(e[at]) <= std::max(nothing, unit_roundoff<R> * (std::abs(d[at]) + std::abs(d[at + 1])))) break;
      }
      if (m == l) break;
      if (number == most_steps) return l + 1;
      step(l, m, d, e, rotations);
    }
  }
  rotations.apply();
  return 0;
}

}  // namespace

template <Scalar T> Index heev(bool vectors, bool lower, Index n, T* A, Index leading, Real<T>* w) {
  using R = Real<T>;
  if (n == 0) return 0;
  const Arithmetic arithmetic;
  std::vector<T> all(static_cast<std::size_t>(n * n));
  R largest{0};
  for (Index j = 0; j < n; ++j) {
    for (Index i = lower ? j : 0; i < (lower ? n : j + 1); ++i)
      largest = std::max(largest, largest_part(A[i + j * leading]));
  }
  // So that squares neither overflow nor vanish.
  const int exponent = largest > R{0} && std::isfinite(largest) ? std::ilogb(largest) : 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
      const T a = scaled(A[i + j * leading], -exponent);
      all[static_cast<std::size_t>(i + j * n)] = i == j ? T(real_of<R>(a)) : a;
      all[static_cast<std::size_t>(j + i * n)] = i == j ? T(real_of<R>(a)) : conjugate(a);
    }
  }
  Reduction<T> reduction(n, all);
  std::vector<T> V;
  if (vectors) V = reduction.vectors();
  Rotations<T> rotations(n, vectors ? V.data() : nullptr);
  const Index missing = find_eigenvalues(reduction.d, reduction.e, rotations);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  if (missing == 0) {
    std::stable_sort(order.begin(), order.end(), [&](Index i, Index k) {
      return reduction.d[static_cast<std::size_t>(i)] < reduction.d[static_cast<std::size_t>(k)];
    });
  }
  for (Index j = 0; j < n; ++j) {
    const Index from = order[static_cast<std::size_t>(j)];
    w[j] = std::scalbn(reduction.d[static_cast<std::size_t>(from)], exponent);
    if (vectors) std::copy_n(V.data() + from * n, n, A + j * leading);
  }
  return missing;
}

#define HEDDLE_INSTANTIATE(T) template Index heev<T>(bool, bool, Index, T*, Index, Real<T>*)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

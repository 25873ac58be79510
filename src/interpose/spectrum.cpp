#include "interpose/spectrum.hpp"

#include "core/instantiate.hpp"
#include "interpose/arithmetic.hpp"
#include "interpose/reflectors.hpp"
#include "interpose/scaling.hpp"
#include "interpose/threads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace heddle::impl::interpose {
namespace {

// Two roundings for each part's products and sums: no instruction for both is wanted, which older processors lack.
template <Scalar T> T product(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  } else {
    return x * y;
  }
}

// sum conj(x_k) y_k by eight partial sums.
template <Scalar T> T fixed_dot(Index n, const T* x, const T* y) {
  constexpr Index lanes = 8;
  T sums[lanes] = {};
  const Index whole = n / lanes * lanes;
  for (Index k = 0; k < whole; k += lanes) {
    for (Index l = 0; l < lanes; ++l) sums[l] += product(conjugate(x[k + l]), y[k + l]);
  }
  for (Index k = whole; k < n; ++k) sums[k - whole] += product(conjugate(x[k]), y[k]);
  for (Index half = lanes / 2; half > 0; half /= 2) {
    for (Index l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

// r = sqrt(x^2 + y^2) and x / r, y / r, of numbers scaled by a power of two.
template <RealScalar R> struct Direction {
  R r;
  R of_x;
  R of_y;
  Direction(R x, R y) : r(std::max(std::abs(x), std::abs(y))), of_x(0), of_y(1) {
    if (!(r > R{0}) || !std::isfinite(r)) return;
    const int exponent = std::ilogb(r);
    const R a = std::scalbn(x, -exponent);
    const R b = std::scalbn(y, -exponent);
    const R size = std::sqrt(a * a + b * b);
    of_x = a / size;
    of_y = b / size;
    r = std::scalbn(size, exponent);
  }
};

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

// Rotations of neighbouring columns, which wait for one another so that a matrix is read once for many.
template <Scalar T> class Rotations {
 public:
  using R = Real<T>;
  Rotations(Index n, T* V) : n_(n), V_(V) {}

  // Columns i and i + 1: (c x - s y, s x + c y).
  void add(Index i, R c, R s) {
    if (V_ == nullptr) return;
    waiting_.push_back({i, c, s});
    if (waiting_.size() >= most) apply();
  }
  void apply() {
    constexpr Index abreast = 32;
    if (waiting_.empty()) return;
    const Index groups = (n_ + abreast - 1) / abreast;
    constexpr Index worth_threads = 256;
    in_parts(groups, n_ < worth_threads ? 1 : usual_threads(), [&](Index begin, Index end) {
      std::vector<T> part(static_cast<std::size_t>(abreast * n_));
      for (Index group = begin; group < end; ++group) {
        const Index first = group * abreast;
        const Index rows = std::min(abreast, n_ - first);
        for (Index j = 0; j < n_; ++j) std::copy_n(V_ + first + j * n_, rows, part.data() + j * abreast);
        for (const Rotation& rotation : waiting_) {
          T* const x = part.data() + rotation.column * abreast;
          T* const y = x + abreast;
          for (Index r = 0; r < abreast; ++r) {
            const T one = x[r];
            x[r] = scaled_by(one, rotation.c) - scaled_by(y[r], rotation.s);
            y[r] = scaled_by(one, rotation.s) + scaled_by(y[r], rotation.c);
          }
        }
        for (Index j = 0; j < n_; ++j) std::copy_n(part.data() + j * abreast, rows, V_ + first + j * n_);
      }
    });
    waiting_.clear();
  }

 private:
  struct Rotation {
    Index column;
    R c;
    R s;
  };
  static T scaled_by(const T& x, R factor) {
    if constexpr (is_complex<T>) {
      return T(x.real() * factor, x.imag() * factor);
    } else {
      return x * factor;
    }
  }
  static constexpr std::size_t most = 1 << 16;
  Index n_;
  T* V_;
  std::vector<Rotation> waiting_;
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

// Singular values and vectors, in a fixed sequence of operations.
#include "interpose/eigen/singular.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/eigen/bidiagonal.hpp"
#include "interpose/lapack/ordered_reflectors.hpp"
#include "interpose/lapack/reflectors.hpp"

#include <limits>
#include <numeric>

namespace heddle::impl::interpose {
namespace {

// A square matrix made bidiagonal by reflectors from both sides: d and e, and the reflectors as geqrf() leaves them,
// those from the left below the diagonal, the others, of all rows but the first, in a matrix of their own.
template <Scalar T> class Bidiagonal {
 public:
  using R = Real<T>;
  Bidiagonal(Index n, std::vector<T>& A) : d(count(n)), e(count(n)), n_(n), A_(A), right_(count((n - 1) * (n - 1))) {
    left_tau_.resize(count(n));
    right_tau_.resize(count(n));
    products_.resize(count(n));
    factors_.assign(count(n), T{0});
    for (Index k = 0; k < n; ++k) {
      reduce_column(k);
      if (k + 1 < n) reduce_row(k);
    }
  }
  // U and V of A = U B V^H.
  std::vector<T> left() const { return ordered_orgqr<T>(n_, A_.data(), n_, left_tau_.data()); }
  std::vector<T> right() const {
    const Index inner = n_ - 1;
    const std::vector<T> Q = ordered_orgqr<T>(inner, right_.data(), inner, right_tau_.data());
    std::vector<T> V(count(n_ * n_), T{0});
    V[0] = T{1};
    for (Index j = 0; j < inner; ++j) std::copy_n(Q.data() + j * inner, inner, V.data() + 1 + (j + 1) * n_);
    return V;
  }

  std::vector<R> d;
  std::vector<R> e;

 private:
  static int threads_for(Index numbers) {
    constexpr Index worth = 200000;
    return static_cast<int>(std::min<Index>(usual_threads(), numbers / worth + 1));
  }
  // Apply the last row's reflector to column j from row k on: it waits, so that each column is read once for it and
  // the next column's reflector.
  void finish_column(Index k, Index j) {
    if (k == 0) return;
    T* const column = A_.data() + k + j * n_;
    const T factor = factors_[count(j)];
    const T* const products = products_.data() + k;
    for (Index i = 0; i < n_ - k; ++i) column[i] -= product(products[i], factor);
  }
  void reduce_column(Index k) {
    finish_column(k, k);
    T* const v = A_.data() + k + k * n_;
    const Index below = n_ - k - 1;
    const T tau = make_reflector(below + 1, v[0], v + 1);
    left_tau_[count(k)] = tau;
    d[count(k)] = real_of<R>(v[0]);
    in_parts(below, threads_for(below * below), [&](Index begin, Index end) {
      for (Index j = k + 1 + begin; j < k + 1 + end; ++j) {
        finish_column(k, j);
        if (tau == T{0}) continue;
        T* const column = A_.data() + k + j * n_;
        const T factor = product(conjugate(tau), column[0] + fixed_dot(below, v + 1, column + 1));
        column[0] -= factor;
        for (Index i = 1; i <= below; ++i) column[i] -= product(v[i], factor);
      }
    });
  }
  void reduce_row(Index k) {
    const Index size = n_ - k - 1;
    T* const x = right_.data() + k + k * (n_ - 1);
    for (Index j = 0; j < size; ++j) x[j] = conjugate(A_[count(k + (k + 1 + j) * n_)]);
    const T tau = make_reflector(size, x[0], x + 1);
    right_tau_[count(k)] = tau;
    e[count(k)] = real_of<R>(x[0]);
    for (Index j = 0; j < size; ++j) {
      factors_[count(k + 1 + j)] = product(tau, j == 0 ? T{1} : conjugate(x[j]));
    }
    T* const products = products_.data() + k + 1;
    constexpr Index rows_at_once = 64;
    in_parts((size + rows_at_once - 1) / rows_at_once, threads_for(size * size), [&](Index begin, Index end) {
      const Index first = begin * rows_at_once;
      const Index last = std::min(size, end * rows_at_once);
      std::fill(products + first, products + last, T{0});
      for (Index j = 0; j < size; ++j) {
        const T factor = j == 0 ? T{1} : x[j];
        const T* const column = A_.data() + k + 1 + (k + 1 + j) * n_;
        for (Index i = first; i < last; ++i) products[i] += product(column[i], factor);
      }
    });
  }

  Index n_;
  std::vector<T>& A_;
  std::vector<T> right_;
  std::vector<T> left_tau_;
  std::vector<T> right_tau_;
  // A v and tau v^H of the last row's reflector.
  std::vector<T> products_;
  std::vector<T> factors_;
};

// Columns in another order; those whose value is negative turn their sign where it says so.
template <Scalar T>
std::vector<T> sorted_columns(Index n, const std::vector<T>& V, const std::vector<Index>& order,
                              const std::vector<Real<T>>& d, bool signs) {
  std::vector<T> sorted(V.size());
  for (Index j = 0; j < n; ++j) {
    const Index from = order[count(j)];
    const bool negative = signs && std::signbit(d[count(from)]);
    for (Index i = 0; i < n; ++i)
      sorted[count(i + j * n)] = negative ? T(-V[count(i + from * n)]) : V[count(i + from * n)];
  }
  return sorted;
}

// The columns of Q [W 0; 0 I], `many` of them.
template <Scalar T> std::vector<T> with_q(const SquarePart<T>& part, const std::vector<T>& W, Index many) {
  if (part.rows == part.order) return W;
  std::vector<T> C(count(part.rows * many), T{0});
  for (Index j = 0; j < part.order; ++j) {
    std::copy_n(W.data() + j * part.order, part.order, C.data() + j * part.rows);
  }
  for (Index j = part.order; j < many; ++j) C[count(j + j * part.rows)] = T{1};
  part.multiply_with_q(false, many, C.data(), part.rows);
  return C;
}

}  // namespace

template <Scalar T>
SquarePart<T>::SquarePart(Index m, Index n, const T* A, Index leading)
    : flipped(m < n), finite(true), number(true), rows(std::max(m, n)), order(std::min(m, n)), exponent(0) {
  const Arithmetic arithmetic;
  using R = Real<T>;
  R largest{0};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T& a = A[i + j * leading];
      number = number && is_number(a);
      finite = finite && is_finite(a);
      largest = std::max(largest, largest_part(a));
    }
  }
  if (!finite) return;
  exponent = largest > R{0} ? std::ilogb(largest) : 0;
  std::vector<T> all(count(rows * order));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T a = scaled(A[i + j * leading], -exponent);
      all[count(flipped ? j + i * rows : i + j * rows)] = flipped ? conjugate(a) : a;
    }
  }
  if (rows == order) {
    S = std::move(all);
    return;
  }
  tau_.resize(count(order));
  ordered_geqrf<T>(rows, order, all.data(), rows, tau_.data());
  S.assign(count(order * order), T{0});
  for (Index j = 0; j < order; ++j) std::copy_n(all.data() + j * rows, j + 1, S.data() + j * order);
  reflectors_ = std::move(all);
}

template <Scalar T> void SquarePart<T>::multiply_with_q(bool adjoint, Index columns, T* C, Index leading) const {
  if (rows == order) return;
  ordered_ormqr<T>(adjoint, rows, columns, order, reflectors_.data(), rows, tau_.data(), C, leading);
}

template <Scalar T>
Index square_svd(Index n, std::vector<T>& S, bool left, bool right, std::vector<Real<T>>& d, std::vector<T>& U,
                 std::vector<T>& V) {
  if (n == 0) return 0;
  const Arithmetic arithmetic;
  Bidiagonal<T> reduced(n, S);
  if (right) V = reduced.right();
  if (left) U = reduced.left();
  Rotations<T> of_u(n, left ? U.data() : nullptr);
  Rotations<T> of_v(n, right ? V.data() : nullptr);
  const Index missing = diagonalise<T>(n, reduced.d.data(), reduced.e.data(), of_u, of_v);
  std::vector<Index> order(count(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index k) { return std::abs(reduced.d[count(i)]) > std::abs(reduced.d[count(k)]); });
  d.resize(count(n));
  for (Index j = 0; j < n; ++j) d[count(j)] = std::abs(reduced.d[count(order[count(j)])]);
  if (left) U = sorted_columns<T>(n, U, order, reduced.d, false);
  if (right) V = sorted_columns<T>(n, V, order, reduced.d, true);
  return missing;
}

template <Scalar T>
Svd<T>::Svd(Index m, Index n, const T* A, Index leading, Vectors left, Vectors right) : number(true), missing(0) {
  const Arithmetic arithmetic;
  using R = Real<T>;
  SquarePart<T> part(m, n, A, leading);
  number = part.number;
  const Index order = part.order;
  const auto columns = [&](Vectors wanted, Index all) {
    return wanted == Vectors::none ? Index{0} : wanted == Vectors::all ? all : order;
  };
  const Index of_u = columns(left, m);
  const Index of_v = columns(right, n);
  if (!part.finite) {
    constexpr R nothing = std::numeric_limits<R>::quiet_NaN();
    values.assign(count(order), nothing);
    U.assign(count(m * of_u), T(nothing));
    V.assign(count(n * of_v), T(nothing));
    missing = order;
    return;
  }
  // U and V of the adjoint have changed places.
  std::vector<T>& tall = part.flipped ? V : U;
  std::vector<T>& wide = part.flipped ? U : V;
  const Index of_tall = part.flipped ? of_v : of_u;
  missing = square_svd<T>(order, part.S, of_tall > 0, (part.flipped ? of_u : of_v) > 0, values, tall, wide);
  if (of_tall > 0) tall = with_q(part, tall, of_tall);
  for (R& value : values) value = std::scalbn(value, part.exponent);
}

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template struct SquarePart<T>;                                                                           \
  template Index square_svd<T>(Index, std::vector<T>&, bool, bool, std::vector<Real<T>>&, std::vector<T>&, \
                               std::vector<T>&);                                                           \
  template struct Svd<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

// QR factorizations of LAPACK by Householder reflectors, on level 3's products.
#include "interpose/lapack/reflectors.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/blas/vectors.hpp"
#include "interpose/eigen/scaling.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace heddle::impl::interpose {
namespace {

constexpr Index at_once = 32;
constexpr Operation none = Operation::none;

template <Scalar T> T times(const T& x, const T& y) {
  return multiply_add(x, y, T{0});
}

// The vectors of some reflectors with all their ones and zeros, and S of I - V S V^H, their product: its columns are
// -tau_j S_j V_j^H v_j (R. Schreiber, C. Van Loan, SISSC 10, 1989). Vectors that are longer than 1, as those of
// reflectors that leave positive elements may be, are scaled by powers of two: products without a look are within
// round-off of whole rows and columns.
template <Scalar T> struct Block {
  Index rows;
  Index count;
  std::vector<T> V;
  std::vector<T> S;

  [[gnu::noinline]] Block(Index height, Index number, const T* A, Index leading, const T* tau)
      : rows(height),
        count(number),
        V(static_cast<std::size_t>(height * number), T{0}),
        S(static_cast<std::size_t>(number * number), T{0}) {
    std::vector<T> scaled_tau(tau, tau + count);
    for (Index j = 0; j < count; ++j) {
      T* const own = V.data() + j * rows;
      own[j] = T{1};
      std::copy(A + j + 1 + j * leading, A + rows + j * leading, own + j + 1);
      Real<T> largest{1};
      for (Index i = j + 1; i < rows; ++i) largest = std::max(largest, largest_part(own[i]));
      if (largest < Real<T>{2} || !std::isfinite(largest)) continue;
      const int exponent = std::ilogb(largest);
      for (Index i = j; i < rows; ++i) own[i] = scaled(own[i], -exponent);
      scaled_tau[static_cast<std::size_t>(j)] = scaled(tau[j], 2 * exponent);
    }
    for (Index j = 0; j < count; ++j) {
      const T* const own = V.data() + j * rows;
      T* const column = S.data() + j * count;
      const T own_tau = scaled_tau[static_cast<std::size_t>(j)];
      column[j] = own_tau;
      std::vector<T> products(static_cast<std::size_t>(j));
      for (Index i = 0; i < j; ++i) {
        // v_j is zero above its own row.
        const T* const other = V.data() + i * rows;
        products[static_cast<std::size_t>(i)] = inner_product<T>(
            rows - j, [&](Index k) { return conjugate(other[j + k]); }, [&](Index k) { return own[j + k]; });
      }
      for (Index i = 0; i < j; ++i) {
        const T sum = inner_product<T>(
            j - i, [&](Index k) { return S[static_cast<std::size_t>(i + (i + k) * count)]; },
            [&](Index k) { return products[static_cast<std::size_t>(i + k)]; });
        column[i] = times(T(-own_tau), sum);
      }
    }
  }

  // C = (I - V S V^H) C or, adjoint, with S^H; C has `rows` rows.
  void apply_left(bool adjoint, Index columns, T* C, Index leading) const {
    if (columns == 0) return;
    std::vector<T> W(static_cast<std::size_t>(count * columns));
    std::vector<T> SW(W.size());
    multiply<T>(
        {adjoint_of<T>, none, count, columns, rows, T{1}, V.data(), rows, C, leading, T{0}, W.data(), count, false});
    multiply<T>({adjoint ? adjoint_of<T> : none, none, count, columns, count, T{1}, S.data(), count, W.data(), count,
                 T{0}, SW.data(), count, false});
    multiply<T>({none, none, rows, columns, count, T{-1}, V.data(), rows, SW.data(), count, T{1}, C, leading, false});
  }
  // C = C (I - V S V^H); C has `rows` columns.
  void apply_right(bool adjoint, Index height, T* C, Index leading) const {
    if (height == 0) return;
    std::vector<T> W(static_cast<std::size_t>(height * count));
    std::vector<T> WS(W.size());
    multiply<T>({none, none, height, count, rows, T{1}, C, leading, V.data(), rows, T{0}, W.data(), height, false});
    multiply<T>({none, adjoint ? adjoint_of<T> : none, height, count, count, T{1}, W.data(), height, S.data(), count,
                 T{0}, WS.data(), height, false});
    multiply<T>(
        {none, adjoint_of<T>, height, rows, count, T{-1}, WS.data(), height, V.data(), rows, T{1}, C, leading, false});
  }
};

// Factor some columns, one reflector after the other.
template <Scalar T> [[gnu::noinline]] void factor_panel(Index rows, Index columns, T* A, Index leading, T* tau) {
  for (Index j = 0; j < std::min(rows, columns); ++j) {
    T* const own = A + j + j * leading;
    tau[j] = make_reflector(rows - j, own[0], own + 1);
    if (tau[j] == T{0}) continue;
    for (Index other = j + 1; other < columns; ++other) {
      T* const column = A + j + other * leading;
      const T sum = inner_product<T>(
          rows - j, [&](Index k) { return k == 0 ? T{1} : conjugate(own[k]); }, [&](Index k) { return column[k]; });
      const T factor = times(T(-conjugate(tau[j])), sum);
      column[0] = column[0] + factor;
      for (Index i = 1; i < rows - j; ++i) column[i] = multiply_add(own[i], factor, column[i]);
    }
  }
}

}  // namespace

template <Scalar T> T make_reflector(Index n, T& alpha, T* x) {
  using R = Real<T>;
  if (n <= 0) return T{0};
  R below{0};
  for (Index i = 0; i < n - 1; ++i) below = std::max(below, largest_part(x[i]));
  if (below == R{0} && imaginary_of<R>(alpha) == R{0}) return T{0};
  // By a power of two where squares would come near what overflows, or the length near denormal numbers.
  const R largest = std::max(below, largest_part(alpha));
  const int own = largest > R{0} && std::isfinite(largest) ? std::ilogb(largest) : 0;
  const int exponent = std::abs(own) > std::numeric_limits<R>::max_exponent / 4 ? own : 0;
  if (exponent != 0) {
    for (Index i = 0; i < n - 1; ++i) x[i] = scaled(x[i], -exponent);
  }
  const T first = scaled(alpha, -exponent);
  const R re = real_of<R>(first);
  const R im = imaginary_of<R>(first);
  const R parts[3] = {re, im, norm<T>(n - 1, x, 1)};
  const R beta = std::copysign(norm<R>(3, parts, 1), -re);
  T tau;
  T gap;
  if constexpr (is_complex<T>) {
    tau = T((beta - re) / beta, -im / beta);
    gap = T(re - beta, im);
  } else {
    tau = (beta - re) / beta;
    gap = re - beta;
  }
  for (Index i = 0; i < n - 1; ++i) x[i] = divided(x[i], gap);
  alpha = T(std::scalbn(beta, exponent));
  return tau;
}

template <Scalar T> void geqrf(Index m, Index n, T* A, Index leading, T* tau) {
  const Arithmetic arithmetic;
  const Index order = std::min(m, n);
  for (Index begin = 0; begin < order; begin += at_once) {
    const Index count = std::min(at_once, order - begin);
    T* const panel = A + begin + begin * leading;
    factor_panel(m - begin, count, panel, leading, tau + begin);
    if (begin + count < n) {
      const Block<T> block(m - begin, count, panel, leading, tau + begin);
      block.apply_left(true, n - begin - count, panel + count * leading, leading);
    }
  }
}

template <Scalar T> void orgqr(Index m, Index n, Index k, T* A, Index leading, const T* tau) {
  const Arithmetic arithmetic;
  std::vector<T> Q(static_cast<std::size_t>(m * n), T{0});
  for (Index j = 0; j < n; ++j) Q[static_cast<std::size_t>(j + j * m)] = T{1};
  for (Index begin = k == 0 ? 0 : (k - 1) / at_once * at_once; k > 0 && begin >= 0; begin -= at_once) {
    const Block<T> block(m - begin, std::min(at_once, k - begin), A + begin + begin * leading, leading, tau + begin);
    // Columns before these are still the identity's, which have nothing here.
    block.apply_left(false, n - begin, Q.data() + begin + begin * m, m);
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) A[i + j * leading] = Q[static_cast<std::size_t>(i + j * m)];
  }
}

template <Scalar T>
void ormqr(bool left, bool adjoint, Index m, Index n, Index k, const T* A, Index leading, const T* tau, T* C,
           Index leading_c) {
  const Arithmetic arithmetic;
  const Index order = left ? m : n;
  const Index blocks = (k + at_once - 1) / at_once;
  for (Index step = 0; step < blocks; ++step) {
    const Index begin = (left == adjoint ? step : blocks - 1 - step) * at_once;
    const Block<T> block(order - begin, std::min(at_once, k - begin), A + begin + begin * leading, leading,
                         tau + begin);
    if (left) {
      block.apply_left(adjoint, n, C + begin, leading_c);
    } else {
      block.apply_right(adjoint, m, C + begin * leading_c, leading_c);
    }
  }
}

#define HEDDLE_INSTANTIATE(T)                                       \
  template T make_reflector<T>(Index, T&, T*);                      \
  template void geqrf<T>(Index, Index, T*, Index, T*);              \
  template void orgqr<T>(Index, Index, Index, T*, Index, const T*); \
  template void ormqr<T>(bool, bool, Index, Index, Index, const T*, Index, const T*, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

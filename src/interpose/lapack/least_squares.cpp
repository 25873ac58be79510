// Least squares by singular values and by QR.
#include "interpose/lapack/least_squares.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/eigen/singular.hpp"
#include "interpose/lapack/factors.hpp"
#include "interpose/lapack/reflectors.hpp"
#include "interpose/lapack/right_sides.hpp"

namespace heddle::impl::interpose {
namespace {

template <Scalar T> T divided_by(const T& x, Real<T> y) {
  if constexpr (is_complex<T>) {
    return T(x.real() / y, x.imag() / y);
  } else {
    return x / y;
  }
}

// A of m x n, or its adjoint, scaled, with more rows than columns.
template <Scalar T> std::vector<T> tall_copy(Index m, Index n, const T* A, Index leading, int exponent) {
  const bool flipped = m < n;
  const Index rows = std::max(m, n);
  std::vector<T> all(count(m * n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T a = scaled(A[i + j * leading], -exponent);
      all[count(flipped ? j + i * rows : i + j * rows)] = flipped ? conjugate(a) : a;
    }
  }
  return all;
}

}  // namespace

template <Scalar T>
Index solve_by_svd(Index m, Index n, Index columns, const T* A, Index leading, T* B, Index leading_b, Real<T> relative,
                   std::vector<Real<T>>& values, Index& rank, std::vector<T>* V) {
  const Arithmetic arithmetic;
  SquarePart<T> part(m, n, A, leading);
  rank = 0;
  const Index order = part.order;
  if (!part.finite) return order;
  std::vector<T> left;
  std::vector<T> right;
  const Index missing = square_svd<T>(order, part.S, true, true, values, left, right);
  if (missing > 0) return missing;
  while (rank < order && values[count(rank)] > relative * values[0]) ++rank;
  // S = left diag(values) right^H is A's square part, or that of its adjoint.
  RightSides<T> b(m, part.rows, columns, B, leading_b);
  if (!part.flipped) part.multiply_with_q(true, columns, b.data(), part.rows);
  b.multiply_by(adjoint_of<T>, rank, order, part.flipped ? right : left, order);
  for (Index j = 0; j < columns; ++j) {
    T* const column = b.data() + j * part.rows;
    for (Index i = 0; i < rank; ++i) column[i] = divided_by(column[i], values[count(i)]);
  }
  b.multiply_by(Operation::none, order, rank, part.flipped ? left : right, order);
  if (part.flipped) part.multiply_with_q(false, columns, b.data(), part.rows);
  b.put(0, n, -part.exponent, B, leading_b);
  if (m > n) b.put(n, m, 0, B, leading_b);
  for (Real<T>& value : values) value = std::scalbn(value, part.exponent);
  if (V == nullptr) return 0;
  if (!part.flipped) {
    *V = std::move(right);
    return 0;
  }
  V->assign(count(n * order), T{0});
  for (Index j = 0; j < order; ++j) std::copy_n(left.data() + j * order, order, V->data() + j * n);
  part.multiply_with_q(false, order, V->data(), n);
  return 0;
}

template <Scalar T>
Index solve_by_qr(bool adjoint, Index m, Index n, Index columns, T* A, Index leading, T* B, Index leading_b) {
  const Arithmetic arithmetic;
  const Index rows = std::max(m, n);
  const Index order = std::min(m, n);
  const bool flipped = m < n;
  const int exponent = exponent_of(m, n, A, leading);
  std::vector<T> QR = tall_copy(m, n, A, leading, exponent);
  std::vector<T> tau(count(order));
  geqrf<T>(rows, order, QR.data(), rows, tau.data());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const T a = flipped ? conjugate(QR[count(j + i * rows)]) : QR[count(i + j * rows)];
      A[i + j * leading] = (flipped ? i >= j : i <= j) ? scaled(a, exponent) : a;
    }
  }
  // A tall matrix times x, or a wide one, which is R^H Q^H.
  const bool tall = flipped == adjoint;
  RightSides<T> b(tall ? rows : order, rows, columns, B, leading_b);
  if (tall) ormqr<T>(true, true, rows, columns, order, QR.data(), rows, tau.data(), b.data(), rows);
  const Index zero = trtrs<T>(false, tall ? 'N' : 'C', false, order, columns, QR.data(), rows, b.data(), rows);
  if (zero > 0) return zero;
  if (!tall) ormqr<T>(true, false, rows, columns, order, QR.data(), rows, tau.data(), b.data(), rows);
  b.put(0, tall ? order : rows, -exponent, B, leading_b);
  if (tall) b.put(order, rows, 0, B, leading_b);
  return 0;
}

#define HEDDLE_INSTANTIATE(T)                                                                                     \
  template Index solve_by_svd<T>(Index, Index, Index, const T*, Index, T*, Index, Real<T>, std::vector<Real<T>>&, \
                                 Index&, std::vector<T>*);                                                        \
  template Index solve_by_qr<T>(bool, Index, Index, Index, T*, Index, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose

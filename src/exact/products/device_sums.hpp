// On GPUs: inner products by each algorithm, with one interface: add_product() and finished(); those for triangular
// systems also have add().
#pragma once

#include "exact/products/device.hpp"
#include "exact/sums/algorithms.hpp"

#include <type_traits>

namespace heddle::exact::impl {

/// Expansions of `levels` doubles before an accumulator; the accumulator alone if `levels` is 0.
template <Scalar T, int levels> struct ExpandedSum {
  Expansion<levels == 0 ? 2 : levels> leading[parts_of_scalar<T>];
  ExactSum<T> rest;

  KOKKOS_INLINE_FUNCTION void add_product(const T& x, const T& y) {
    for_each_product(x, y, [&](int p, Real<T> a, Real<T> b) {
      auto value = static_cast<double>(a);
      auto error = static_cast<double>(b);
      two_product(value, error);
      if (levels == 0 || !is_tame_product(a, b, value)) {
        take_product(p, static_cast<double>(a), static_cast<double>(b));
        return;
      }
      give_rest(p, leading[p].add(value, 0));
      give_rest(p, leading[p].add(error, 1));
    });
  }
  [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T finished(const Update<T>& update, const T& y) const {
    ExactSum<T> all = rest;
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      for (int level = 0; level < levels; ++level) {
        all.part[p].add(leading[p].part(level));
      }
    }
    return update.exactly(all, y);
  }

 private:
  KOKKOS_INLINE_FUNCTION void give_rest(int p, double left) {
    if (left != 0) {
      take(p, left);
    }
  }
  // Out of line: the accumulator's code is long.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void take(int p, double left) { rest.part[p].add(left); }
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void take_product(int p, double a, double b) { rest.part[p].add_product(a, b); }
};

/// A sum in twice the precision; losses beyond it are ignored.
template <Scalar T> struct TwiceSum : InnerSum<T> {
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T finished(const Update<T>& update, const T& y) const {
    return update.nearly(*this, y).value();
  }
};

/// A sum rounded at every step.
template <Scalar T> struct PlainSum {
  T sum = T(0);
  KOKKOS_INLINE_FUNCTION void add(const T& x) { sum += x; }
  KOKKOS_INLINE_FUNCTION void add_product(const T& x, const T& y) { sum += x * y; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T value() const { return sum; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T finished(const Update<T>& update, const T& y) const {
    return update.plainly(sum, y);
  }
};

/// Calls f(std::type_identity<Sum>()) for an algorithm other than Algorithm::automatic.
template <Scalar T, class F> void with_device_sum(Algorithm algorithm, const F& f) {
  if (algorithm == Algorithm::plain) {
    f(std::type_identity<PlainSum<T>>());
  } else if (algorithm == Algorithm::twice) {
    f(std::type_identity<TwiceSum<T>>());
  } else {
    with_levels(algorithm, [&](auto levels) { f(std::type_identity<ExpandedSum<T, decltype(levels)::value>>()); });
  }
}

template <class Sum, Scalar T> struct ProductOfElement {
  Update<T> update;
  Operand<T> A;
  Operand<T> X;
  StridedMatrix<T> Y;

  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    const Index i = at % A.rows;
    const Index j = at / A.rows;
    Sum sum;
    for (Index k = 0; k < A.columns; ++k) {
      sum.add_product(A(i, k), X(k, j));
    }
    Y(i, j) = sum.finished(update, Y(i, j));
  }
};
/// Y = alpha A X + beta Y, a thread for each element.
template <class Sum, Scalar T>
void device_product_by(const ExecutionSpace& space, const Update<T>& update, const Operand<T>& A, const Operand<T>& X,
                       const StridedMatrix<T>& Y) {
  Kokkos::parallel_for(
      "heddle::exact::product",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, A.rows * static_cast<Index>(Y.extent(1))),
      ProductOfElement<Sum, T>{update, A, X, Y});
}
template <Scalar T>
void device_product_by(Algorithm algorithm, const ExecutionSpace& space, const Update<T>& update, const Operand<T>& A,
                       const Operand<T>& X, const StridedMatrix<T>& Y) {
  with_device_sum<T>(algorithm,
                     [&]<class Sum>(std::type_identity<Sum>) { device_product_by<Sum, T>(space, update, A, X, Y); });
}

}  // namespace heddle::exact::impl

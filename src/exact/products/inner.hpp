// One inner product, rounded once: in twice the precision if that decides how it rounds, else exactly.
#pragma once

#include "exact/sums/wide.hpp"
#include <heddle/exact/expansion.hpp>

namespace heddle::exact::impl {

using namespace bits;

template <Scalar T> inline constexpr int parts_of_scalar = is_complex<T> ? 2 : 1;
/// Terms that one product adds to each part of a sum.
template <Scalar T> inline constexpr Index terms_per_product = is_complex<T> ? 2 : 1;

template <RealScalar T> KOKKOS_FORCEINLINE_FUNCTION void add_product(Compensated& sum, T x, T y) {
  if constexpr (sizeof(T) == 8) {
    sum.add_product(x, y);
  } else {
    sum.add(rounded_product(static_cast<double>(x), static_cast<double>(y)), 0);
  }
}
/// Returns a bound of the loss of `products` products to underflow.
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION double lost_to_underflow(Index products) {
  return sizeof(Real<T>) == 8 ? Compensated::underflow(products * terms_per_product<T>) : 0;
}

/// Calls add(part, x, y) for the real products that make up xy.
template <Scalar T, class Add>
KOKKOS_FORCEINLINE_FUNCTION void for_each_product(const T& x, const T& y, const Add& add) {
  if constexpr (is_complex<T>) {
    add(0, x.real(), y.real());
    add(0, -x.imag(), y.imag());
    add(1, x.real(), y.imag());
    add(1, x.imag(), y.real());
  } else {
    add(0, x, y);
  }
}
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION Real<T> part_of(const T& x, int part) {
  if constexpr (is_complex<T>) {
    return part == 0 ? x.real() : x.imag();
  } else {
    return x;
  }
}

/// A sum of T and of their products in twice the precision.
template <Scalar T> struct InnerSum {
  Compensated part[parts_of_scalar<T>];

  KOKKOS_FORCEINLINE_FUNCTION void add(const T& x) {
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      part[p].add(static_cast<double>(part_of(x, p)), 0);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(const T& x, const T& y) {
    for_each_product(x, y, [&](int p, Real<T> a, Real<T> b) { impl::add_product(part[p], a, b); });
  }
  KOKKOS_FORCEINLINE_FUNCTION void merge(const InnerSum& other) {
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      part[p].merge(other.part[p]);
    }
  }
  /// Returns true if the sum of `products` products and a few more terms, that lost at most `absolute` to underflow,
  /// rounds to one T.
  KOKKOS_INLINE_FUNCTION bool rounds_to(Index products, double absolute, T& result) const {
    const Index terms = 2 * terms_per_product<T> * products + 64;
    if constexpr (is_complex<T>) {
      Real<T> re = 0;
      Real<T> im = 0;
      const bool known = part[0].rounds_to(terms, absolute, re) && part[1].rounds_to(terms, absolute, im);
      result = T(re, im);
      return known;
    } else {
      return part[0].rounds_to(terms, absolute, result);
    }
  }
  KOKKOS_INLINE_FUNCTION bool rounds_to(Index products, T& result) const {
    return rounds_to(products, lost_to_underflow<T>(products), result);
  }
  /// Returns the rounded sum; losses beyond twice the precision are ignored.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T value() const {
    const auto rounded = [](const Compensated& sum) { return static_cast<Real<T>>(rounded_sum(sum.sum, sum.lost)); };
    if constexpr (is_complex<T>) {
      return T(rounded(part[0]), rounded(part[1]));
    } else {
      return rounded(part[0]);
    }
  }
};

/// The same without error.
template <Scalar T> struct ExactSum {
  Accumulator<double> part[parts_of_scalar<T>];

  KOKKOS_INLINE_FUNCTION void merge(const ExactSum& other) {
    for (int p = 0; p < parts_of_scalar<T>; ++p) part[p].merge(other.part[p]);
  }
  KOKKOS_INLINE_FUNCTION void add(const T& x) {
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      part[p].add(static_cast<double>(part_of(x, p)));
    }
  }
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void add_product(const T& x, const T& y) {
    for_each_product(x, y, [&](int p, Real<T> a, Real<T> b) {
      part[p].add_product(static_cast<double>(a), static_cast<double>(b));
    });
  }
  [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T value() const& {
    if constexpr (is_complex<T>) {
      return T(part[0].template value<Real<T>>(), part[1].template value<Real<T>>());
    } else {
      return part[0].template value<T>();
    }
  }
  /// The same for a sum that is not used again.
  [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T value() && {
    if constexpr (is_complex<T>) {
      return T(static_cast<Accumulator<double>&&>(part[0]).template value<Real<T>>(),
               static_cast<Accumulator<double>&&>(part[1]).template value<Real<T>>());
    } else {
      return static_cast<Accumulator<double>&&>(part[0]).template value<T>();
    }
  }
};

/// alpha S + beta y of an inner product S, rounded once (for complex T, each part).
template <Scalar T> struct Update {
  T alpha;
  T beta;

  /// Returns the update in twice the precision.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION InnerSum<T> nearly(const InnerSum<T>& sum, const T& y) const {
    InnerSum<T> all;
    if (alpha == T(1)) {
      all = sum;
    } else {
      for_each_factor(alpha, [&](int to, int from, Real<T> factor) {
        all.part[to].add_scaled(sum.part[from], static_cast<double>(factor));
      });
    }
    if (beta != T(0)) {
      all.add_product(beta, y);
    }
    return all;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool rounds_to(const InnerSum<T>& sum, Index products, const T& y,
                                                      T& result) const {
    const InnerSum<T> all = nearly(sum, y);
    if (alpha == T(1)) {
      return all.rounds_to(products + 1, result);
    }
    double size = 1;
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      size += Kokkos::abs(static_cast<double>(part_of(alpha, p)));
    }
    // The loss in S is multiplied too, and multiplying floats by doubles can also lose.
    const double absolute = size * lost_to_underflow<T>(products) + Compensated::underflow(8);
    return all.rounds_to(products + 8, absolute, result);
  }
  /// Returns the update, rounded at every step.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T plainly(const T& sum, const T& y) const {
    const T scaled = alpha == T(1) ? sum : alpha * sum;
    return beta == T(0) ? scaled : scaled + beta * y;
  }
  [[nodiscard]] HEDDLE_APART KOKKOS_INLINE_FUNCTION T exactly(ExactSum<T>& sum, const T& y) const {
    WideSum wide;
    return exactly(sum, y, wide);
  }
  /// The same with `wide` as workspace, whose value on entry does not matter.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T exactly(ExactSum<T>& sum, const T& y, WideSum& wide) const {
    if (alpha == T(1)) {
      if (beta != T(0)) {
        sum.add_product(beta, y);
      }
      return static_cast<ExactSum<T>&&>(sum).value();
    }
    Real<T> rounded[parts_of_scalar<T>];
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      wide.clear();
      for_each_factor(alpha, [&](int to, int from, Real<T> factor) {
        if (to == p) {
          wide.add_scaled(sum.part[from], static_cast<double>(factor));
        }
      });
      if (beta != T(0)) {
        for_each_product(beta, y, [&](int to, Real<T> a, Real<T> b) {
          if (to == p) {
            wide.add_product(static_cast<double>(a), static_cast<double>(b));
          }
        });
      }
      rounded[p] = wide.value<Real<T>>();
    }
    if constexpr (is_complex<T>) {
      return T(rounded[0], rounded[1]);
    } else {
      return rounded[0];
    }
  }

 private:
  // Calls f(part of the result, part of S, factor).
  template <class F> static KOKKOS_INLINE_FUNCTION void for_each_factor(const T& factor, const F& f) {
    if constexpr (is_complex<T>) {
      f(0, 0, factor.real());
      f(0, 1, -factor.imag());
      f(1, 0, factor.imag());
      f(1, 1, factor.real());
    } else {
      f(0, 0, factor);
    }
  }
};

}  // namespace heddle::exact::impl

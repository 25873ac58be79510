// b - A x of a small system, each part of an element rounded once.
#pragma once

#include "core/simd.hpp"
#include "exact/sums/threefold.hpp"
#include "solve/batched/small_matrix.hpp"
#include <heddle/exact/accumulator.hpp>

namespace heddle::impl {

/// Sums of the rows in three times the precision, which mostly decide how the exact ones round; those that they leave
/// open are summed in accumulators. The bits of exact::gemm().
template <Scalar T, Index fixed = 0> class SmallResidual {
 public:
  using R = Real<T>;
  static constexpr int parts = is_complex<T> ? 2 : 1;
  explicit SmallResidual(Index order) : n_(order), numbers_(static_cast<std::size_t>(4 * parts * order)) {}

  /// r = b - A x; `loses`: whether products may lose bits to underflow.
  void operator()(const T* A, const T* b, const T* x, bool loses, T* r) {
    for (Index i = 0; i < n(); ++i) {
      for (int p = 0; p < parts; ++p) {
        exact::impl::Threefold sum;
        sum.add(static_cast<double>(part(b[i], p)));
        set(p, i, sum);
      }
    }
    for (Index k = 0; k < n(); ++k) {
      const R* const column = reinterpret_cast<const R*>(A + k * n());
      if constexpr (is_complex<T>) {
        add_products(0, column, -x[k].real());
        add_products(0, column + 1, x[k].imag());
        add_products(1, column, -x[k].imag());
        add_products(1, column + 1, -x[k].real());
      } else {
        add_products(0, column, -x[k]);
      }
    }
    const Index terms = 2 * parts * n() + 64;
    const double absolute =
        sizeof(R) == 8 && loses ? exact::Compensated::underflow(static_cast<Index>(parts) * n()) : 0.0;
    for (Index i = 0; i < n(); ++i) {
      R found[parts];
      for (int p = 0; p < parts; ++p) {
        const exact::impl::Threefold sum = get(p, i);
        if (!sum.template rounds_to<R>(terms, absolute, found[p])) found[p] = exactly(A, b, x, i, p);
        // exact::gemm() has no negative zero from an exact sum.
        if (found[p] == 0 && sum.sum == 0) found[p] = 0;
      }
      if constexpr (is_complex<T>) {
        r[i] = T(found[0], found[1]);
      } else {
        r[i] = found[0];
      }
    }
  }

 private:
  [[nodiscard]] Index n() const { return fixed > 0 ? fixed : n_; }
  static R part(const T& x, int p) { return p == 0 ? real_of<R>(x) : imaginary_of<R>(x); }
  [[nodiscard]] double* place(int p, int which) { return numbers_.data() + static_cast<Index>(4 * p + which) * n(); }
  void set(int p, Index i, const exact::impl::Threefold& sum) {
    place(p, 0)[i] = sum.sum;
    place(p, 1)[i] = sum.lost;
    place(p, 2)[i] = sum.rest;
    place(p, 3)[i] = sum.size;
  }
  [[nodiscard]] exact::impl::Threefold get(int p, Index i) {
    exact::impl::Threefold sum;
    sum.sum = place(p, 0)[i];
    sum.lost = place(p, 1)[i];
    sum.rest = place(p, 2)[i];
    sum.size = place(p, 3)[i];
    return sum;
  }
  // Add the products of `factor` with every parts-th number from a[0] on to the sums of part p.
  void add_products(int p, const R* a, R factor) {
    double* const sums = place(p, 0);
    double* const lost = place(p, 1);
    double* const rest = place(p, 2);
    double* const size = place(p, 3);
    // exact::impl::Threefold::add(), on numbers that compilers keep in vectors.
    HEDDLE_SIMD
    for (Index i = 0; i < n(); ++i) {
      double value = static_cast<double>(a[i * parts]);
      double by = static_cast<double>(factor);
      if constexpr (sizeof(R) == 8) {
        exact::two_product(value, by);
        exact::two_sum(sums[i], value);
        exact::two_sum(lost[i], value);
        exact::two_sum(lost[i], by);
        value = exact::rounded_sum(value, by);
      } else {
        value = exact::rounded_product(value, by);
        exact::two_sum(sums[i], value);
        exact::two_sum(lost[i], value);
      }
      rest[i] = exact::rounded_sum(rest[i], value);
      size[i] += std::abs(value);
    }
  }
  [[nodiscard]] R exactly(const T* A, const T* b, const T* x, Index i, int p) const {
    exact::Accumulator<double> sum;
    sum.add(static_cast<double>(part(b[i], p)));
    for (Index k = 0; k < n(); ++k) {
      const T a = A[i + k * n()];
      const auto subtract = [&](R one, R other) {
        sum.subtract_product(static_cast<double>(one), static_cast<double>(other));
      };
      if constexpr (is_complex<T>) {
        if (p == 0) {
          subtract(a.real(), x[k].real());
          subtract(-a.imag(), x[k].imag());
        } else {
          subtract(a.real(), x[k].imag());
          subtract(a.imag(), x[k].real());
        }
      } else {
        subtract(a, x[k]);
      }
    }
    return sum.sign() == 0 ? R(0) : sum.template value<R>();
  }

  Index n_;
  std::vector<double> numbers_;
};

}  // namespace heddle::impl

// Sums of products, each rounded once from its exact value, by one thread.
#pragma once

#include "interpose/exceptions.hpp"
#include "interpose/off_stack.hpp"
#include "interpose/placed_vectors.hpp"
#include "interpose/threads.hpp"
#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>

namespace heddle::impl::interpose {

/// Products side by side, so that vectors of the processor take them.
inline constexpr int lanes = 8;
/// Products that are gathered at once.
inline constexpr Index gathered = 512;
static_assert(gathered % lanes == 0);
/// From so many on their sum is placed.
inline constexpr Index placed_from = 8;

/// Where they are gathered.
struct Gathered {
  double a[gathered];
  double b[gathered];
};

/// Sums side by side as one, from the first on.
template <std::size_t count>
exact::Compensated merged(const double (&sum)[count], const double (&lost)[count], const double (&size)[count]) {
  exact::Compensated all;
  for (std::size_t l = 0; l < count; ++l) {
    exact::Compensated one;
    one.sum = sum[l];
    one.lost = lost[l];
    one.size = size[l];
    all.merge(one);
  }
  return all;
}

/// Adds products that lie side by side; what is behind them, up to a multiple of `lanes`, is set to zeros.
inline void add_gathered(double* a, double* b, Index count, exact::Compensated& all) {
  if (count >= placed_from && has_placed_sums() && add_placed(a, b, count, all)) return;
  double sum[lanes] = {};
  double lost[lanes] = {};
  double size[lanes] = {};
  for (Index k = count; k % lanes != 0; ++k) a[k] = b[k] = 0.0;
  for (Index k = 0; k < count; k += lanes) {
    for (int l = 0; l < lanes; ++l) {
      double value = a[k + l];
      double error = b[k + l];
      exact::two_product(value, error);
      exact::Compensated::add(sum[l], lost[l], size[l], value, error);
    }
  }
  all.merge(merged(sum, lost, size));
}
/// How many terms the sum of n products in pieces of `gathered` counts for.
inline Index gathered_terms(Index n) {
  return n / gathered + 1 + gathered / lanes + 2 * lanes;
}

/// Whether a sum is known as it rounds: one that rounds to zero is not, whose sign would be open, nor one to infinity.
template <RealScalar R> bool is_known(const exact::Compensated& all, Index terms, double underflow, R& result) {
  return all.rounds_to<R>(terms, underflow, result) && std::isfinite(result) && result != R{0};
}

/// The exact sum of n products a b, rounded once to R: gather(first, count, a, b) writes products first ... first +
/// count, each number one of R. Mostly in about two doubles' precision; where that doesn't tell how the sum rounds, in
/// integers.
template <RealScalar R, class Gather> R sum_of_products(Index n, const Gather& gather) {
  const OffStack<Gathered> products;
  double* const a = products->a;
  double* const b = products->b;
  exact::Compensated all;
  for (Index first = 0; first < n; first += gathered) {
    const Index count = std::min(gathered, n - first);
    gather(first, count, a, b);
    add_gathered(a, b, count, all);
  }
  R result{0};
  const double underflow = sizeof(R) == 4 ? 0.0 : exact::Compensated::underflow(n);
  if (is_known(all, gathered_terms(n), underflow, result)) return result;
  exact::Accumulator<R> exactly;
  for (Index first = 0; first < n; first += gathered) {
    const Index count = std::min(gathered, n - first);
    gather(first, count, a, b);
    for (Index k = 0; k < count; ++k) exactly.add_product(static_cast<R>(a[k]), static_cast<R>(b[k]));
  }
  return exactly.value();
}

/// Adds n products of doubles that lie side by side, a term for each placed_at_once. False where one has no place.
inline bool add_long(Index n, const double* x, const double* y, exact::Compensated& all) {
  for (Index first = 0; first < n; first += placed_at_once) {
    if (!add_placed(x + first, y + first, std::min(placed_at_once, n - first), all)) return false;
  }
  return true;
}

/// sum x_k y_k of numbers that lie side by side, rounded once; false where about two doubles' precision doesn't tell
/// how it rounds. By so many threads at the most.
template <RealScalar R> bool contiguous_product(Index n, const R* x, const R* y, R& result, int threads = 1) {
  const double underflow = sizeof(R) == 4 ? 0.0 : exact::Compensated::underflow(n);
  exact::Compensated all;
  if constexpr (sizeof(R) == 8) {
    if (has_placed_sums()) {
      const Index terms = (n + placed_at_once - 1) / placed_at_once;
      if (threads == 1) {
        if (!add_long(n, x, y, all)) return false;
      } else {
        std::mutex mutex;
        bool done = true;
        in_parts(terms, threads, [&](Index begin, Index end) {
          exact::Compensated own;
          const Index first = begin * placed_at_once;
          const bool added = add_long(std::min(n, end * placed_at_once) - first, x + first, y + first, own);
          const std::scoped_lock lock(mutex);
          done = done && added;
          all.merge(own);
        });
        if (!done) return false;
      }
      return is_known(all, terms + threads, underflow, result);
    }
  }
  constexpr Index many = 16;
  double sum[many] = {};
  double lost[many] = {};
  double size[many] = {};
  const auto add = [&](Index k, Index l) {
    double value = static_cast<double>(x[k + l]);
    double error = static_cast<double>(y[k + l]);
    exact::two_product(value, error);
    exact::Compensated::add(sum[l], lost[l], size[l], value, error);
  };
  const Index whole = n / many * many;
  for (Index k = 0; k < whole; k += many) {
    for (Index l = 0; l < many; ++l) add(k, l);
  }
  for (Index l = 0; l < n - whole; ++l) add(whole, l);
  all = merged(sum, lost, size);
  return is_known(all, n / many + 2 * many, underflow, result);
}

/// start - sum_k x(k) y(k) or start + it, each part rounded once; x and y give numbers of T. `start` is not taken where
/// there is none. Exceptions are those of any step.
template <Scalar T, class X, class Y>
T inner_product_by_steps(Index n, const X& x, const Y& y, const T* start = nullptr, bool subtracted = false) {
  using R = Real<T>;
  const double sign = subtracted ? -1.0 : 1.0;
  const Index more = start != nullptr ? 1 : 0;
  if constexpr (is_complex<T>) {
    const auto part = [&](bool imaginary) {
      return sum_of_products<R>(2 * n + more, [&](Index first, Index count, double* a, double* b) {
        for (Index k = 0; k < count; ++k) {
          const Index at = first + k;
          if (at == 2 * n) {
            a[k] = static_cast<double>(imaginary ? start->imag() : start->real());
            b[k] = 1.0;
            continue;
          }
          const T u = x(at / 2);
          const T v = y(at / 2);
          const bool second = at % 2 != 0;
          const double one = static_cast<double>(second ? u.imag() : u.real());
          a[k] = (second && !imaginary ? -sign : sign) * one;
          b[k] = static_cast<double>(second != imaginary ? v.imag() : v.real());
        }
      });
    };
    const R re = part(false);
    return T(re, part(true));
  } else {
    return sum_of_products<R>(n + more, [&](Index first, Index count, double* a, double* b) {
      const Index own = std::min(count, n - first);
      for (Index k = 0; k < own; ++k) {
        a[k] = sign * static_cast<double>(x(first + k));
        b[k] = static_cast<double>(y(first + k));
      }
      if (own < count) {
        a[own] = static_cast<double>(*start);
        b[own] = 1.0;
      }
    });
  }
}

/// The same, with the exceptions of the sum alone.
template <Scalar T, class X, class Y>
T inner_product(Index n, const X& x, const Y& y, const T* start = nullptr, bool subtracted = false) {
  Quiet quiet;
  T sum = inner_product_by_steps<T>(n, x, y, start, subtracted);
  quiet.settle(sum);
  if (!is_finite(sum) || is_tiny(sum)) quiet.raise(exceptions_of_sum<T>(sum, n, x, y, start));
  return sum;
}
/// y = alpha sum_k a(k) x(k) + beta y by finish(), of the sum rounded once.
template <Scalar T, class A, class X>
void multiply_and_finish(const T& alpha, Index n, const A& a, const X& x, const T& beta, T& y) {
  T sum{};
  bool exactly = false;
  {
    Quiet quiet;
    sum = inner_product_by_steps<T>(n, a, x);
    quiet.settle(sum);
    if (!is_finite(sum) || is_tiny(sum)) {
      const int raised = exceptions_of_sum<T>(sum, n, a, x, nullptr);
      exactly = raised != 0 && !may_be_rounded_first(alpha, sum);
      if (!exactly) quiet.raise(raised);
    }
  }
  if (exactly) {
    finish_exactly<T>(alpha, n, a, x, beta, y);
  } else {
    finish(alpha, sum, beta, y);
  }
}

/// x / y in a fixed sequence; of complex numbers with x and y scaled by powers of two (R. L. Smith's purpose, without
/// his branches), so that neither squares overflow nor vanish, nor products lose bits below the normal numbers.
template <Scalar T> T divided(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    using R = Real<T>;
    const R largest = largest_part(y);
    if (!std::isgreater(largest, R{0}) || !std::isfinite(largest)) {
      return T(x.real() / largest, x.imag() / largest);
    }
    Quiet quiet;
    const R size_of_x = largest_part(x);
    constexpr int most = std::numeric_limits<R>::max_exponent - 4;
    const int of_x = size_of_x > R{0} && std::isfinite(size_of_x) ? std::ilogb(size_of_x) : 0;
    const int up = of_x < 0 ? -of_x : of_x > most ? -4 : 0;
    const int exponent = std::ilogb(largest);
    const R c = std::scalbn(y.real(), -exponent);
    const R d = std::scalbn(y.imag(), -exponent);
    const T scaled_x = scaled(x, up);
    const R re = scaled_x.real();
    const R im = scaled_x.imag();
    const R size = std::fma(c, c, d * d);
    T quotient(std::scalbn(std::fma(re, c, im * d) / size, -exponent - up),
               std::scalbn(std::fma(im, c, -(re * d)) / size, -exponent - up));
    quiet.settle(quotient);
    quiet.raise(exceptions_of(quotient, Operands().add(x).add(y)));
    return quotient;
  } else {
    return x / y;
  }
}

}  // namespace heddle::impl::interpose

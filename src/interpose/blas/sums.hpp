// Sums of products, each rounded once from its exact value, by one thread.
#pragma once

#include "interpose/blas/exceptions.hpp"
#include "interpose/blas/off_stack.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/placed/placed_vectors.hpp"
#include "interpose/placed/threefold_vectors.hpp"
#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/expansion.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

namespace heddle::impl::interpose {

/// Products side by side, so that vectors of the processor take them.
inline constexpr int lanes = 8;
/// Numbers that are gathered at once.
inline constexpr Index gathered = 512;
static_assert(gathered % lanes == 0 && gathered <= placed_at_once);
/// From so many on their sum is placed.
inline constexpr Index placed_from = 8;

/// How many sums had to be added up in integers of many digits since the program began, for tests: it is what takes
/// a hundred times as long as a sum in doubles.
inline std::atomic<std::uint64_t> sums_in_integers{0};

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

/// Adds products that lie side by side; the sum becomes a NaN where there is no place for them.
inline void add_side_by_side(const double* a, const double* b, Index count, exact::Compensated& all) {
  if (count >= placed_from && has_placed_sums()) {
    if (!add_placed(a, b, count, all)) all.sum = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  double sum[lanes] = {};
  double lost[lanes] = {};
  double size[lanes] = {};
  const Index whole = count / lanes * lanes;
  const auto add = [&](Index k, Index l) {
    double value = a[k + l];
    double error = b[k + l];
    exact::two_product(value, error);
    exact::Compensated::add(sum[l], lost[l], size[l], value, error);
  };
  for (Index k = 0; k < whole; k += lanes) {
    for (Index l = 0; l < lanes; ++l) add(k, l);
  }
  for (Index l = 0; l < count - whole; ++l) add(whole, l);
  all.merge(merged(sum, lost, size));
}
/// How many terms the sum of n products in pieces of `gathered` or more counts for.
inline Index gathered_terms(Index n) {
  return n / gathered + 1 + placed_at_once / lanes + 2 * lanes;
}

/// Whether a sum is known as it rounds: one that rounds to zero is not, whose sign would be open, nor one to infinity.
template <RealScalar R> bool is_known(const exact::Compensated& all, Index terms, double underflow, R& result) {
  return all.rounds_to<R>(terms, underflow, result) && std::isfinite(result) && result != R{0};
}

/// The double nearest to the sum times 2^-scale, if that is below the normal numbers and known.
inline bool rounds_to_denormal(const exact::impl::Threefold& sum, Index terms, double absolute, int scale,
                               double& result) {
  exact::Compensated all;
  all.sum = sum.sum;
  all.lost = sum.lost;
  all.size = sum.size;
  double high = 0.0;
  double low = 0.0;
  const double off = all.split(terms, absolute + 2.0 * std::abs(sum.rest), high, low);
  // Units of the smallest number; the rest in them is exact.
  const double unit = std::ldexp(1.0, scale - 1074);
  const double units = std::rint(std::ldexp(high, 1074 - scale));
  const double rest = high - units * unit;
  const double most = std::abs(rest + low) + off + 0x1p-52 * std::abs(low);
  if (!(most < 0.5 * unit) || !(std::abs(high) > 2.0 * off)) return false;
  result = std::copysign(std::ldexp(units, -1074), high);
  return true;
}

/// A sum of products times 2^scale rounded once, if it is known how; 0 of any sign.
template <RealScalar R> bool settles(const ThreefoldSum& sum, Index products, int scale, R& result) {
  // Errors of smaller products may have underflowed.
  const double absolute = sizeof(R) == 4 || sum.smallest >= 0x1p-960 ? 0.0 : exact::Compensated::underflow(products);
  const Index terms = products + 8;
  if constexpr (sizeof(R) == 8) {
    if (scale != 0) {
      const auto is_small = [&](double x) { return x != 0.0 && std::ilogb(x) - scale < -1021; };
      if (is_small(sum.sum.sum + sum.sum.lost)) return rounds_to_denormal(sum.sum, terms, absolute, scale, result);
      if (!sum.sum.rounds_to<R>(terms, absolute, result) || is_small(result)) return false;
      result = std::ldexp(result, -scale);
      return true;
    }
  }
  return sum.sum.rounds_to<R>(terms, absolute, result);
}

/// Powers of two by which products are kept in the range of doubles.
struct Scales {
  double a = 1.0;
  double b = 1.0;
  int both = 0;  ///< Their exponents' sum.
  bool exact = true;

  explicit Scales(const Surveyed& all) {
    const double most = all.largest_a * all.largest_b;
    if (most == 0.0 && (all.largest_a == 0.0 || all.largest_b == 0.0)) return;
    if (most < 0x1p900 && most > 0x1p-600) return;
    const auto towards_middle = [&](double largest, double smallest) {
      const int e = std::clamp(440 - std::ilogb(largest), -1000, 1000);
      // Small numbers are not to lose digits.
      if (e < 0 && std::ilogb(smallest) + e < -960) exact = false;
      both += e;
      return std::ldexp(1.0, e);
    };
    a = towards_middle(all.largest_a, all.smallest_a);
    b = towards_middle(all.largest_b, all.smallest_b);
  }
};

/// Numbers that are gathered, or `scaled` ones, of one thread; not on its stack, which may be small.
template <int parts> struct Gathered {
  double a[gathered];
  double b[parts][gathered];
};
template <int parts, bool scaled = false> Gathered<parts>& gathered_numbers() {
  thread_local const auto the = std::make_unique_for_overwrite<Gathered<parts>>();
  return *the;
}

/// The sum of scaled products, if about two doubles' precision tells it.
template <RealScalar R, class Pieces>
bool scaled_sum(Index n, Index piece, const Scales& scales, const Pieces& pieces, R& result) {
  if (!has_placed_sums()) return false;
  auto& scaled = gathered_numbers<1, true>();
  exact::Compensated all;
  for (Index first = 0; first < n; first += piece) {
    const Index wanted = std::min(piece, n - first);
    const auto [a, b] = pieces(first, wanted);
    for (Index begin = 0; begin < wanted; begin += gathered) {
      const Index count = std::min(gathered, wanted - begin);
      for (Index k = 0; k < count; ++k) {
        scaled.a[k] = a[begin + k] * scales.a;
        scaled.b[0][k] = b[begin + k] * scales.b;
      }
      add_side_by_side(scaled.a, scaled.b[0], count, all);
    }
  }
  if (!std::isfinite(all.sum)) return false;
  ThreefoldSum sum;
  sum.sum.sum = all.sum;
  sum.sum.lost = all.lost;
  sum.sum.size = all.size;
  sum.smallest = 0.0;
  return settles(sum, n + gathered_terms(n), scales.both, result);
}

/// The exact sum of n products, rounded once to R, which about two doubles' precision doesn't tell: pieces(first,
/// count) gives where they lie, up to `piece` at a time. Sums with NaN or infinity are those of IEEE 754 in any order;
/// of the others most are known in three doubles' precision, away from underflow and overflow, and the rest are taken
/// to integers.
template <RealScalar R, class Pieces> [[gnu::noinline]] R settled_sum(Index n, Index piece, const Pieces& pieces) {
  Surveyed all = {};
  all.smallest_a = all.smallest_b = std::numeric_limits<double>::infinity();
  for (Index first = 0; first < n; first += piece) {
    const Index count = std::min(piece, n - first);
    const auto [a, b] = pieces(first, count);
    const Surveyed own = survey(a, b, count);
    all.special += own.special;
    all.largest_a = std::max(all.largest_a, own.largest_a);
    all.largest_b = std::max(all.largest_b, own.largest_b);
    all.smallest_a = std::min(all.smallest_a, own.smallest_a);
    all.smallest_b = std::min(all.smallest_b, own.smallest_b);
  }
  if (std::isnan(all.special)) return std::numeric_limits<R>::quiet_NaN();
  if (all.special != 0.0) return static_cast<R>(all.special);
  const Scales scales(all);
  if (scales.exact) {
    if (R result{0}; scales.both != 0 && scaled_sum(n, piece, scales, pieces, result)) return result;
    ThreefoldSum sum;
    for (Index first = 0; first < n; first += piece) {
      const Index count = std::min(piece, n - first);
      const auto [a, b] = pieces(first, count);
      add_threefold(a, b, count, scales.a, scales.b, sum);
    }
    R result{0};
    if (n > 0 && settles(sum, n, scales.both, result)) return result;
  }
  sums_in_integers.fetch_add(1, std::memory_order_relaxed);
  const OffStack<exact::Accumulator<R>> exactly(std::in_place);
  for (Index first = 0; first < n; first += piece) {
    const Index count = std::min(piece, n - first);
    const auto [a, b] = pieces(first, count);
    for (Index k = 0; k < count; ++k) exactly->add_product(static_cast<R>(a[k]), static_cast<R>(b[k]));
  }
  return std::move(*exactly).value();
}

/// Location of products.
struct Factors {
  const double* a;
  const double* b;
};

/// The exact sum of n products a_k b_k of numbers of R that lie side by side, rounded once.
template <RealScalar R> R rounded_sum_of(Index n, const double* a, const double* b) {
  exact::Compensated all;
  for (Index first = 0; first < n; first += placed_at_once) {
    add_side_by_side(a + first, b + first, std::min(placed_at_once, n - first), all);
  }
  R result{0};
  const double underflow = sizeof(R) == 4 ? 0.0 : exact::Compensated::underflow(n);
  if (is_known(all, gathered_terms(n), underflow, result)) return result;
  return settled_sum<R>(n, n, [&](Index, Index) { return Factors{a, b}; });
}

/// The exact sums of n products a b, one for each part, rounded once to R: gather(first, count, all) writes products
/// first ... first + count to `all`, each number one of R, and choose(p) makes them those of part p. Mostly in about
/// two doubles' precision.
template <RealScalar R, int parts, class Gather, class Choose>
void sums_of_products(Index n, const Gather& gather, const Choose& choose, R (&result)[parts]) {
  Gathered<parts>& numbers = gathered_numbers<parts>();
  exact::Compensated all[parts];
  const auto take = [&](Index first, Index count) {
    gather(first, count, numbers);
    return count;
  };
  for (Index first = 0; first < n; first += gathered) {
    const Index count = take(first, std::min(gathered, n - first));
    for (int p = 0; p < parts; ++p) {
      choose(p, first, count, numbers);
      add_side_by_side(numbers.a, numbers.b[p], count, all[p]);
    }
  }
  const double underflow = sizeof(R) == 4 ? 0.0 : exact::Compensated::underflow(n);
  for (int p = 0; p < parts; ++p) {
    if (is_known(all[p], gathered_terms(n), underflow, result[p])) continue;
    result[p] = settled_sum<R>(n, gathered, [&](Index first, Index count) {
      if (n > gathered) take(first, count);
      choose(p, first, count, numbers);
      return Factors{numbers.a, numbers.b[p]};
    });
  }
}
/// The same of one part.
template <RealScalar R, class Gather> R sum_of_products(Index n, const Gather& gather) {
  R result[1];
  sums_of_products<R, 1>(
      n, [&](Index first, Index count, Gathered<1>& to) { gather(first, count, to.a, to.b[0]); },
      [](int, Index, Index, Gathered<1>&) {}, result);
  return result[0];
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
    // Two products for each, real parts first; of the start each part is beside a -0, which changes nothing.
    R part[2];
    sums_of_products<R, 2>(
        2 * (n + more),
        [&](Index first, Index count, Gathered<2>& to) {
          const Index begin = first / 2;
          const Index own = std::min(count / 2, n - begin);
          for (Index k = 0; k < own; ++k) {
            const T u = x(begin + k);
            const T v = y(begin + k);
            const double re = sign * static_cast<double>(v.real());
            const double im = sign * static_cast<double>(v.imag());
            to.a[2 * k] = static_cast<double>(u.real());
            to.a[2 * k + 1] = static_cast<double>(u.imag());
            to.b[0][2 * k] = re;
            to.b[0][2 * k + 1] = -im;
            to.b[1][2 * k] = im;
            to.b[1][2 * k + 1] = re;
          }
          if (2 * own < count) {
            for (int p = 0; p < 2; ++p) to.b[p][2 * own] = to.b[p][2 * own + 1] = 1.0;
          }
        },
        [&](int p, Index first, Index count, Gathered<2>& numbers) {
          const Index own = 2 * (n - first / 2);
          if (own >= count) return;
          numbers.a[own] = p == 0 ? static_cast<double>(start->real()) : -0.0;
          numbers.a[own + 1] = p == 1 ? static_cast<double>(start->imag()) : -0.0;
        },
        part);
    return T(part[0], part[1]);
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

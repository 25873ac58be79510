// Distributed matrices: redistribution, gathering, complex parts, sums, multiples, traces and norms.
#include "hunt/operations.hpp"
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>

namespace heddle::hunt {
namespace {

void draw_matrices(Random& random, Case& one) {
  const Index m = random.extent(30);
  const bool square = random.one_in(2);
  const Index n = square ? m : random.extent(30);
  for (const char* const name : {"A", "B"}) {
    Array& X = one.add(name, 'm', m, square ? 'm' : 'n', n);
    fill_hard(random, one.type, X);
    if (random.one_in(6)) sprinkle(random, one.type, X);
  }
  Array& alpha = one.add("alpha", '1', 1);
  fill_hard(random, one.type, alpha);
  one.add_knob("place A", random.below(100));
  one.add_knob("place B", random.below(100));
}

template <Scalar T> HostMatrix<T> on_root(const World& world, const Array& array) {
  return world.root() ? host_of<T>(array) : HostMatrix<T>();
}

template <Scalar T> void run_moves(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto B = distributed<T>(world.all, given.rows, given.columns, one.knob("place B"));
  redistribute(A, B);
  const auto expected = on_root<T>(world, given);
  const auto moved = gather(B, 0);
  verdict.holds("redistribute moves all bits", test::same_bits(moved, expected), difference(moved, expected));
  const int last = world.all.size() - 1;
  const auto elsewhere = gather(B, last);
  if (world.all.rank() == last) {
    verdict.holds("gather to the last rank", test::same_bits(elsewhere, host_of<T>(given)));
  }
  if constexpr (is_complex<T>) {
    const auto parts = split(A);
    join(parts, B);
    const auto joined = gather(B, 0);
    verdict.holds("split and join move all bits", test::same_bits(joined, expected), difference(joined, expected));
  }
}

// Return a bound on |error| of a sum of `terms` numbers of one sign in any order, each with `own` roundings.
template <Scalar T> double sum_bound(Index terms, double own, double size) {
  return 1.01 * (static_cast<double>(terms) + own) * static_cast<double>(unit_roundoff<T>) * size;
}

template <Scalar T> void run_norms(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  using R = Real<T>;
  Wide::bits = 4500;
  const WideMatrix X(given);
  Wide columns;
  Wide rows;
  Wide squares;
  Wide largest;
  WideComplex trace_of;
  Wide trace_size;
  for (Index j = 0; j < given.columns; ++j) {
    Wide sum;
    for (Index i = 0; i < given.rows; ++i) {
      const Wide size = X.at(i, j).absolute();
      sum += size;
      squares += X.at(i, j).square();
      if (largest < size) largest = size;
    }
    if (columns < sum) columns = sum;
    if (j < given.rows) trace_of.re += X.at(j, j).re, trace_of.im += X.at(j, j).im, trace_size += X.at(j, j).absolute();
  }
  for (Index i = 0; i < given.rows; ++i) {
    Wide sum;
    for (Index j = 0; j < given.columns; ++j) sum += X.at(i, j).absolute();
    if (rows < sum) rows = sum;
  }
  const Index all = given.rows * given.columns;
  const double most = static_cast<double>(std::numeric_limits<R>::max());
  const double smallest = static_cast<double>(std::numeric_limits<R>::denorm_min());
  const auto judged = [&](const char* name, Norm kind, const Wide& truth, Index terms) {
    const R found = norm(A, kind);
    bool nan = false;
    bool infinite = false;
    for (const Value& x : given.values) {
      // The modulus of a number with an infinite part is infinite, whatever the other part is.
      nan = nan || std::isnan(std::abs(x));
      infinite = infinite || std::isinf(x.real()) || std::isinf(x.imag());
    }
    const std::string text = "found " + shown(static_cast<double>(found)) + ", expected " + shown(truth.to_double());
    if (nan) {
      verdict.holds(std::string(name) + ": NaN anywhere gives NaN", std::isnan(found), text);
    } else if (infinite) {
      verdict.holds(std::string(name) + ": infinite", std::isinf(found), text);
    } else if (truth.to_double() < most * (1 - 1e-5)) {
      // hypot gives |x| of complex x within 2 units.
      verdict.within(
          name, std::abs(static_cast<double>(found) - truth.to_double()),
          sum_bound<T>(terms, is_complex<T> ? 4 : 2, truth.to_double()) + static_cast<double>(terms) * smallest, text);
    }
  };
  judged("norm one", Norm::one, columns, given.rows);
  judged("norm infinity", Norm::infinity, rows, given.columns);
  judged("norm frobenius", Norm::frobenius, squares.root(), all);
  judged("norm maximum", Norm::maximum, largest, 1);
  if (given.rows == given.columns) {
    const T found = trace(A);
    const Wide off = (WideComplex(test::widen(found)) - trace_of).absolute();
    if (trace_size.is_number() && trace_size.to_double() < most / 2) {
      verdict.within("trace", off.to_double(), sum_bound<T>(given.rows, 1, trace_size.to_double()),
                     "found " + shown(test::widen(found)));
    }
  }
}

template <Scalar T> void run_updates(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const T alpha = test::narrow<T>(one.array("alpha").values[0]);
  const auto expected_a = host_of<T>(given);
  const auto expected_b = host_of<T>(one.array("B"));
  const auto judged = [&](const std::string& property, const DistributedMatrix<T>& found, const auto& expected) {
    const auto host = gather(found, 0);
    for (std::size_t j = 0; j < host.extent(1); ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i) {
        const auto [value, terms] = expected(i, j);
        const double size = terms;
        if (!is_finite(value) || !(size < static_cast<double>(std::numeric_limits<Real<T>>::max()) / 4)) continue;
        const Value off = test::widen(host(i, j)) - test::widen(value);
        verdict.within(property, std::abs(off),
                       8 * static_cast<double>(unit_roundoff<T>) * size +
                           4 * static_cast<double>(std::numeric_limits<Real<T>>::denorm_min()),
                       told<T>(static_cast<Index>(i), static_cast<Index>(j), host(i, j), value));
      }
    }
  };
  const auto size = [](const T& x) { return std::abs(test::widen(x)); };
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto B = distributed<T>(world.all, one.array("B"), one.knob("place A"));
  add<T>(alpha, A, B);
  judged("add", B, [&](std::size_t i, std::size_t j) {
    const T value = alpha * expected_a(i, j) + expected_b(i, j);
    return std::pair(value, size(alpha) * size(expected_a(i, j)) + size(expected_b(i, j)));
  });
  copy(A, B);
  verdict.holds("copy", test::same_bits(gather(A, 0), gather(B, 0)));
  scale<T>(alpha, B);
  judged("scale", B, [&](std::size_t i, std::size_t j) {
    return std::pair(T(alpha * expected_a(i, j)), size(alpha) * size(expected_a(i, j)));
  });
  if (given.rows == given.columns) {
    add_identity<T>(alpha, A);
    judged("add identity", A, [&](std::size_t i, std::size_t j) {
      const T value = i == j ? expected_a(i, j) + alpha : expected_a(i, j);
      return std::pair(value, size(expected_a(i, j)) + (i == j ? size(alpha) : 0.0));
    });
  }
}

template <Scalar T> void run_all(const World& world, const Case& one, Verdict& verdict) {
  run_moves<T>(world, one, verdict);
  run_norms<T>(world, one, verdict);
  run_updates<T>(world, one, verdict);
}

}  // namespace

void draw_redistribute(Random& random, Case& one) {
  draw_matrices(random, one);
}
HEDDLE_HUNT_RUN(redistribute, run_all)

}  // namespace heddle::hunt

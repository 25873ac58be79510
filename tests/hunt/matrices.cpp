// Square matrices that functions of matrices and eigensolvers find hard.
#include "hunt/matrices.hpp"

#include <algorithm>
#include <limits>

namespace heddle::hunt {

Value entry(Random& random, Type type) {
  const double re = random.unit();
  return {re, is_complex_type(type) ? random.unit() : 0.0};
}
void round_to(Type type, Array& A) {
  for (Value& x : A.values) x = in_type(x, type);
}
void fill_random(Random& random, Type type, Array& A) {
  for (Value& x : A.values) x = entry(random, type);
}

namespace {

// Return 10^e with e from [least, most], within the type's range.
double power(Random& random, Type type, double least, double most) {
  const double limit = range_of(type).digits == 24 ? 36.0 : 300.0;
  const double e = least + (most - least) * 0.5 * (random.unit() + 1.0);
  return std::pow(10.0, std::clamp(e, -limit, limit));
}
double largest_element(const Array& A) {
  double largest = 0;
  for (const Value& x : A.values) largest = std::max({largest, std::abs(x.real()), std::abs(x.imag())});
  return largest;
}
// Scale A to D A D^-1 (or D A D) with D of powers of two.
void grade(Random& random, Type type, Array& A, double decades, bool similar) {
  std::vector<int> d(static_cast<std::size_t>(A.rows));
  const bool sorted = random.one_in(2);
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double share = sorted && d.size() > 1 ? static_cast<double>(i) / static_cast<double>(d.size() - 1)
                                                : 0.5 * (random.unit() + 1.0);
    d[i] = static_cast<int>(std::lround(share * decades * 3.32));
  }
  const int limit = range_of(type).largest - 2;
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      const int e = d[static_cast<std::size_t>(i)] + (similar ? -1 : 1) * d[static_cast<std::size_t>(j)];
      const int held = similar ? std::clamp(e, -limit, limit) : e;
      A.at(i, j) = Value(std::ldexp(A.at(i, j).real(), held), std::ldexp(A.at(i, j).imag(), held));
    }
  }
}

// Kinds of matrices for fill_general(), each with the magnitude of its large elements.
void shift_like(Random& random, Type type, Array& A, bool closed) {
  const Index n = A.rows;
  const double above = power(random, type, -6, 12);
  for (Index i = 0; i + 1 < n; ++i) A.at(i, i + 1) = entry(random, type) + above;
  if (closed && n > 1) A.at(n - 1, 0) = random.one_in(2) ? 1.0 / above : power(random, type, -20, 0);
}
void chain(Random& random, Type type, Array& A) {
  shift_like(random, type, A, false);
  const Value diagonal = is_complex_type(type) ? Value(0, -0.1) : Value(-0.1, 0);
  for (Index i = 0; i < A.rows; ++i) A.at(i, i) = diagonal * static_cast<double>(random.between(0, 3));
}
void companion(Random& random, Type type, Array& A) {
  const Index n = A.rows;
  for (Index i = 0; i + 1 < n; ++i) A.at(i + 1, i) = 1.0;
  for (Index i = 0; i < n; ++i) A.at(i, n - 1) = entry(random, type) * power(random, type, -3, 4);
}
void kahan(Random& random, Array& A) {
  const double angle = 0.2 + 1.2 * std::abs(random.unit());
  double s = 1.0;
  for (Index i = 0; i < A.rows; ++i, s *= std::sin(angle)) {
    A.at(i, i) = s;
    for (Index j = i + 1; j < A.columns; ++j) A.at(i, j) = -s * std::cos(angle);
  }
}
void triangular(Random& random, Type type, Array& A) {
  const double above = power(random, type, -3, 9);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i <= j; ++i) A.at(i, j) = entry(random, type) * (i == j ? 4.0 : above);
  }
  if (random.one_in(2)) {
    for (Index i = 0; i < A.rows; ++i) A.at(i, i) = random.one_in(2) ? Value(1.0) : Value(1.0 + 1e-8 * random.unit());
  }
  if (random.one_in(2)) {
    for (Index j = 0; j < A.columns; ++j) {
      for (Index i = 0; i < j; ++i) std::swap(A.at(i, j), A.at(j, i));
    }
  }
}
void cyclic_of_blocks(Random& random, Type type, Array& A) {
  for (Index i = 0; i + 1 < A.rows; i += 2) {
    const double x = power(random, type, -18, 18);
    A.at(i, i + 1) = x;
    A.at(i + 1, i) = (random.one_in(2) ? 1.0 : -1.0) / x;
  }
}
void nilpotent(Random& random, Type type, Array& A) {
  const double size = power(random, type, 0, 6);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < j; ++i) A.at(i, j) = random.one_in(2) ? entry(random, type) * size : Value(0.0);
  }
}
void circulant(Random& random, Type type, Array& A) {
  std::vector<Value> c(static_cast<std::size_t>(A.rows));
  for (Value& x : c) x = entry(random, type);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) A.at(i, j) = c[static_cast<std::size_t>((i - j + A.rows) % A.rows)];
  }
}
void near_defective(Random& random, Type type, Array& A) {
  for (Index i = 0; i < A.rows; ++i) A.at(i, i) = 1.0;
  for (Index i = 0; i + 1 < A.rows; ++i) A.at(i, i + 1) = 1.0;
  if (A.rows > 1) A.at(A.rows - 1, 0) = power(random, type, -20, -1);
}
void scale_to(Random& random, Type type, Array& A, double largest) {
  const double size = largest_element(A);
  if (size == 0 || !std::isfinite(size)) return;
  double wanted = 0;
  switch (random.below(6)) {
    case 0:
      return;  // as it is
    case 1:
      wanted = power(random, type, -300, -3);
      break;
    case 2:
      wanted = largest * 0.5 * (random.unit() + 1.0);
      break;
    default:
      wanted = power(random, type, -3, std::log10(largest));
  }
  const int shift = std::ilogb(wanted) - std::ilogb(size);
  for (Value& x : A.values) x = Value(std::ldexp(x.real(), shift), std::ldexp(x.imag(), shift));
}
void make_mirrored(Array& A, bool skew) {
  for (Index j = 0; j < A.columns; ++j) {
    A.at(j, j) = skew ? Value(0.0, A.at(j, j).imag()) : Value(A.at(j, j).real(), 0.0);
    for (Index i = 0; i < j; ++i) A.at(j, i) = skew ? -std::conj(A.at(i, j)) : std::conj(A.at(i, j));
  }
  A.mirror = skew ? Mirror::skew : Mirror::hermitian;
}

}  // namespace

void fill_general(Random& random, Type type, Array& A, double largest) {
  if (A.rows == 0) return;
  const long kind = random.below(16);
  switch (kind) {
    case 0:
      shift_like(random, type, A, true);
      break;
    case 1:
      chain(random, type, A);
      break;
    case 2:
      companion(random, type, A);
      break;
    case 3:
      kahan(random, A);
      break;
    case 4:
      triangular(random, type, A);
      break;
    case 5:
      cyclic_of_blocks(random, type, A);
      break;
    case 6:
      nilpotent(random, type, A);
      break;
    case 7:
      circulant(random, type, A);
      break;
    case 8:
      near_defective(random, type, A);
      break;
    case 9:
      fill_random(random, type, A);
      grade(random, type, A, random.any_of(6.0, 30.0, 120.0), true);
      break;
    case 10:
      for (Index i = 0; i < A.rows; ++i) A.at(i, i) = entry(random, type) * (random.one_in(3) ? 100.0 : 1.0);
      if (A.rows > 2 && random.one_in(2)) A.at(0, 2) = entry(random, type);
      break;
    case 11:
      fill_mood(random, type, A, random.any_of(Mood::integers, Mood::sparse, Mood::powers));
      break;
    default:
      fill_random(random, type, A);
  }
  // Graded matrices keep their norm, which is the point of them.
  if (kind != 0 && kind != 5 && kind != 9) scale_to(random, type, A, largest);
  round_to(type, A);
  if (kind >= 12 && kind <= 13) make_mirrored(A, kind == 13);
}

namespace {

// Fill A with Q diag(values) Q^H by reflections, with ordinary rounding.
void with_spectrum(Random& random, Type type, Array& A, const std::vector<double>& values) {
  const Index n = A.rows;
  for (Index i = 0; i < n; ++i) A.at(i, i) = values[static_cast<std::size_t>(i)];
  for (int reflection = 0; reflection < 2; ++reflection) {
    std::vector<Value> v(static_cast<std::size_t>(n));
    double square = 0;
    for (Value& x : v) {
      x = entry(random, type);
      square += std::norm(x);
    }
    for (const bool rows : {true, false}) {
      for (Index j = 0; j < n; ++j) {
        Value inner = 0.0;
        for (Index i = 0; i < n; ++i) {
          const Value x = v[static_cast<std::size_t>(i)];
          inner += rows ? std::conj(x) * A.at(i, j) : A.at(j, i) * x;
        }
        inner *= square > 0 ? 2 / square : 0.0;
        for (Index i = 0; i < n; ++i) {
          const Value x = v[static_cast<std::size_t>(i)];
          (rows ? A.at(i, j) : A.at(j, i)) -= inner * (rows ? x : std::conj(x));
        }
      }
    }
  }
}
std::vector<double> hard_spectrum(Random& random, Type type, Index n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  const long kind = random.below(5);
  const double small = power(random, type, -16, -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double sign = kind == 4 && random.one_in(2) ? -1.0 : 1.0;
    values[i] = kind == 0   ? (i == 0 ? 1.0 : small)
                : kind == 1 ? 1.0 + small * static_cast<double>(i)
                : kind == 2 ? static_cast<double>(random.between(-2, 2))
                : kind == 3 ? std::pow(small, static_cast<double>(i) / static_cast<double>(n))
                            : sign * (1.0 + small * random.unit());
  }
  return values;
}
// Fill A with D (I + E) D, on which eigensolvers can reach relative accuracy.
void graded_definite(Random& random, Type type, Array& A) {
  fill_random(random, type, A);
  const double coupling = random.any_of(0.9, 0.3, 0.01, 1e-6) / static_cast<double>(A.rows);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) A.at(i, j) = i == j ? Value(1.0) : A.at(i, j) * coupling;
  }
  const bool wide = !random.one_in(3);
  const double range = range_of(type).digits == 24 ? 37.0 : 300.0;
  grade(random, type, A, (wide ? 0.5 * range : 5.0) * 0.5 * (random.unit() + 1.0), false);
  const double size = largest_element(A);
  // Scale anywhere in the range, with the largest element below its end.
  const int top = random.any_of(range_of(type).largest - 2, 0, std::ilogb(size) / 2, std::ilogb(size));
  const int shift = top - std::ilogb(size);
  for (Value& x : A.values) x = Value(std::ldexp(x.real(), shift), std::ldexp(x.imag(), shift));
}

}  // namespace

void fill_hermitian(Random& random, Type type, Array& A) {
  const Index n = A.rows;
  if (n == 0) {
    A.mirror = Mirror::hermitian;
    return;
  }
  switch (random.below(9)) {
    case 0:
    case 1:
      graded_definite(random, type, A);
      break;
    case 2:
      with_spectrum(random, type, A, hard_spectrum(random, type, n));
      scale_to(random, type, A, 1e3);
      break;
    case 3:
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) A.at(i, j) = 1.0 / static_cast<double>(i + j + 1);
      }
      break;
    case 4:
      for (Index i = 0; i < n; ++i) A.at(i, i) = std::abs(static_cast<double>(2 * i + 1 - n)) / 2;
      for (Index i = 0; i + 1 < n; ++i) A.at(i, i + 1) = power(random, type, -20, 2);
      break;
    case 5:
      for (Index i = 0; i < n; ++i) A.at(0, i) = entry(random, type) * power(random, type, -12, 12);
      for (Index i = 1; i < n; ++i) A.at(i, i) = static_cast<double>(random.between(-2, 2));
      break;
    case 6:
      fill_mood(random, type, A, static_cast<Mood>(random.below(moods)));
      break;
    case 7:
      for (Index i = 0; i < n; ++i) A.at(i, i) = static_cast<double>(random.between(0, 3));
      if (n > 1) A.at(0, n - 1) = power(random, type, -300, 0);
      break;
    default:
      fill_random(random, type, A);
      scale_to(random, type, A, 1e3);
      if (random.one_in(3)) grade(random, type, A, 10.0, false);
  }
  round_to(type, A);
  make_mirrored(A, false);
}

void fill_hermitian_parts(Random& random, Type type, Array& A) {
  std::vector<Index> order(static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto j = static_cast<std::size_t>(random.below(static_cast<long>(i) + 1));
    order[i] = order[j];
    order[j] = static_cast<Index>(i);
  }
  const bool definite = random.one_in(2);
  Array part;
  for (Index first = 0; first < A.rows;) {
    const Index left = A.rows - first;
    if (part.rows == 0 || part.rows > left || !random.one_in(3)) {
      const Index n = std::min<Index>(left, random.between(1, 5));
      part = Array{.name = A.name, .rows = n, .columns = n, .values = std::vector<Value>(n * n)};
      if (definite) {
        graded_definite(random, type, part);
        round_to(type, part);
        make_mirrored(part, false);
      } else {
        fill_hermitian(random, type, part);
      }
    }
    for (Index j = 0; j < part.rows; ++j) {
      for (Index i = 0; i < part.rows; ++i) {
        A.at(order[static_cast<std::size_t>(first + i)], order[static_cast<std::size_t>(first + j)]) = part.at(i, j);
      }
    }
    first += part.rows;
  }
  A.mirror = Mirror::hermitian;
}

void fill_rectangle(Random& random, Type type, Array& A) {
  if (A.values.empty()) return;
  const Index m = A.rows;
  const Index n = A.columns;
  const bool by_rows = random.one_in(2);
  const long few = random.between(1, 3);
  const long kind = random.below(8);
  fill_random(random, type, A);
  switch (kind) {
    case 0:
      fill_hard(random, type, A);
      return;
    case 1:
      if (m == n) fill_general(random, type, A, 1e3);
      break;
    case 2:
    case 3: {
      const double decades = (random.one_in(2) ? 0.9 : 0.1) * (range_of(type).digits == 24 ? 37.0 : 300.0);
      std::vector<double> factors(static_cast<std::size_t>(by_rows ? m : n));
      for (double& factor : factors) factor = power(random, type, -decades, 0);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) A.at(i, j) *= factors[static_cast<std::size_t>(by_rows ? i : j)];
      }
      break;
    }
    case 4:
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i)
          A.at(i, j) = by_rows ? A.at(i % std::min<Index>(m, few), j) : A.at(i, j % std::min<Index>(n, few));
      }
      break;
    case 5: {
      const Array first = A;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) A.at(i, j) = first.at(i, 0) * first.at(0, j);
      }
      break;
    }
    case 6:
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i)
          A.at(i, j) = (i + few) % std::max(m, n) == j ? (random.one_in(2) ? -1.0 : 1.0) : 0.0;
      }
      break;
    default:
      break;
  }
  // Scale anywhere in the range; most matrices are left as they are.
  const double size = largest_element(A);
  if (size > 0 && random.one_in(3)) {
    const int top = random.any_of(range_of(type).largest - 2, range_of(type).normal, 0);
    const int shift = top - std::ilogb(size);
    for (Value& x : A.values) x = Value(std::ldexp(x.real(), shift), std::ldexp(x.imag(), shift));
  }
  round_to(type, A);
}

}  // namespace heddle::hunt

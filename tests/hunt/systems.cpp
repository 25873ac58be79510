// Linear systems that eliminations find hard.
#include "hunt/systems.hpp"

#include "hunt/matrices.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::hunt {
namespace {

Value whole(Random& random, Type type, long most) {
  const auto re = static_cast<double>(random.between(-most, most));
  return {re, is_complex_type(type) ? static_cast<double>(random.between(-most, most)) : 0.0};
}
// Return a number that divides others exactly; the squared modulus of a complex one is a power of two.
Value divisor(Random& random, Type type) {
  const double sign = random.one_in(2) ? -1.0 : 1.0;
  if (is_complex_type(type)) {
    return sign * random.any_of(Value(1, 0), Value(0, 1), Value(1, 1), Value(1, -1), Value(2, 0), Value(0, 4));
  }
  return sign * static_cast<double>(random.between(1, 3));
}
// Fill A with L U of small integers for which partial pivoting keeps the rows in place: |l_ij| <= 1.
void exact_product(Random& random, Type type, Array& A) {
  const Index steps = std::min(A.rows, A.columns);
  const bool sparse = random.one_in(2);
  Array L = A;
  Array U = A;
  const bool singular = random.one_in(2);
  for (Index k = 0; k < steps; ++k) {
    for (Index i = k + 1; i < A.rows; ++i) {
      L.at(i, k) = sparse && !random.one_in(4) ? 0.0 : static_cast<double>(random.between(-1, 1));
    }
    for (Index j = k + 1; j < A.columns; ++j) {
      U.at(k, j) = sparse && !random.one_in(4) ? Value(0.0) : whole(random, type, 2);
    }
    U.at(k, k) = singular && random.one_in(4) ? Value(0.0) : divisor(random, type);
    L.at(k, k) = 1.0;
  }
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      Value sum = 0.0;
      for (Index k = 0; k <= std::min({i, j, steps - 1}); ++k) sum += L.at(i, k) * U.at(k, j);
      A.at(i, j) = sum;
    }
  }
}
// Fill A with a matrix of low rank, or close to it.
void low_rank(Random& random, Type type, Array& A) {
  const Index rank = random.between(1, std::max<long>(1, std::min(A.rows, A.columns) - 1));
  const double off = random.one_in(3) ? 0.0 : std::ldexp(1.0, -static_cast<int>(random.between(5, 60)));
  const bool exact = random.one_in(2);
  std::vector<Value> left(static_cast<std::size_t>(A.rows * rank));
  std::vector<Value> right(static_cast<std::size_t>(A.columns * rank));
  for (Value& x : left) x = exact ? whole(random, type, 3) : entry(random, type);
  for (Value& x : right) x = exact ? whole(random, type, 3) : entry(random, type);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      Value sum = off * entry(random, type);
      for (Index k = 0; k < rank; ++k) {
        sum += left[static_cast<std::size_t>(i * rank + k)] * right[static_cast<std::size_t>(j * rank + k)];
      }
      A.at(i, j) = sum;
    }
  }
}
void hilbert_or_vandermonde(Random& random, Array& A) {
  const bool hilbert = random.one_in(2);
  for (Index i = 0; i < A.rows; ++i) {
    const double node = static_cast<double>(i + 1) / static_cast<double>(A.rows);
    for (Index j = 0; j < A.columns; ++j) {
      A.at(i, j) = hilbert ? 1.0 / static_cast<double>(i + j + 1) : std::pow(node, static_cast<double>(j));
    }
  }
}
// Fill A with Wilkinson's matrix (1961), whose last column doubles in each step.
void growing(Array& A) {
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      A.at(i, j) = i == j || j == A.columns - 1 ? 1.0 : i > j ? -1.0 : 0.0;
    }
  }
}
// Fill A with 1, -1 and, if complex, i and -i, so that pivots are equal.
void ties(Random& random, Type type, Array& A) {
  for (Value& x : A.values) {
    const double sign = random.one_in(2) ? -1.0 : 1.0;
    x = is_complex_type(type) && random.one_in(2) ? Value(0, sign) : Value(sign, 0);
  }
}
void repeat(Random& random, Array& A) {
  const bool rows = random.one_in(2);
  const Index count = rows ? A.rows : A.columns;
  for (long times = random.between(1, 3); times > 0 && count > 1; --times) {
    const Index from = random.below(count);
    const Index to = random.below(count);
    const double factor = random.any_of(1.0, -1.0, 2.0, 0.0);
    for (Index k = 0; k < (rows ? A.columns : A.rows); ++k) {
      (rows ? A.at(to, k) : A.at(k, to)) = factor * (rows ? A.at(from, k) : A.at(k, from));
    }
  }
}
void mirror(Array& A) {
  for (Index j = 0; j < A.columns; ++j) {
    A.at(j, j) = Value(A.at(j, j).real(), 0.0);
    for (Index i = 0; i < j; ++i) A.at(j, i) = std::conj(A.at(i, j));
  }
  A.mirror = Mirror::hermitian;
}
int largest_power(Type type) {
  return range_of(type).digits == 24 ? 40 : 300;
}

}  // namespace

void scale_by_powers(Random& random, Type type, Array& A, int most, bool alike) {
  const auto powers = [&](Index count) {
    std::vector<int> result(static_cast<std::size_t>(count));
    const bool sorted = random.one_in(3);
    for (std::size_t k = 0; k < result.size(); ++k) {
      const auto share = static_cast<double>(k) / static_cast<double>(std::max<std::size_t>(result.size() - 1, 1));
      result[k] = sorted ? static_cast<int>(std::lround((2 * share - 1) * most))
                         : static_cast<int>(random.between(-most, most));
    }
    return result;
  };
  const long which = random.below(3);
  const auto none = [](Index count) { return std::vector<int>(static_cast<std::size_t>(count), 0); };
  const std::vector<int> rows = alike || which != 1 ? powers(A.rows) : none(A.rows);
  const std::vector<int> columns = alike ? rows : which != 0 ? powers(A.columns) : none(A.columns);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      const int by = rows[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(j)];
      A.at(i, j) = in_type(Value(std::ldexp(A.at(i, j).real(), by), std::ldexp(A.at(i, j).imag(), by)), type);
    }
  }
}

void fill_system(Random& random, Type type, Array& A) {
  if (A.values.empty()) return;
  switch (random.below(13)) {
    case 0:
    case 1:
      fill_random(random, type, A);
      scale_by_powers(random, type, A, static_cast<int>(random.between(1, largest_power(type))), false);
      break;
    case 2:
      if (A.rows == A.columns) {
        fill_general(random, type, A, range_of(type).digits == 24 ? 1e30 : 1e300);
        break;
      }
      [[fallthrough]];
    case 3:
      fill_hard(random, type, A);
      break;
    case 4:
      hilbert_or_vandermonde(random, A);
      break;
    case 5:
      random.one_in(2) ? growing(A) : ties(random, type, A);
      break;
    case 6:
      low_rank(random, type, A);
      break;
    case 7:
    case 8:
      exact_product(random, type, A);
      break;
    case 9:
      fill_random(random, type, A);
      repeat(random, A);
      break;
    case 10:
      fill_mood(random, type, A, random.any_of(Mood::denormal, Mood::huge, Mood::sparse));
      break;
    default:
      fill_random(random, type, A);
  }
  A.mirror = Mirror::none;
  round_to(type, A);
  if (random.one_in(15)) sprinkle(random, type, A);
}

void fill_definite(Random& random, Type type, Array& A) {
  A.mirror = Mirror::hermitian;
  const Index n = A.rows;
  if (n == 0) return;
  switch (random.below(6)) {
    case 0:
    case 1:
      fill_random(random, type, A);
      for (Index i = 0; i < n; ++i) A.at(i, i) = random.one_in(2) ? static_cast<double>(2 * n) : 1.5 * std::sqrt(n);
      mirror(A);
      break;
    case 2:
      fill_random(random, type, A);
      for (Index i = 0; i < n; ++i) A.at(i, i) = static_cast<double>(2 * n);
      mirror(A);
      scale_by_powers(random, type, A, static_cast<int>(random.between(1, largest_power(type))), true);
      break;
    case 3:
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) A.at(i, j) = 1.0 / static_cast<double>(i + j + 1);
      }
      mirror(A);
      break;
    case 4: {
      Array L = A;
      const bool singular = random.one_in(2);
      for (Index j = 0; j < n; ++j) {
        for (Index i = j + 1; i < n; ++i) L.at(i, j) = random.one_in(3) ? whole(random, type, 1) : Value(0.0);
        L.at(j, j) = singular && random.one_in(5) ? 0.0 : static_cast<double>(random.between(1, 2));
      }
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          Value sum = 0.0;
          for (Index k = 0; k <= std::min(i, j); ++k) sum += L.at(i, k) * std::conj(L.at(j, k));
          A.at(i, j) = sum;
        }
      }
      mirror(A);
      break;
    }
    default:
      fill_hermitian(random, type, A);
  }
  round_to(type, A);
  if (random.one_in(15)) {
    sprinkle(random, type, A);
    mirror(A);
  }
}

Index system_order(Random& random, Index most) {
  if (random.one_in(25)) return random.between(most / 2, most);
  if (random.one_in(6)) return random.between(25, std::min<long>(70, most));
  return random.extent(24);
}

void add_solve_knobs(Random& random, Case& one, const std::vector<std::string>& placed) {
  one.add_knob("arithmetic", random.below(2));
  one.add_knob("block", random.any_of(0L, 1L, 2L, 3L, 4L, 5L, 7L, 8L, 16L, 32L, 33L));
  one.add_knob("group", random.any_of(0L, 1L, 2L, 4L, 8L));
  for (const std::string& name : placed) one.add_knob("place " + name, random.below(100));
}
Rounding rounding_of(const Case& one) {
  return one.knob("rounded") != 0 ? Rounding::correct : Rounding::computed;
}
FactorOptions lu_options_of(const Case& one) {
  // Halving while a case is shrunk produces only powers of two.
  return {.arithmetic = emulates(one) ? Arithmetic::emulated : Arithmetic::native,
          .block = one.knob("block"),
          .group = one.knob("group")};
}

bool emulates(const Case& one) {
  return one.knob("arithmetic") != 0;
}
const Communicator& one_rank(const World& world, const Case& one) {
  return emulates(one) ? world.single : world.alone;
}
const char* same_bits_on_one(const Case& one) {
  return emulates(one) ? "the same bits on one rank and thread" : "the same bits on one rank";
}

}  // namespace heddle::hunt

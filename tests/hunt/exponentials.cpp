// Reference exponentials and their derivatives with condition numbers, and matrices with zeros that exp keeps.
#include "hunt/exponentials.hpp"

#include "hunt/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::hunt {
namespace {

// Return exp([A D; 0 A]), or nothing if it is out of reach.
std::optional<WideMatrix> exponential_with_derivative(const WideMatrix& A, const WideMatrix& D) {
  const Index n = A.rows;
  WideMatrix both(2 * n, 2 * n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      both.at(i, j) = both.at(n + i, n + j) = A.at(i, j);
      both.at(i, n + j) = D.at(i, j);
    }
  }
  return wide_exponential(both);
}

WideMatrix block(const WideMatrix& X, Index n, Index column) {
  WideMatrix result(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) result.at(i, j) = X.at(i, column + j);
  }
  return result;
}

// Return X plus a random change of 2^-120 |X|.
WideMatrix moved(const WideMatrix& X, Random& random, bool is_complex) {
  WideMatrix result = X;
  Wide size = norm1(X);
  size.scale(-120);
  for (WideComplex& x : result.values) {
    x.re += Wide(random.unit()) * size;
    if (is_complex) x.im += Wide(random.unit()) * size;
  }
  return result;
}

}  // namespace

DerivativeTruth derivative_truth(const Array& A, const Array& D, Type type) {
  DerivativeTruth truth;
  Wide::bits = 512;
  const WideMatrix at(A);
  const WideMatrix direction(D);
  const auto both = exponential_with_derivative(at, direction);
  if (!both) return truth;
  truth.E = block(*both, A.rows, 0);
  truth.L = block(*both, A.rows, A.rows);
  const Wide norm = norm1(*truth.L);
  Random random(1, "condition of a derivative", static_cast<std::uint64_t>(A.rows));
  const bool is_complex = is_complex_type(type);
  const WideMatrix there = moved(at, random, is_complex);
  const auto changed = exponential_with_derivative(there, moved(direction, random, is_complex));
  const Wide change = norm1(at).is_zero() ? Wide(1.0) : distance1(there, at) / norm1(at);
  if (changed && !norm.is_zero()) {
    const Wide condition = distance1(block(*changed, A.rows, A.rows), *truth.L) / norm / change;
    truth.condition = condition.is_number() ? condition.to_double() : std::numeric_limits<double>::infinity();
  }
  return truth;
}

std::vector<bool> reached(const Array& A) {
  const Index n = A.rows;
  std::vector<bool> found(static_cast<std::size_t>(n * n));
  const auto at = [n](Index i, Index j) { return static_cast<std::size_t>(i + j * n); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) found[at(i, j)] = i == j || A.at(i, j) != 0.0;
  }
  for (Index k = 0; k < n; ++k) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n && found[at(i, k)]; ++j) found[at(i, j)] = found[at(i, j)] || found[at(k, j)];
    }
  }
  return found;
}

namespace {

// Fill A with x y^T, y^T x = 0.
void square_is_zero(Random& random, Array& A) {
  const Index n = A.rows;
  std::vector<double> x(static_cast<std::size_t>(n));
  std::vector<double> y(static_cast<std::size_t>(n));
  double product = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    x[i] = static_cast<double>(random.between(-3, 3));
    y[i] = static_cast<double>(random.between(-3, 3));
    product += x[i] * y[i];
  }
  x.back() = n > 1 ? 1 : 0;
  y.back() = -product;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) A.at(i, j) = x[static_cast<std::size_t>(i)] * y[static_cast<std::size_t>(j)];
  }
}
// Fill A with a chain of `length` ones in a basis changed by a few integer operations.
void nilpotent_in_another_basis(Random& random, Array& A, Index length) {
  const Index n = A.rows;
  for (Index i = 0; i + 1 < std::min(n, length); ++i) A.at(i, i + 1) = 1.0;
  for (int change = 0; change < 4; ++change) {
    const Index i = random.below(n);
    const Index k = random.below(n);
    const double by = random.one_in(2) ? 1.0 : -1.0;
    if (i == k) continue;
    for (Index j = 0; j < n; ++j) A.at(i, j) += by * A.at(k, j);
    for (Index j = 0; j < n; ++j) A.at(j, k) -= by * A.at(j, i);
  }
}

}  // namespace

void fill_with_structure(Random& random, Type type, Array& A, double largest) {
  const Index n = A.rows;
  if (n == 0 || random.one_in(2)) return fill_general(random, type, A, largest);
  const bool is_float = range_of(type).digits == 24;
  const long kind = random.below(8);
  if (kind < 2) {
    kind == 0 ? square_is_zero(random, A) : nilpotent_in_another_basis(random, A, random.between(2, 5));
    const long powers = kind == 0 ? 1 : 4;
    const double size = std::ldexp(1.0, static_cast<int>(random.below((is_float ? 120 : 1000) / powers)));
    const Value turned = is_complex_type(type) && random.one_in(2) ? Value(0, size) : Value(size);
    for (Value& x : A.values) x *= turned;
    return;
  }
  const Index blocks = kind == 2 || kind == 3 ? n : random.between(1, n);
  const bool lower = random.one_in(2);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index up = j * blocks / n - i * blocks / n;
      const bool filled = kind == 3   ? i < j       // nilpotent
                          : kind == 4 ? up == 0     // block diagonal
                          : kind == 5 ? i <= j + 1  // Hessenberg
                                      : up >= 0;    // block triangular
      const Value x(4 * random.unit(), is_complex_type(type) ? 4 * random.unit() : 0.0);
      (lower ? A.at(j, i) : A.at(i, j)) = filled ? in_type(x, type) : Value(0);
    }
  }
  if (random.one_in(2)) {
    // Permute the indices.
    for (Index i = n; i-- > 1;) {
      const Index k = random.below(i + 1);
      for (Index j = 0; j < n && i != k; ++j) std::swap(A.at(i, j), A.at(k, j));
      for (Index j = 0; j < n && i != k; ++j) std::swap(A.at(j, i), A.at(j, k));
    }
  }
  if (random.one_in(2)) {
    const long range = random.any_of(3L, is_float ? 25L : 40L, is_float ? 50L : 300L);
    std::vector<int> exponents(static_cast<std::size_t>(n));
    for (int& exponent : exponents) exponent = static_cast<int>(random.between(-range, range));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const int by = exponents[static_cast<std::size_t>(i)] - exponents[static_cast<std::size_t>(j)];
        Value& x = A.at(i, j);
        x = in_type({std::ldexp(x.real(), by), std::ldexp(x.imag(), by)}, type);
      }
    }
  }
}

ExponentialTruth exponential_truth(const Array& A, Type type, const Value& time) {
  ExponentialTruth truth;
  Wide::bits = 512;
  WideMatrix X(A);
  const WideComplex factor(time);
  for (WideComplex& x : X.values) x = x * factor;
  truth.norm = norm1(X).to_double();
  truth.balanced = balanced_norm(X);
  truth.normal = A.mirror != Mirror::none && (time.real() == 0 || time.imag() == 0);
  truth.E = wide_exponential(X);
  if (!truth.E || A.rows == 0) return truth;
  const Wide norm = norm1(*truth.E);
  truth.tiny = norm.to_double() < std::ldexp(1.0, range_of(type).normal + range_of(type).digits);
  // Perturb by 2^-120 |A|, small enough that the reference shows the first-order effect.
  Random random(1, "condition", static_cast<std::uint64_t>(A.rows));
  Wide size = norm1(X);
  size.scale(-120);
  WideMatrix disturbed = X;
  Wide largest;
  WideMatrix F(A.rows, A.columns);
  for (WideComplex& x : F.values) {
    x = WideComplex(Wide(random.unit()) * size, is_complex_type(type) ? Wide(random.unit()) * size : Wide());
  }
  for (std::size_t k = 0; k < F.values.size(); ++k) {
    disturbed.values[k].re += F.values[k].re;
    disturbed.values[k].im += F.values[k].im;
  }
  const auto E = wide_exponential(disturbed);
  if (E && !norm.is_zero() && truth.norm > 0) {
    Wide relative = norm1(F) / norm1(X);
    const Wide condition = distance1(*E, *truth.E) / norm / relative;
    truth.condition = condition.is_number() ? condition.to_double() : std::numeric_limits<double>::infinity();
  }
  return truth;
}

}  // namespace heddle::hunt

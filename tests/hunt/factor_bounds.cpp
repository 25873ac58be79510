// Error bounds of triangular and factored solutions, overflow checks, and eliminations without rounding.
#include "hunt/factor_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::hunt {

bool cannot_overflow(const Array& A, Type type) {
  double most = 0;
  for (const Value& x : A.values) most = std::max({most, std::abs(x.real()), std::abs(x.imag())});
  const auto steps = static_cast<double>(std::min(A.rows, A.columns));
  const double power = most > 0 ? std::log2(most) : 0.0;
  return power + 2 * steps + 8 < range_of(type).largest;
}

LongMatrix applied(Operation op, const LongMatrix& A) {
  if (op == Operation::none) return A;
  LongMatrix B(A.columns, A.rows);
  for (Index j = 0; j < B.columns; ++j) {
    for (Index i = 0; i < B.rows; ++i) {
      B.at(i, j) = op == Operation::transpose ? A.at(j, i) : std::conj(A.at(j, i));
    }
  }
  return B;
}
LongMatrix lower_of(const LongMatrix& LU, bool unit) {
  LongMatrix L(LU.rows, std::min(LU.rows, LU.columns));
  for (Index j = 0; j < L.columns; ++j) {
    for (Index i = j; i < L.rows; ++i) L.at(i, j) = i == j && unit ? Long(1) : LU.at(i, j);
  }
  return L;
}
LongMatrix upper_of(const LongMatrix& LU, bool unit) {
  LongMatrix U(std::min(LU.rows, LU.columns), LU.columns);
  for (Index j = 0; j < U.columns; ++j) {
    for (Index i = 0; i < std::min(j + 1, U.rows); ++i) U.at(i, j) = i == j && unit ? Long(1) : LU.at(i, j);
  }
  return U;
}

namespace {

using Sizes = std::vector<long double>;

Sizes sizes_of_column(const LongMatrix& X, Index j) {
  Sizes sizes(static_cast<std::size_t>(X.rows));
  for (Index i = 0; i < X.rows; ++i) sizes[static_cast<std::size_t>(i)] = std::abs(X.at(i, j));
  return sizes;
}
Sizes sizes_times(const LongMatrix& M, const Sizes& x) {
  Sizes sums(static_cast<std::size_t>(M.rows), 0);
  for (Index j = 0; j < M.columns; ++j) {
    for (Index i = 0; i < M.rows; ++i) {
      sums[static_cast<std::size_t>(i)] += std::abs(M.at(i, j)) * x[static_cast<std::size_t>(j)];
    }
  }
  return sums;
}
// Return |row i|_2 of every row.
Sizes norms_of_rows(const LongMatrix& A) {
  Sizes norms(static_cast<std::size_t>(A.rows), 0);
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) norms[static_cast<std::size_t>(i)] += std::norm(A.at(i, j));
  }
  for (long double& x : norms) x = std::sqrt(x);
  return norms;
}
long double norm_of(const Sizes& x) {
  long double sum = 0;
  for (const long double value : x) sum += value * value;
  return std::sqrt(sum);
}
bool finite_column(const LongMatrix& X, Index j) {
  for (Index i = 0; i < X.rows; ++i) {
    if (!std::isfinite(std::abs(X.at(i, j)))) return false;
  }
  return true;
}
long double off_by(const LongMatrix& A, const LongMatrix& X, const LongMatrix& B, Index i, Index j) {
  Long sum = B.at(i, j);
  for (Index k = 0; k < A.columns; ++k) sum -= A.at(i, k) * X.at(k, j);
  return std::abs(sum);
}

}  // namespace

double share_of_triangle_bound(const Roundings& roundings, const LongMatrix& M, const LongMatrix& X,
                               const LongMatrix& B) {
  long double worst = 0;
  const Sizes of_rows = norms_of_rows(M);
  for (Index j = 0; j < X.columns; ++j) {
    if (!finite_column(X, j)) continue;
    const Sizes x = sizes_of_column(X, j);
    const Sizes sums = sizes_times(M, x);
    const long double norm = norm_of(x);
    for (Index i = 0; i < M.rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const long double bound = roundings.of(M.rows, sums[row], of_rows[row] * norm) +
                                static_cast<long double>(roundings.smallest) *
                                    (static_cast<long double>(M.rows + 4) + 2 * std::abs(M.at(i, i)));
      const long double off = off_by(M, X, B, i, j);
      if (off > 0) worst = std::max(worst, off / bound);
    }
  }
  return static_cast<double>(worst);
}

double share_of_solution_bound(const Roundings& roundings, const LongMatrix& A, const LongMatrix& F,
                               const LongMatrix& G, const LongMatrix& X, const LongMatrix& B) {
  const Index n = A.rows;
  const Sizes f_rows = norms_of_rows(F);
  const Sizes g_rows = norms_of_rows(G);
  const Sizes g_columns = norms_of_rows(applied(Operation::transpose, G));
  Sizes lost(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) {
    lost[static_cast<std::size_t>(k)] = static_cast<long double>(n + 4) + 2 * std::abs(G.at(k, k));
  }
  lost = sizes_times(F, lost);
  long double worst = 0;
  for (Index j = 0; j < X.columns; ++j) {
    if (!finite_column(X, j)) continue;
    const Sizes x = sizes_of_column(X, j);
    const Sizes between = sizes_times(G, x);
    const Sizes sums = sizes_times(F, between);
    const long double x_norm = norm_of(x);
    Sizes rows_of_g(g_rows);
    for (long double& row : rows_of_g) row *= x_norm;
    const Sizes by_g = sizes_times(F, rows_of_g);
    const long double between_norm = norm_of(between);
    const long double columns = std::inner_product(x.begin(), x.end(), g_columns.begin(), 0.0L);
    // Underflow in an element of L is multiplied by the pivot of its column, which is on the diagonal of F or G.
    const long double of_factors = std::accumulate(x.begin(), x.end(), 0.0L);
    long double of_pivots = 0;
    for (Index k = 0; k < n; ++k) of_pivots += 2 * std::abs(G.at(k, k)) * x[static_cast<std::size_t>(k)];
    for (Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const long double norms = f_rows[row] * (between_norm + columns) + by_g[row];
      // Underflow in the factors is multiplied by x, underflow in the substitutions by the factors.
      const long double own = static_cast<long double>(n + 4) + 2 * std::abs(F.at(i, i));
      const long double underflow = lost[row] + own + of_factors * own + of_pivots;
      const long double bound = roundings.of(3 * n + 3, sums[row], norms) + roundings.smallest * underflow;
      const long double off = off_by(A, X, B, i, j);
      if (off > 0) worst = std::max(worst, off / bound);
    }
  }
  return static_cast<double>(worst);
}

namespace {

// Return whether the number has at most 20 bits and is a multiple of 2^-10: sums of such numbers' products are exact in
// any order and type if `sizes` says that they are small.
bool few_bits(const Value& x) {
  const auto few = [](double part) {
    const double scaled = std::ldexp(part, 10);
    return std::abs(part) < 1024 && scaled == std::floor(scaled);
  };
  return few(x.real()) && few(x.imag());
}
double parts(const Value& x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

// Values of a matrix during elimination; checks every number and every sum of absolute products.
class ExactSteps {
 public:
  explicit ExactSteps(const Array& A) : values(A), sizes_(A.values.size()) {
    for (std::size_t k = 0; k < A.values.size(); ++k) {
      note(A.values[k]);
      sizes_[k] = parts(A.values[k]);
    }
  }
  void subtract(Index i, Index j, const Value& l, const Value& u) {
    const Value product = l * u;
    note(product);
    double& size = sizes_[static_cast<std::size_t>(i + j * values.rows)];
    size += 2 * parts(product);
    exact = exact && size < 2048;
    note(values.at(i, j) -= product);
  }
  [[nodiscard]] Value divided(const Value& x, const Value& by) {
    const double square = std::norm(by);
    int power = 0;
    exact = exact && (by.imag() == 0 && x.imag() == 0 ? few_bits(by) : std::frexp(square, &power) == 0.5);
    const Value quotient = by.imag() == 0 && x.imag() == 0 ? Value(x.real() / by.real()) : x * std::conj(by) / square;
    note(quotient);
    exact = exact && quotient * by == x;
    return quotient;
  }
  void swap_rows(Index one, Index other) {
    for (Index j = 0; j < values.columns; ++j) {
      std::swap(values.at(one, j), values.at(other, j));
      std::swap(sizes_[static_cast<std::size_t>(one + j * values.rows)],
                sizes_[static_cast<std::size_t>(other + j * values.rows)]);
    }
  }
  void note(const Value& x) { exact = exact && few_bits(x); }

  Array values;
  bool exact = true;

 private:
  std::vector<double> sizes_;
};

}  // namespace

std::optional<ExactFactors> exact_elimination(const Array& A, bool complex) {
  ExactSteps steps(A);
  ExactFactors found;
  Array& M = steps.values;
  for (Index k = 0; k < std::min(A.rows, A.columns) && steps.exact; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < A.rows; ++i) {
      if (parts(M.at(i, k)) > parts(M.at(pivot, k))) pivot = i;
    }
    found.pivots.push_back(pivot);
    steps.swap_rows(k, pivot);
    const Value by = M.at(k, k);
    if (by == 0.0) {
      if (found.info == 0) found.info = k + 1;
      continue;
    }
    // Division by a complex pivot goes through |pivot|^2, even if the pivot is real.
    int power = 0;
    if (complex && std::frexp(std::norm(by), &power) != 0.5) return {};
    for (Index i = k + 1; i < A.rows; ++i) {
      M.at(i, k) = steps.divided(M.at(i, k), by);
      for (Index j = k + 1; j < A.columns; ++j) steps.subtract(i, j, M.at(i, k), M.at(k, j));
    }
  }
  if (!steps.exact) return {};
  found.values = M.values;
  return found;
}

std::optional<ExactFactors> exact_cholesky(const Array& A) {
  ExactSteps steps(A);
  ExactFactors found;
  Array& M = steps.values;
  for (Index k = 0; k < A.rows && steps.exact; ++k) {
    if (!(M.at(k, k).real() > 0)) {
      found.info = k + 1;
      break;
    }
    const double root = std::sqrt(M.at(k, k).real());
    steps.note(root);
    steps.exact = steps.exact && root * root == M.at(k, k).real();
    M.at(k, k) = root;
    for (Index i = k + 1; i < A.rows; ++i) {
      const Value x = M.at(i, k);
      M.at(i, k) = x / root;
      steps.note(M.at(i, k));
      steps.exact = steps.exact && M.at(i, k) * root == x;
    }
    for (Index j = k + 1; j < A.rows; ++j) {
      for (Index i = j; i < A.rows; ++i) steps.subtract(i, j, M.at(i, k), std::conj(M.at(j, k)));
    }
  }
  if (!steps.exact) return {};
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < j; ++i) M.at(i, j) = 0.0;
  }
  found.values = M.values;
  return found;
}

}  // namespace heddle::hunt

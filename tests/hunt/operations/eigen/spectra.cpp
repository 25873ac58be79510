// Reference eigenvalues and singular values by many digits, and lower bounds of 2-norms.
#include "hunt/operations/eigen/spectra.hpp"

#include <cmath>
#include <numeric>

namespace heddle::hunt {
namespace {

constexpr Index most_by_many_digits = 16;

long double length_of(const std::vector<Long>& x) {
  long double sum = 0;
  for (const auto& element : x) sum += std::norm(element);
  return std::sqrt(sum);
}
std::vector<Long> applied(const LongMatrix& X, const std::vector<Long>& x) {
  std::vector<Long> y(static_cast<std::size_t>(X.rows));
  for (Index j = 0; j < X.columns; ++j) {
    for (Index i = 0; i < X.rows; ++i) y[static_cast<std::size_t>(i)] += X.at(i, j) * x[static_cast<std::size_t>(j)];
  }
  return y;
}

// Return sets of rows that are connected by nonzero elements.
std::vector<std::vector<Index>> components_of(const Array& A) {
  std::vector<Index> first(static_cast<std::size_t>(A.rows));
  std::iota(first.begin(), first.end(), Index(0));
  const auto root = [&](Index i) {
    while (first[static_cast<std::size_t>(i)] != i) i = first[static_cast<std::size_t>(i)];
    return i;
  };
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < j; ++i) {
      if (A.at(i, j) != Value(0.0)) first[static_cast<std::size_t>(root(j))] = root(i);
    }
  }
  std::vector<std::vector<Index>> components(first.size());
  for (Index i = 0; i < A.rows; ++i) components[static_cast<std::size_t>(root(i))].push_back(i);
  std::erase_if(components, [](const auto& one) { return one.empty(); });
  return components;
}

std::optional<std::vector<Wide>> eigenvalues_of(const Array& A) {
  std::vector<Wide> values;
  for (const std::vector<Index>& component : components_of(A)) {
    const auto n = static_cast<Index>(component.size());
    if (n > most_by_many_digits) return {};
    Array part{.name = A.name, .rows = n, .columns = n, .values = {}};
    for (const Index j : component) {
      for (const Index i : component) part.values.push_back(A.at(i, j));
    }
    for (Wide& value : wide_eigenvalues(part)) values.push_back(std::move(value));
  }
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

LongMatrix adjoint(const LongMatrix& X) {
  LongMatrix Y(X.columns, X.rows);
  for (Index j = 0; j < X.columns; ++j) {
    for (Index i = 0; i < X.rows; ++i) Y.at(j, i) = std::conj(X.at(i, j));
  }
  return Y;
}
LongMatrix times_diagonal(LongMatrix X, const std::vector<double>& d) {
  for (Index j = 0; j < X.columns; ++j) {
    for (Index i = 0; i < X.rows; ++i) X.at(i, j) *= static_cast<long double>(d[static_cast<std::size_t>(j)]);
  }
  return X;
}
LongMatrix less_product(LongMatrix C, const LongMatrix& X, const LongMatrix& Y) {
  for (Index j = 0; j < Y.columns; ++j) {
    for (Index k = 0; k < X.columns; ++k) {
      for (Index i = 0; i < X.rows; ++i) C.at(i, j) -= X.at(i, k) * Y.at(k, j);
    }
  }
  return C;
}

double least_norm2(const LongMatrix& X) {
  if (X.values.empty()) return 0;
  // Maximum of |X x| / |x| over unit vectors, and over some steps of the power method from the best of them.
  long double most = 0;
  Index best = 0;
  for (Index j = 0; j < X.columns; ++j) {
    std::vector<Long> x(static_cast<std::size_t>(X.columns));
    x[static_cast<std::size_t>(j)] = 1;
    const long double length = length_of(applied(X, x));
    if (!std::isfinite(length)) return std::numeric_limits<double>::quiet_NaN();
    if (length > most) most = length, best = j;
  }
  std::vector<Long> x(static_cast<std::size_t>(X.columns));
  x[static_cast<std::size_t>(best)] = 1;
  const LongMatrix Y = adjoint(X);
  for (int step = 0; step < 6 && most > 0; ++step) {
    x = applied(Y, applied(X, x));
    const long double length = length_of(x);
    if (!(length > 0)) break;
    for (auto& element : x) element /= length;
    most = std::max(most, length_of(applied(X, x)));
  }
  return static_cast<double>(most);
}
double departure(const LongMatrix& V) {
  LongMatrix identity(V.columns, V.columns);
  for (Index i = 0; i < V.columns; ++i) identity.at(i, i) = 1;
  return least_norm2(less_product(identity, adjoint(V), V));
}

EigenTruth eigen_truth(const Array& A) {
  EigenTruth truth;
  truth.values = eigenvalues_of(A);
  if (!truth.values) return truth;
  for (const Wide& value : *truth.values) truth.norm = std::max(truth.norm, value.absolute().to_double());
  bool positive = true;
  for (Index i = 0; i < A.rows; ++i) positive = positive && A.at(i, i).real() > 0;
  if (!positive || A.rows == 0) return truth;
  // Divide by one root after the other, so that nothing over- or underflows on the way.
  Array scaled = A;
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      const double root_i = std::sqrt(A.at(i, i).real());
      const double root_j = std::sqrt(A.at(j, j).real());
      scaled.at(i, j) = Value(A.at(i, j).real() / root_i / root_j, A.at(i, j).imag() / root_i / root_j);
      // Positive definite matrices have |a_ij|^2 < a_ii a_jj.
      if (!(std::abs(scaled.at(i, j)) < 2)) return truth;
    }
  }
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < j; ++i) scaled.at(j, i) = std::conj(scaled.at(i, j));
  }
  const std::optional<std::vector<Wide>> values = eigenvalues_of(scaled);
  if (!values) return truth;
  const double least = values->front().to_double();
  // Rounding of the scaled matrix must leave it positive definite.
  if (least > 1e-10) truth.condition = values->back().to_double() / least;
  return truth;
}

SingularTruth singular_truth(const Array& A) {
  SingularTruth truth;
  if (std::max(A.rows, A.columns) > most_by_many_digits) return truth;
  truth.values = wide_singular_values(A);
  if (truth.values->empty()) return truth;
  truth.norm = truth.values->front().to_double();
  Array scaled = A;
  const bool by_columns = A.rows >= A.columns;
  for (Index k = 0; k < std::min(A.rows, A.columns); ++k) {
    const auto element = [&](Index other) -> Value& { return by_columns ? scaled.at(other, k) : scaled.at(k, other); };
    double largest = 0;
    for (Index other = 0; other < std::max(A.rows, A.columns); ++other) {
      largest = std::max({largest, std::abs(element(other).real()), std::abs(element(other).imag())});
    }
    if (largest == 0) return truth;
    const int shift = -std::ilogb(largest);
    for (Index other = 0; other < std::max(A.rows, A.columns); ++other) {
      const Value x = element(other);
      element(other) = Value(std::ldexp(x.real(), shift), std::ldexp(x.imag(), shift));
    }
  }
  const std::vector<Wide> values = wide_singular_values(scaled);
  const double least = values.back().to_double();
  if (least > 0) truth.condition = values.front().to_double() / least;
  return truth;
}

}  // namespace heddle::hunt

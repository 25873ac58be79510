#include "lanczos.hpp"

#include "blas/lapack.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;

constexpr int maximal_blocks = 40;

double dot(std::span<const double> x, std::span<const double> y) {
  // Four sums, in a fixed order, so that additions overlap.
  double sums[4] = {0.0, 0.0, 0.0, 0.0};
  const std::size_t n = x.size();
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += x[i + k] * y[i + k];
  }
  for (; i < n; ++i) sums[0] += x[i] * y[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add(double factor, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
}

// Columns of length n, one after another.
struct Columns {
  explicit Columns(std::size_t length) : n(length) {}
  [[nodiscard]] std::size_t count() const { return values.size() / n; }
  [[nodiscard]] std::span<double> operator[](std::size_t j) { return {values.data() + j * n, n}; }
  [[nodiscard]] std::span<const double> operator[](std::size_t j) const { return {values.data() + j * n, n}; }
  std::size_t n;
  std::vector<double> values;
};

// Appends x, made orthogonal to all columns and of length one, to V. Twice is enough (Kahan, Parlett). A vector that
// vanishes is not appended.
bool append_orthogonal(std::span<double> x, Columns& V) {
  const double before = std::sqrt(dot(x, x));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t j = 0; j < V.count(); ++j) add(-dot(V[j], x), V[j], x);
  }
  const double length = std::sqrt(dot(x, x));
  if (!(length > 1e-13 * before) || length == 0.0) return false;
  for (double& value : x) value /= length;
  V.values.insert(V.values.end(), x.begin(), x.end());
  return true;
}

// Numbers in [-1, 1) that are the same each time (splitmix64).
void fill_start(std::span<double> values) {
  std::uint64_t state = 0;
  for (double& value : values) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    value = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
  }
}

// H - shift, as lapack::Cholesky takes it.
lapack::Cholesky factored(const Hamiltonian& hamiltonian, std::span<const double> potential, double shift) {
  const std::size_t n = potential.size();
  const auto kinetic = hamiltonian.kinetic();
  const bool banded = kinetic.size() < n;
  const std::size_t leading = banded ? kinetic.size() : n;
  std::vector<double> matrix(leading * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    double* diagonal = matrix.data() + j * leading + (banded ? 0 : j);
    diagonal[0] = kinetic[0] + potential[j] - shift;
    for (std::size_t d = 1; d < kinetic.size() && j + d < n; ++d) diagonal[d] = kinetic[d];
  }
  return {static_cast<int>(n), static_cast<int>(kinetic.size()) - 1, std::move(matrix)};
}

// The Krylov space of B = (H - shift)^-1: an orthonormal basis V, BV, and the lower triangle of V^T B V row by row.
struct Space {
  explicit Space(std::size_t n) : V(n), BV(n) {}
  Columns V;
  Columns BV;
  std::vector<std::vector<double>> projected;

  // Takes the columns of V that BV lacks, and leaves B times them in `next`.
  void extend(const lapack::Cholesky& inverse, Columns& next) {
    const std::size_t done = BV.count();
    next.values.assign(V.values.begin() + static_cast<std::ptrdiff_t>(done * V.n), V.values.end());
    inverse.solve(static_cast<int>(next.count()), next.values);
    BV.values.insert(BV.values.end(), next.values.begin(), next.values.end());
    for (std::size_t i = done; i < V.count(); ++i) {
      auto& row = projected.emplace_back(i + 1);
      for (std::size_t j = 0; j <= i; ++j) row[j] = dot(BV[i], V[j]);
    }
  }
};

// Ritz vectors of the largest eigenvalues of B; true where each residual is at most 1e-13 of its eigenvalue.
bool ritz_vectors(const Space& space, Index count, std::vector<double>& vectors) {
  const std::size_t n = space.V.n;
  const std::size_t m = space.V.count();
  std::vector<double> negative(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) negative[j * m + i] = -space.projected[i][j];
  }
  std::vector<double> values;
  std::vector<double> coefficients;
  lapack::symmetric_lowest(static_cast<int>(m), negative, static_cast<int>(count), values, coefficients);
  vectors.assign(n * static_cast<std::size_t>(count), 0.0);
  bool converged = true;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    const std::span<double> x(vectors.data() + k * n, n);
    std::vector<double> residual(n, 0.0);
    for (std::size_t j = 0; j < m; ++j) {
      add(coefficients[k * m + j], space.V[j], x);
      add(coefficients[k * m + j], space.BV[j], residual);
    }
    add(values[k], x, residual);
    converged = converged && std::sqrt(dot(residual, residual)) <= 1e-13 * std::abs(values[k]);
  }
  return converged;
}

// Energies of the vectors, in rising order; false where one of them is no eigenvector.
bool finish(const Hamiltonian& hamiltonian, std::span<const double> potential, std::vector<double>& energies,
            std::vector<double>& vectors) {
  const std::size_t n = potential.size();
  const auto kinetic = hamiltonian.kinetic();
  double norm = std::abs(kinetic[0]);
  for (std::size_t d = 1; d < kinetic.size(); ++d) norm += 2 * std::abs(kinetic[d]);
  double largest = 0.0;
  for (const double value : potential) largest = std::max(largest, std::abs(value));
  norm += largest;
  std::vector<std::pair<double, std::size_t>> order;
  std::vector<double> y(n);
  for (std::size_t k = 0; k < vectors.size() / n; ++k) {
    const std::span<double> x(vectors.data() + k * n, n);
    const double length = std::sqrt(dot(x, x));
    for (double& value : x) value /= length;
    hamiltonian.apply(potential, x, y);
    const double energy = dot(x, y);
    add(-energy, x, y);
    if (!(std::sqrt(dot(y, y)) <= 1e-10 * norm)) return false;
    order.emplace_back(energy, k);
  }
  std::sort(order.begin(), order.end());
  std::vector<double> sorted;
  energies.clear();
  for (const auto& [energy, k] : order) {
    energies.push_back(energy);
    sorted.insert(sorted.end(), vectors.begin() + static_cast<std::ptrdiff_t>(k * n),
                  vectors.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
  }
  vectors = std::move(sorted);
  return true;
}

}  // namespace

bool lanczos_lowest(const Hamiltonian& hamiltonian, std::span<const double> potential, Index count,
                    std::vector<double>& energies, std::vector<double>& vectors) {
  const auto n = static_cast<Index>(potential.size());
  // Two more than wanted: the last wanted one then does not wait for its neighbour.
  const Index block = count + 2;
  if (n < 128 || block * 8 > n) return false;
  const lapack::Cholesky inverse =
      factored(hamiltonian, potential, *std::min_element(potential.begin(), potential.end()));
  if (!inverse.factored()) return false;
  Space space(static_cast<std::size_t>(n));
  Columns next(static_cast<std::size_t>(n));
  next.values.resize(static_cast<std::size_t>(n * block));
  fill_start(next.values);
  for (int blocks = 1; blocks <= maximal_blocks; ++blocks) {
    const std::size_t before = space.V.count();
    for (std::size_t j = 0; j < next.count(); ++j) append_orthogonal(next[j], space.V);
    // Nothing new: the space is invariant, and its Ritz vectors are exact.
    const bool exhausted = space.V.count() == before || static_cast<Index>(space.V.count()) + block > n;
    if (space.V.count() > before) space.extend(inverse, next);
    if (static_cast<Index>(space.V.count()) < count) return false;
    if (blocks % 2 == 0 || exhausted || blocks == maximal_blocks) {
      if (ritz_vectors(space, count, vectors) || exhausted) break;
    }
  }
  return finish(hamiltonian, potential, energies, vectors);
}

}  // namespace heddle::impl

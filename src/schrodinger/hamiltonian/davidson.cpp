// Davidson's method with full orthogonalisation and a banded Cholesky preconditioner.
#include "schrodinger/hamiltonian/davidson.hpp"

#include "blas/symmetric.hpp"
#include "schrodinger/propagators/toeplitz.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace heddle::impl {

namespace {

using schrodinger::Grid;
using schrodinger::Hamiltonian;
using schrodinger::Kinetic;

using symmetric::BandedCholesky;
using symmetric::dot;

constexpr int maximal_iterations = 60;

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

// Append x, orthogonalised against all columns and normalised, to V. Two passes are enough (Kahan, Parlett). A vector
// that vanishes is not appended.
void append_orthogonal(std::span<double> x, Columns& V) {
  const double before = std::sqrt(dot(x, x));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t j = 0; j < V.count(); ++j) add(-dot(V[j], x), V[j], x);
  }
  const double length = std::sqrt(dot(x, x));
  if (!(length > 1e-13 * before) || length == 0.0) return;
  for (double& value : x) value /= length;
  V.values.insert(V.values.end(), x.begin(), x.end());
}

// Multiplies columns of n values each by H, in place.
using BlockOperator = std::function<void(std::span<double> columns)>;

BlockOperator operator_of(const Hamiltonian& hamiltonian, std::span<const double> potential) {
  const std::size_t n = potential.size();
  if (hamiltonian.kinetic().size() < n) {
    return [&hamiltonian, potential, product = std::vector<double>(n)](std::span<double> columns) mutable {
      for (std::size_t begin = 0; begin < columns.size(); begin += product.size()) {
        const auto column = columns.subspan(begin, product.size());
        hamiltonian.apply(potential, std::span<const double>(column), std::span<double>(product));
        std::copy(product.begin(), product.end(), column.begin());
      }
    };
  }
  // A transform takes two columns at once.
  return [kinetic = Toeplitz(n, hamiltonian.kinetic()), potential, n](std::span<double> columns) mutable {
    std::vector<double> products(columns.begin(), columns.end());
    std::vector<double> unused(n);
    const std::size_t count = columns.size() / n;
    for (std::size_t k = 0; k < count; k += 2) {
      const std::span<double> all(products);
      kinetic.apply(all.subspan(k * n, n), k + 1 < count ? all.subspan((k + 1) * n, n) : std::span<double>(unused));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = potential[i % n] * columns[i] + products[i];
  };
}

// An orthonormal basis V, HV, and the lower triangle of V^T H V row by row.
struct Subspace {
  explicit Subspace(std::size_t n) : V(n), HV(n) {}

  // Extend HV to all columns of V.
  void extend(const BlockOperator& H) {
    const std::size_t done = HV.count();
    HV.values.insert(HV.values.end(), V.values.begin() + static_cast<std::ptrdiff_t>(done * V.n), V.values.end());
    H(std::span(HV.values).subspan(done * V.n));
    for (std::size_t i = done; i < V.count(); ++i) {
      auto& row = projected.emplace_back(i + 1);
      for (std::size_t j = 0; j <= i; ++j) row[j] = dot(HV[i], V[j]);
    }
  }

  // Return false if products overflow, as they may for energies near the largest number.
  [[nodiscard]] bool finite() const {
    return std::all_of(projected.begin(), projected.end(), [](const std::vector<double>& row) {
      return std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    });
  }

  // Compute the lowest Ritz vectors x, and H x - E x of each.
  void combine(Index count, std::vector<double>& vectors, Columns& residuals) const {
    const std::size_t n = V.n;
    const std::size_t m = V.count();
    std::vector<double> matrix(m * m);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j <= i; ++j) matrix[j * m + i] = projected[i][j];
    }
    std::vector<double> values;
    std::vector<double> coefficients;
    symmetric::dense_lowest(m, matrix, static_cast<std::size_t>(count), values, coefficients);
    vectors.assign(n * values.size(), 0.0);
    residuals.values.assign(n * values.size(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::span<double> x(vectors.data() + k * n, n);
      for (std::size_t j = 0; j < m; ++j) {
        add(coefficients[k * m + j], V[j], x);
        add(coefficients[k * m + j], HV[j], residuals[k]);
      }
      add(-values[k], x, residuals[k]);
    }
  }

  Columns V;
  Columns HV;
  std::vector<std::vector<double>> projected;
};

// Factor H - shift in its band.
BandedCholesky factored(const Hamiltonian& hamiltonian, std::span<const double> potential, double shift) {
  const std::size_t n = potential.size();
  const auto kinetic = hamiltonian.kinetic();
  const std::size_t leading = kinetic.size();
  std::vector<double> matrix(leading * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    double* diagonal = matrix.data() + j * leading;
    diagonal[0] = kinetic[0] + potential[j] - shift;
    for (std::size_t d = 1; d < leading && j + d < n; ++d) diagonal[d] = kinetic[d];
  }
  return {n, leading - 1, std::move(matrix)};
}

Hamiltonian with_kinetic(const Hamiltonian& hamiltonian, Kinetic kinetic) {
  Grid grid = hamiltonian.grid();
  grid.kinetic = kinetic;
  return {grid, hamiltonian.potential(), hamiltonian.nuclei()};
}

// Start from eigenpairs of fd2.
void start(const Hamiltonian& hamiltonian, std::span<const double> potential, Index count,
           std::vector<double>& energies, std::vector<double>& vectors) {
  const Hamiltonian differences = with_kinetic(hamiltonian, Kinetic::fd2);
  std::vector<double> diagonal(potential.begin(), potential.end());
  for (double& value : diagonal) value += differences.kinetic()[0];
  const std::vector<double> beside(potential.size() - 1, differences.kinetic()[1]);
  symmetric::tridiagonal_lowest(diagonal, beside, static_cast<std::size_t>(count), energies, vectors);
}

// Compute the energies of the vectors, and sort both by them; return false if a vector is no eigenvector.
bool finish(const Hamiltonian& hamiltonian, std::span<const double> potential, const BlockOperator& H,
            std::vector<double>& energies, std::vector<double>& vectors) {
  const std::size_t n = potential.size();
  const auto kinetic = hamiltonian.kinetic();
  double norm = 0.0;
  for (const double value : potential) norm = std::max(norm, std::abs(kinetic[0] + value));
  for (std::size_t d = 1; d < kinetic.size(); ++d) norm += 2 * std::abs(kinetic[d]);
  std::vector<std::pair<double, std::size_t>> order;
  Columns states(n);
  states.values = std::move(vectors);
  for (std::size_t k = 0; k < states.count(); ++k) {
    const double length = std::sqrt(dot(states[k], states[k]));
    for (double& value : states[k]) value /= length;
  }
  Columns products = states;
  H(products.values);
  for (std::size_t k = 0; k < states.count(); ++k) {
    const double energy = dot(states[k], products[k]);
    add(-energy, states[k], products[k]);
    if (!(std::sqrt(dot(products[k], products[k])) <= 1e-10 * norm)) return false;
    order.emplace_back(energy, k);
  }
  std::sort(order.begin(), order.end());
  energies.clear();
  vectors.clear();
  for (const auto& [energy, k] : order) {
    energies.push_back(energy);
    vectors.insert(vectors.end(), states[k].begin(), states[k].end());
  }
  return true;
}

}  // namespace

bool davidson_lowest(const Hamiltonian& hamiltonian, std::span<const double> potential, Index count,
                     std::vector<double>& energies, std::vector<double>& vectors) {
  const auto n = static_cast<Index>(potential.size());
  // Two more than requested, so that convergence of the last one does not depend on the gap to the next level.
  const Index block = count + 2;
  if (n < 128 || block * 8 > n) return false;
  Columns next(static_cast<std::size_t>(n));
  start(hamiltonian, potential, block, energies, next.values);

  const bool dense = hamiltonian.grid().kinetic == Kinetic::sinc;
  const Hamiltonian banded = dense ? with_kinetic(hamiltonian, Kinetic::fd6) : hamiltonian;
  // fd2's kinetic energy is the lowest for every wave, so that H - shift is positive definite.
  BandedCholesky preconditioner =
      factored(banded, potential, energies.front() - 0.1 * (energies.back() - energies.front()));
  if (!preconditioner.factored()) {
    preconditioner = factored(banded, potential, *std::min_element(potential.begin(), potential.end()));
    if (!preconditioner.factored()) return false;
  }

  const BlockOperator H = operator_of(hamiltonian, potential);
  Subspace space(static_cast<std::size_t>(n));
  double least = 0.0;
  int idle = 0;
  for (int iteration = 0; iteration < maximal_iterations; ++iteration) {
    const std::size_t before = space.V.count();
    for (std::size_t k = 0; k < next.count(); ++k) append_orthogonal(next[k], space.V);
    if (space.V.count() == before || static_cast<Index>(space.V.count()) + block > n) break;
    space.extend(H);
    if (!space.finite()) return false;
    space.combine(count, vectors, next);
    // The preconditioned residual is about the error of its vector.
    preconditioner.solve(next.values);
    double worst = 0.0;
    for (std::size_t k = 0; k < next.count(); ++k) worst = std::max(worst, std::sqrt(dot(next[k], next[k])));
    // Round-off of H x limits convergence above 1e-13 if ||H|| is large.
    idle = iteration > 0 && !(worst < 0.5 * least) ? idle + 1 : 0;
    least = iteration > 0 ? std::min(least, worst) : worst;
    if (worst <= 1e-13 || (idle >= 3 && worst < 1e-9)) break;
  }
  return static_cast<Index>(vectors.size()) == n * count && finish(hamiltonian, potential, H, energies, vectors);
}

}  // namespace heddle::impl

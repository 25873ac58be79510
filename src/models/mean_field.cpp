// Iteration of a mean field to self-consistency, with Pulay's extrapolation.
#include "models/dense.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/mean_field.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace heddle::models {

namespace {

using Matrix = std::vector<double>;

bool all_finite(const Matrix& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// The matrices of both spins one after another, and their commutators.
struct Remembered {
  Matrix matrices;
  Matrix commutators;
};

// Solves the k x k system of symmetric equations by elimination with pivoting; returns false if it is singular.
bool solve_small(std::vector<Matrix>& A, Matrix& b) {
  const std::size_t k = b.size();
  for (std::size_t c = 0; c < k; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < k; ++r) {
      if (std::abs(A[r][c]) > std::abs(A[pivot][c])) pivot = r;
    }
    if (!(std::abs(A[pivot][c]) > 1e-14)) return false;
    std::swap(A[c], A[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = c + 1; r < k; ++r) {
      const double factor = A[r][c] / A[c][c];
      for (std::size_t j = c; j < k; ++j) A[r][j] -= factor * A[c][j];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = k; c-- > 0;) {
    for (std::size_t j = c + 1; j < k; ++j) b[c] -= A[c][j] * b[j];
    b[c] /= A[c][c];
  }
  return true;
}

// Pulay's coefficients: c of sum 1 that minimise |sum c_i e_i|.
Matrix pulay_coefficients(const std::deque<Remembered>& memory) {
  const std::size_t k = memory.size();
  std::vector<Matrix> products(k, Matrix(k));
  double scale = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      products[i][j] = products[j][i] = impl::trace_of(memory[i].commutators, memory[j].commutators);
    }
    scale = i == 0 ? products[0][0] : std::min(scale, products[i][i]);
  }
  if (!(scale > 0)) return {};
  std::vector<Matrix> A(k + 1, Matrix(k + 1, -1.0));
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) A[i][j] = products[i][j] / scale;
  }
  A[k][k] = 0;
  Matrix b(k + 1, 0.0);
  b[k] = -1;
  if (!solve_small(A, b)) return {};
  b.pop_back();
  return b;
}

class Iteration {
 public:
  Iteration(const MeanField& field, const FieldOptions& options, const SolveOrbitals& solve)
      : field_(field), options_(options), solve_(solve), n_(field.size()) {}

  FieldResult run(const std::function<void(const FieldStep&)>& progress);

 private:
  void solve(int spin, const Matrix& H, FieldOrbitals& orbitals);
  void occupy(FieldResult& result) const;
  // S x for the columns of x.
  [[nodiscard]] Matrix overlapped(const Matrix& columns) const;
  // F D S - S D F in the basis X.
  [[nodiscard]] Matrix commutator(const Matrix& F, const Matrix& occupied) const;
  void extrapolate(FieldMatrices& matrices);

  const MeanField& field_;
  const FieldOptions& options_;
  const SolveOrbitals& solve_;
  std::size_t n_;
  Matrix basis_;       // X, n x m: the first orbitals; empty: the identity.
  Matrix overlapped_;  // S X
  std::deque<Remembered> memory_;
  Matrix mixed_;  // The matrices that gave the last orbitals.
};

void Iteration::solve(int spin, const Matrix& H, FieldOrbitals& orbitals) {
  solve_(spin, H, orbitals.energies, orbitals.coefficients);
  const std::size_t m = orbitals.energies.size();
  require(m <= n_ && orbitals.coefficients.size() == m * n_, "self-consistency: the solver returned ", m,
          " energies and ", orbitals.coefficients.size(), " coefficients for a basis of ", n_);
  require(static_cast<std::size_t>(orbitals.occupied) <= m, "self-consistency: ", orbitals.occupied,
          " electrons of one spin, and a basis that has ", m, " orbitals");
  if (!all_finite(orbitals.energies) || !all_finite(orbitals.coefficients)) {
    throw Error(ErrorKind::computation, "self-consistency: orbitals are not finite");
  }
}

void Iteration::occupy(FieldResult& result) const {
  const auto lowest = [&](const FieldOrbitals& orbitals) {
    const auto count = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(orbitals.occupied) * n_);
    return Matrix(orbitals.coefficients.begin(), orbitals.coefficients.begin() + count);
  };
  result.occupied.up = lowest(result.up);
  result.occupied.down = options_.paired ? result.occupied.up : lowest(result.down);
}

Matrix Iteration::overlapped(const Matrix& columns) const {
  return field_.overlap().empty() || columns.empty() ? columns : product(field_.overlap(), columns, n_, n_);
}

Matrix Iteration::commutator(const Matrix& F, const Matrix& occupied) const {
  const std::size_t m = basis_.empty() ? n_ : basis_.size() / n_;
  Matrix result(m * m, 0.0);
  if (occupied.empty()) return result;
  Matrix FC = product(F, occupied, n_, n_);
  Matrix SC = occupied;
  if (!basis_.empty()) {
    FC = impl::inner_products(basis_, FC, n_);
    SC = impl::inner_products(overlapped_, occupied, n_);
  }
  for (std::size_t k = 0; k < SC.size() / m; ++k) {
    const double* const f = FC.data() + k * m;
    const double* const s = SC.data() + k * m;
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t i = 0; i < m; ++i) result[i + j * m] += f[i] * s[j] - s[i] * f[j];
    }
  }
  return result;
}

void Iteration::extrapolate(FieldMatrices& matrices) {
  const auto restore = [&](const Matrix& joined) {
    std::copy_n(joined.begin(), matrices.up.size(), matrices.up.begin());
    std::copy(joined.begin() + static_cast<std::ptrdiff_t>(matrices.up.size()), joined.end(), matrices.down.begin());
  };
  if (memory_.size() > static_cast<std::size_t>(options_.history)) memory_.pop_front();
  Matrix coefficients;
  while (memory_.size() > 1 && (coefficients = pulay_coefficients(memory_)).empty()) memory_.pop_front();
  if (memory_.size() > 1) {
    Matrix joined(memory_.back().matrices.size(), 0.0);
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      const Matrix& one = memory_[k].matrices;
      for (std::size_t i = 0; i < joined.size(); ++i) joined[i] += coefficients[k] * one[i];
    }
    restore(joined);
  } else if (options_.mixing < 1 && !mixed_.empty()) {
    Matrix joined = mixed_;
    const Matrix& now = memory_.back().matrices;
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i] += options_.mixing * (now[i] - joined[i]);
    restore(joined);
  }
  mixed_ = matrices.up;
  mixed_.insert(mixed_.end(), matrices.down.begin(), matrices.down.end());
}

FieldResult Iteration::run(const std::function<void(const FieldStep&)>& progress) {
  FieldResult result;
  result.up.occupied = options_.electrons.up;
  result.down.occupied = options_.electrons.down;
  const Matrix start = field_.start();
  solve(0, start, result.up);
  if (!options_.paired) solve(1, start, result.down);
  occupy(result);
  if (!field_.overlap().empty()) {
    basis_ = result.up.coefficients;
    overlapped_ = overlapped(basis_);
  }
  FieldMatrices now;
  for (int iteration = 1;; ++iteration) {
    now = field_.field(result.occupied, options_.paired);
    result.energies = now.energies;
    if (!std::isfinite(now.energies.total()) || !all_finite(now.up) || !all_finite(now.down)) {
      throw Error(ErrorKind::computation,
                  message_of("self-consistency: the field of iteration ", iteration, " is not finite"));
    }
    Remembered step = {now.up, commutator(now.up, result.occupied.up)};
    if (!options_.paired) {
      const Matrix other = commutator(now.down, result.occupied.down);
      step.matrices.insert(step.matrices.end(), now.down.begin(), now.down.end());
      step.commutators.insert(step.commutators.end(), other.begin(), other.end());
    }
    double residual = 0;
    for (const double value : step.commutators) residual = std::max(residual, std::abs(value));
    result.steps.push_back({iteration, now.energies.total(), residual});
    result.converged = residual <= options_.tolerance;
    if (progress) progress(result.steps.back());
    result.up.matrix = now.up;
    result.down.matrix = options_.paired ? now.up : now.down;
    const bool last = result.converged || iteration == options_.iterations;
    memory_.push_back(std::move(step));
    if (!last) extrapolate(now);
    solve(0, now.up, result.up);
    if (!options_.paired) solve(1, now.down, result.down);
    if (last) break;
    occupy(result);
  }
  if (options_.paired) {
    result.down.energies = result.up.energies;
    result.down.coefficients = result.up.coefficients;
  }
  // S_z (S_z + 1) + N_down - sum |<up|down>|^2.
  const double spin = 0.5 * (options_.electrons.up - options_.electrons.down);
  const Matrix overlaps = impl::inner_products(overlapped(result.occupied.up), result.occupied.down, n_);
  result.spin_squared = spin * (spin + 1) + options_.electrons.down - impl::trace_of(overlaps, overlaps);
  return result;
}

}  // namespace

FieldResult self_consistent(const MeanField& field, const FieldOptions& options, const SolveOrbitals& solve,
                            const std::function<void(const FieldStep&)>& progress) {
  const Electrons& electrons = options.electrons;
  require(electrons.up >= electrons.down && electrons.down >= 0 && electrons.up > 0, "self-consistency: ", electrons.up,
          " electrons of spin up and ", electrons.down, " of spin down; expected at least one, and no fewer up");
  require(!options.paired || electrons.up == electrons.down, "self-consistency: closed shells with ", electrons.up,
          " electrons of spin up and ", electrons.down, " of spin down; expected as many of each, or open shells");
  require(std::isfinite(options.tolerance) && options.tolerance >= 0,
          "self-consistency: tolerance = ", options.tolerance, " must not be negative");
  require(options.iterations >= 1, "self-consistency: iterations = ", options.iterations, " must be at least 1");
  require(options.mixing > 0 && options.mixing <= 1, "self-consistency: mixing = ", options.mixing,
          " must be positive and at most 1");
  require(options.history >= 1, "self-consistency: history = ", options.history, " must be at least 1");
  require(solve != nullptr, "self-consistency: nothing given to solve with");
  const auto n = field.size();
  require(n > 0 && static_cast<std::size_t>(electrons.up) <= n, "self-consistency: ", electrons.up,
          " electrons of one spin in a basis of ", n, " functions");
  return Iteration(field, options, solve).run(progress);
}

}  // namespace heddle::models

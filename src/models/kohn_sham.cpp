// Kohn-Sham model in one dimension, its density mixer and iteration, and a first matrix in three dimensions.
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/gaussian_integrals.hpp>
#include <heddle/models/kohn_sham.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace heddle::eigen {

namespace {

using std::numbers::pi;

void require_finite(std::span<const double> values, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(std::isfinite(values[i]), "kohn-sham: ", name, "[", i, "] = ", values[i], " must be finite");
  }
}

void require_length(double value, const char* name) {
  require(std::isfinite(value) && value > 0, "kohn-sham: ", name, " = ", value, " must be finite and positive");
}

// wave_0 ... wave_2n of T_ij = wave_|i-j| - wave_i+j+2 between walls n + 1 spacings apart (Colbert, Miller, equation
// A6).
std::vector<double> kinetic_waves(std::size_t n, double length) {
  const std::size_t intervals = n + 1;
  const double scale = (pi / length) * (pi / length) / 4;
  std::vector<double> wave(2 * n + 1);
  wave[0] = scale * (2.0 * static_cast<double>(intervals) * static_cast<double>(intervals) + 1.0) / 3.0;
  for (std::size_t d = 1; d < wave.size(); ++d) {
    // The sine is taken from the nearer end of the half period: from the other it loses digits.
    const auto nearer = static_cast<double>(std::min(d, 2 * intervals - d));
    const double sine = libm::sin(pi * nearer / static_cast<double>(2 * intervals));
    wave[d] = (d % 2 == 0 ? scale : -scale) / (sine * sine);
  }
  return wave;
}

double soft(double distance, double softening) {
  return 1.0 / std::sqrt(distance * distance + softening * softening);
}

// Points that are symmetric about the middle to the bit.
std::vector<double> points_about(double middle, std::size_t n, double spacing) {
  std::vector<double> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    points[i] = middle + (static_cast<double>(i + 1) - static_cast<double>(n + 1) / 2) * spacing;
  }
  return points;
}

// 1 - (1 - exp(-y))/y, by its series if that cancels.
double ramp(double y) {
  if (y >= 1.0) return 1.0 + libm::expm1(-y) / y;
  double sum = 0.0;
  double term = y / 2;
  for (int k = 3; std::abs(term) > 1e-18 * y; ++k) {
    sum += term;
    term *= -y / k;
  }
  return sum;
}

int electrons_of(const KohnShamOptions& options) {
  if (options.electrons != 0) return options.electrons;
  double charge = 0.0;
  for (const double z : options.charges) charge += z;
  require(charge < 1e9 && std::abs(charge / 2 - std::round(charge / 2)) < 1e-9 && charge > 1,
          "kohn-sham: charges add up to ", charge, ": closed shells need an even number, or electrons to be given");
  return static_cast<int>(std::lround(charge));
}

void validate(const KohnShamOptions& options) {
  require(options.points >= 1, "kohn-sham: points = ", options.points, " must be at least 1");
  require_length(options.softening, "softening");
  require(!options.charges.empty() && options.charges.size() == options.positions.size(),
          "kohn-sham: ", options.charges.size(), " charges and ", options.positions.size(),
          " positions: expected as many of each, at least one");
  require_finite(options.charges, "charges");
  require_finite(options.positions, "positions");
  for (const double charge : options.charges) require(charge > 0, "kohn-sham: charge ", charge, " must be positive");
  require(options.electrons >= 0 && options.electrons % 2 == 0, "kohn-sham: electrons = ", options.electrons,
          " must be even and not negative");
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// a += factor b
void add(double factor, std::span<const double> b, std::span<double> a) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.begin(), a.end());
  add(-1.0, b, result);
  return result;
}

}  // namespace

LocalExchange local_exchange(double density, double softening) {
  require(std::isfinite(density), "kohn-sham: density = ", density, " must be finite");
  require_length(softening, "softening");
  const double z = pi * softening * density;
  LocalExchange result;
  // For smaller z, cosh would overflow before the end; v_x vanishes as n log(n).
  if (z < 1e-200) return result;
  // Integral over q first, then over s: (1 - exp(-z cosh s))/cosh s for v_x. Analytic for |Im s| < pi/2, hence an error
  // of exp(-pi^2/step). The derivative of each term of n epsilon_x is the term of v_x, and so for the sums.
  constexpr double step = 0.25;
  const double end = 38.0 + std::max(0.0, libm::log(2.0 / z));
  for (int k = 0; k * step <= end; ++k) {
    const double cosine = libm::cosh(k * step);
    const double weight = (k == 0 ? step / 2 : step) / cosine;
    result.energy += weight * ramp(z * cosine);
    result.potential -= weight * libm::expm1(-z * cosine);
  }
  result.energy /= -pi * softening;
  result.potential /= -pi * softening;
  return result;
}

KohnSham::KohnSham(const KohnShamOptions& options) : softening_(options.softening) {
  validate(options);
  const int electrons = electrons_of(options);
  occupied_ = electrons / 2;
  require(occupied_ <= options.points, "kohn-sham: ", electrons, " electrons fill ", occupied_,
          " orbitals, more than the ", options.points, " points have");
  const auto [left, right] = std::minmax_element(options.positions.begin(), options.positions.end());
  const double width = *right - *left;
  const double length = options.length == 0 ? width + 40 * std::max(1.0, softening_) : options.length;
  require_length(length, "length");
  require(length > width, "kohn-sham: length = ", length, " must be more than the ", width,
          " from the first nucleus to the last");
  const auto n = static_cast<std::size_t>(options.points);
  spacing_ = length / static_cast<double>(n + 1);
  grid_ = points_about(*left + width / 2, n, spacing_);
  wave_ = kinetic_waves(n, length);
  external_.resize(n);
  kernel_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    kernel_[i] = spacing_ * soft(static_cast<double>(i) * spacing_, softening_);
    for (std::size_t a = 0; a < options.charges.size(); ++a) {
      external_[i] -= options.charges[a] * soft(grid_[i] - options.positions[a], softening_);
    }
  }
  for (std::size_t a = 0; a < options.charges.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      nuclear_ +=
          options.charges[a] * options.charges[b] * soft(options.positions[a] - options.positions[b], softening_);
    }
  }
  // No narrower than the grid resolves.
  const double sigma = std::max(1.0, spacing_);
  guess_.resize(n);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t a = 0; a < options.charges.size(); ++a) {
      const double distance = (grid_[i] - options.positions[a]) / sigma;
      guess_[i] += options.charges[a] * libm::exp(-distance * distance / 2);
    }
    sum += guess_[i];
  }
  for (double& value : guess_) value *= electrons / (sum * spacing_);
}

void KohnSham::require_density(std::span<const double> density) const {
  require(density.size() == grid_.size(), "kohn-sham: a density of ", density.size(), " values for ", grid_.size(),
          " points");
  require_finite(density, "density");
}

std::vector<double> KohnSham::kinetic() const {
  const std::size_t n = grid_.size();
  std::vector<double> matrix(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    double* column = matrix.data() + j * n;
    for (std::size_t i = 0; i < j; ++i) column[i] = wave_[j - i] - wave_[i + j + 2];
    for (std::size_t i = j; i < n; ++i) column[i] = wave_[i - j] - wave_[i + j + 2];
  }
  return matrix;
}

std::vector<double> KohnSham::hartree(std::span<const double> density) const {
  require_density(density);
  const std::size_t n = grid_.size();
  std::vector<double> potential(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) potential[i] += kernel_[j - i] * density[j];
    for (std::size_t i = j; i < n; ++i) potential[i] += kernel_[i - j] * density[j];
  }
  return potential;
}

std::vector<double> KohnSham::hamiltonian(std::span<const double> density) const {
  const std::size_t n = grid_.size();
  const std::vector<double> repulsion = hartree(density);
  std::vector<double> matrix = kinetic();
  for (std::size_t i = 0; i < n; ++i) {
    matrix[i * (n + 1)] += external_[i] + repulsion[i] + local_exchange(density[i], softening_).potential;
  }
  return matrix;
}

std::vector<double> KohnSham::density(std::span<const double> vectors) const {
  const std::size_t n = grid_.size();
  const auto occupied = static_cast<std::size_t>(occupied_);
  require(vectors.size() % n == 0 && vectors.size() / n >= occupied, "kohn-sham: ", vectors.size(),
          " values of vectors: expected ", n, " for each of ", occupied, " orbitals or more");
  require_finite(vectors.first(n * occupied), "vectors");
  std::vector<double> density(n, 0.0);
  for (std::size_t k = 0; k < occupied; ++k) {
    for (std::size_t i = 0; i < n; ++i) density[i] += 2.0 / spacing_ * vectors[k * n + i] * vectors[k * n + i];
  }
  return density;
}

KohnShamEnergies KohnSham::energies(std::span<const double> vectors) const {
  const std::size_t n = grid_.size();
  const std::vector<double> electrons = density(vectors);
  KohnShamEnergies energies;
  for (std::size_t k = 0; k < static_cast<std::size_t>(occupied_); ++k) {
    const double* psi = vectors.data() + k * n;
    for (std::size_t i = 0; i < n; ++i) {
      double below = 0.0;
      for (std::size_t j = 0; j < i; ++j) below += (wave_[i - j] - wave_[i + j + 2]) * psi[j];
      energies.kinetic += 2.0 * psi[i] * (2.0 * below + (wave_[0] - wave_[2 * i + 2]) * psi[i]);
    }
  }
  energies.external = spacing_ * dot(external_, electrons);
  energies.hartree = 0.5 * spacing_ * dot(hartree(electrons), electrons);
  energies.exchange = exchange_energy(electrons);
  energies.nuclear = nuclear_;
  return energies;
}

double KohnSham::exchange_energy(std::span<const double> density) const {
  require_density(density);
  double sum = 0.0;
  for (const double value : density) sum += value * local_exchange(value, softening_).energy;
  return spacing_ * sum;
}

std::vector<double> KohnSham::initial_density() const {
  return guess_;
}

double KohnSham::residual(std::span<const double> before, std::span<const double> after) const {
  require_density(before);
  require_density(after);
  double sum = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) sum += std::abs(after[i] - before[i]);
  return spacing_ * sum / electrons();
}

DensityMixer::DensityMixer(double mixing, int history) : mixing_(mixing), history_(static_cast<std::size_t>(history)) {
  require(mixing > 0 && mixing <= 1, "density mixer: mixing = ", mixing, " must be positive and at most 1");
  require(history >= 0, "density mixer: history = ", history, " must not be negative");
}

std::vector<double> DensityMixer::next(std::span<const double> input, std::span<const double> output) {
  require(input.size() == output.size() && (last_.input.empty() || last_.input.size() == input.size()),
          "density mixer: ", input.size(), " values in and ", output.size(), " out; before: ", last_.input.size());
  Step now{{input.begin(), input.end()}, difference(output, input)};
  if (!last_.input.empty()) {
    changes_.insert(changes_.begin(), {difference(now.input, last_.input), difference(now.residual, last_.residual)});
    if (changes_.size() > history_) changes_.pop_back();
  }

  // Q R = changes of the residuals; `rest` = the residual less its projection on their span.
  std::vector<std::vector<double>> Q;
  std::vector<std::vector<double>> R;
  std::vector<const Step*> kept;
  std::vector<double> shares;
  std::vector<double> rest = now.residual;
  for (const Step& change : changes_) {
    std::vector<double> column = change.residual;
    std::vector<double> projections;
    for (const auto& q : Q) {
      projections.push_back(dot(q, column));
      add(-projections.back(), q, column);
    }
    const double norm = std::sqrt(dot(column, column));
    if (!(norm > 1e-8 * std::sqrt(dot(change.residual, change.residual)))) continue;
    for (double& value : column) value /= norm;
    projections.push_back(norm);
    shares.push_back(dot(column, rest));
    add(-shares.back(), column, rest);
    Q.push_back(std::move(column));
    R.push_back(std::move(projections));
    kept.push_back(&change);
  }

  std::vector<double> mixed = now.input;
  add(mixing_, rest, mixed);
  for (std::size_t k = kept.size(); k-- > 0;) {
    shares[k] /= R[k][k];
    for (std::size_t j = 0; j < k; ++j) shares[j] -= R[k][j] * shares[k];
    add(-shares[k], kept[k]->input, mixed);
  }
  last_ = std::move(now);
  return mixed;
}

ScfResult self_consistent(const KohnSham& model, const ScfOptions& options, const Diagonalise& diagonalise,
                          const std::function<void(const ScfStep&)>& progress) {
  require(options.tolerance >= 0, "self-consistency: tolerance = ", options.tolerance, " must not be negative");
  require(options.iterations >= 1, "self-consistency: iterations = ", options.iterations, " must be at least 1");
  require(diagonalise != nullptr, "self-consistency: nothing given to diagonalise with");
  DensityMixer mixer(options.mixing, options.history);
  const auto n = static_cast<std::size_t>(model.points());
  const auto finite = [](double value) { return std::isfinite(value); };
  std::vector<double> input = model.initial_density();
  ScfResult result;
  for (int iteration = 1; !result.converged && iteration <= options.iterations; ++iteration) {
    if (iteration > 1) input = mixer.next(input, result.density);
    diagonalise(model.hamiltonian(input), result.eigenvalues, result.vectors);
    require(result.eigenvalues.size() == n && result.vectors.size() == n * n, "self-consistency: diagonalise returned ",
            result.eigenvalues.size(), " eigenvalues and ", result.vectors.size(), " values of vectors, expected ", n,
            " and ", n * n);
    if (!std::all_of(result.eigenvalues.begin(), result.eigenvalues.end(), finite) ||
        !std::all_of(result.vectors.begin(), result.vectors.end(), finite)) {
      throw Error(ErrorKind::computation,
                  message_of("self-consistency: the eigenpairs of iteration ", iteration, " are not finite"));
    }
    result.density = model.density(result.vectors);
    result.energies = model.energies(result.vectors);
    result.steps.push_back({iteration, result.energies.total(), model.residual(input, result.density)});
    result.converged = result.steps.back().residual <= options.tolerance;
    if (progress) progress(result.steps.back());
  }
  return result;
}

std::vector<double> kohn_sham_matrix_3d(int points_per_axis, const KohnSham3dOptions& options) {
  require(points_per_axis >= 1 && points_per_axis <= 64, "kohn-sham: ", points_per_axis,
          " points per axis: expected 1 to 64");
  require_length(options.length, "length");
  require_length(options.softening, "softening");
  require_length(options.width, "width");
  require(options.charges.size() == options.positions.size(), "kohn-sham: ", options.charges.size(), " charges and ",
          options.positions.size(), " positions: expected as many of each");
  require_finite(options.charges, "charges");
  for (const auto& position : options.positions) require_finite(position, "position");

  // The Hartree potential of a unit Gaussian, and its density.
  const double root = 1.0 / (std::numbers::sqrt2 * options.width);
  const auto repulsion = [&](double r) {
    double of_zero = 0.0;  // erf(z) / z is twice F_0(z^2), divided by the root of pi
    models::boys(r * root * r * root, std::span(&of_zero, 1));
    return 2 * root * std::numbers::inv_sqrtpi * of_zero;
  };
  const auto gaussian = [&](double r) { return libm::pow(root * root / pi, 1.5) * libm::exp(-r * root * r * root); };

  const auto m = static_cast<std::size_t>(points_per_axis);
  const std::size_t n = m * m * m;
  const std::vector<double> axis = points_about(0.0, m, options.length / static_cast<double>(m + 1));
  const std::vector<double> wave = kinetic_waves(m, options.length);
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t row = 0; row < n; ++row) {
    const std::array<std::size_t, 3> index = {row % m, row / m % m, row / m / m};
    double potential = 0.0;
    double density = 0.0;
    for (std::size_t a = 0; a < options.charges.size(); ++a) {
      const auto& ion = options.positions[a];
      const double r =
          libm::hypot(libm::hypot(axis[index[0]] - ion[0], axis[index[1]] - ion[1]), axis[index[2]] - ion[2]);
      potential += options.charges[a] * (repulsion(r) - soft(r, options.softening));
      density += options.charges[a] * gaussian(r);
    }
    double* column = matrix.data() + row * n;
    column[row] = potential - libm::cbrt(3.0 * std::max(0.0, density) / pi);
    for (std::size_t d = 0, stride = 1; d < 3; ++d, stride *= m) {
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t apart = i > index[d] ? i - index[d] : index[d] - i;
        column[row + i * stride - index[d] * stride] += wave[apart] - wave[i + index[d] + 2];
      }
    }
  }
  return matrix;
}

}  // namespace heddle::eigen

// Exponentials of tridiagonal matrices by their eigenvectors, and of small dense matrices by Taylor series and
// squarings.
#include "expm/action/small_exponential.hpp"

#include "blas/lapack.hpp"
#include "core/complex_exponential.hpp"
#include "libm/functions.hpp"
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::impl {
namespace {

using Complex = Kokkos::complex<double>;

// m x m, column-major.
using Square = std::vector<Complex>;

double norm1(const Square& X, std::size_t m) {
  double norm = 0.0;
  for (std::size_t j = 0; j < m; ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < m; ++i) sum += Kokkos::abs(X[i + m * j]);
    norm = std::max(norm, sum);
  }
  return norm;
}

double norm2(std::span<const Complex> y) {
  double squares = 0.0;
  for (const Complex& x : y) squares += std::norm(std::complex<double>(x.real(), x.imag()));
  return std::sqrt(squares);
}

// Z = factor X Y, for Y of any number of columns.
void multiply(const Square& X, const std::vector<Complex>& Y, std::size_t m, const Complex& factor,
              std::vector<Complex>& Z) {
  Z.assign(Y.size(), 0.0);
  for (std::size_t j = 0; j < Y.size() / m; ++j) {
    for (std::size_t k = 0; k < m; ++k) {
      const Complex y = factor * Y[k + m * j];
      if (y.real() == 0.0 && y.imag() == 0.0) continue;
      for (std::size_t i = 0; i < m; ++i) Z[i + m * j] += X[i + m * k] * y;
    }
  }
}

double largest_of(const std::vector<Complex>& X) {
  double largest = 0.0;
  for (const Complex& x : X) largest = std::max({largest, std::abs(x.real()), std::abs(x.imag())});
  return largest;
}

// Y += sum over k >= 1 of (length X)^k Y / k!, for length ||X|| <= 1.
void add_series(const Square& X, std::size_t m, const Complex& length, std::vector<Complex>& Y) {
  std::vector<Complex> term = Y, next;
  for (int k = 1; k <= 30; ++k) {
    multiply(X, term, m, length / static_cast<double>(k), next);
    std::swap(term, next);
    for (std::size_t i = 0; i < Y.size(); ++i) Y[i] += term[i];
    if (largest_of(term) <= 0x1p-60 * largest_of(Y)) break;
  }
}

// Scale the largest element near 1, and return the exponent of the power of two.
double normalise(std::vector<Complex>& X) {
  const double largest = largest_of(X);
  if (!(largest > 0.0) || !std::isfinite(largest)) return 0.0;
  const int exponent = std::ilogb(largest);
  for (Complex& x : X) x = Complex(std::ldexp(x.real(), -exponent), std::ldexp(x.imag(), -exponent));
  return exponent;
}

// exp(time X) e_1.
ProjectedExponential exponential(Square X, std::size_t m, const std::complex<double>& time) {
  // Subtract the mean of the eigenvalues.
  std::complex<double> mean = 0.0;
  for (std::size_t i = 0; i < m; ++i) mean += std::complex<double>(X[i + m * i].real(), X[i + m * i].imag());
  mean /= static_cast<double>(m);
  for (std::size_t i = 0; i < m; ++i) X[i + m * i] -= Complex(mean.real(), mean.imag());
  const double norm = norm1(X, m) * std::abs(time);
  ProjectedExponential found;
  const auto size = static_cast<double>(m);
  // A step costs 1 / m of a squaring, after about twenty products.
  const double steps = std::max(std::ceil(norm), 1.0);
  const double squarings = std::max(std::ceil(libm::log2(norm)), 0.0);
  if (!std::isfinite(norm)) {
    found.y.assign(m, Complex(norm, norm));
    return found;
  }
  if (steps <= size) {
    found.y.assign(m, 0.0);
    found.y[0] = 1.0;
    for (double step = 0; step < steps; ++step) {
      add_series(X, m, Complex(time.real() / steps, time.imag() / steps), found.y);
      found.exponent += normalise(found.y);
    }
  } else {
    Square E(m * m, 0.0), squared;
    for (std::size_t i = 0; i < m; ++i) E[i + m * i] = 1.0;
    const double scale = libm::exp2(-squarings);
    add_series(X, m, Complex(time.real() * scale, time.imag() * scale), E);
    for (double k = 0; k < squarings; ++k) {
      multiply(E, E, m, 1.0, squared);
      std::swap(E, squared);
      found.exponent = 2.0 * found.exponent + normalise(E);
    }
    found.y.assign(E.begin(), E.begin() + static_cast<std::ptrdiff_t>(m));
  }
  const std::complex<double> exponent = time * mean;
  // exp(exponent), with a power of two stored separately.
  const double power = std::floor(exponent.real() / libm::log(2.0));
  found.exponent += power;
  const std::complex<double> factor =
      impl::exponential(std::complex<double>(exponent.real() - power * libm::log(2.0), exponent.imag()));
  for (Complex& y : found.y) y *= Complex(factor.real(), factor.imag());
  return found;
}

}  // namespace

ProjectedExponential exponential_of_lanczos(std::span<const double> diagonal, std::span<const double> beside,
                                            const std::complex<double>& time, bool skew) {
  const std::size_t m = diagonal.size();
  const std::complex<double> z = skew ? std::complex<double>(-time.imag(), time.real()) : time;
  std::vector<double> values, vectors;
  lapack::tridiagonal_all(diagonal, beside, values, vectors);
  ProjectedExponential found;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < m; ++k) {
    most = std::max(most, z.real() * values[k]);
  }
  const double power = std::floor(most / libm::log(2.0));
  found.exponent = power;
  std::vector<std::complex<double>> y(m, 0.0);
  for (std::size_t k = 0; k < m; ++k) {
    const std::complex<double> factor =
        vectors[m * k] *
        impl::exponential(std::complex<double>(z.real() * values[k] - power * libm::log(2.0), z.imag() * values[k]));
    for (std::size_t i = 0; i < m; ++i) y[i] += factor * vectors[i + m * k];
  }
  // The matrix is D (i T) D^-1 with T as given, D = diag((-i)^k).
  constexpr std::complex<double> turns[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
  for (std::size_t i = 0; i < m; ++i) {
    const std::complex<double> turned = skew ? turns[i % 4] * y[i] : y[i];
    found.y.push_back(Complex(turned.real(), turned.imag()));
  }
  return found;
}

ProjectedExponential exponential_of_arnoldi(std::span<const Complex> H, int leading, int m,
                                            const std::complex<double>& time, double unit) {
  const auto size = static_cast<std::size_t>(m);
  Square X(size * size, 0.0);
  double largest = 0.0;
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i < std::min(j + 2, size); ++i) {
      X[i + size * j] = H[i + static_cast<std::size_t>(leading) * j];
      largest = std::max(largest, Kokkos::abs(X[i + size * j]));
    }
  }
  Square moved = X;
  for (std::size_t k = 0; k < moved.size(); ++k) {
    moved[k] += unit * largest * unit_from(mixed_bits(static_cast<std::uint64_t>(k + 1) * golden_step));
  }
  ProjectedExponential found = exponential(std::move(X), size, time);
  const ProjectedExponential other = exponential(std::move(moved), size, time);
  const double scale = libm::exp2(std::clamp(other.exponent - found.exponent, -2000.0, 2000.0));
  std::vector<Complex> difference = found.y;
  for (std::size_t i = 0; i < size; ++i) difference[i] -= scale * other.y[i];
  const double moved_by = norm2(difference) / norm2(found.y);
  found.sensitivity = std::isfinite(moved_by) ? moved_by : std::numeric_limits<double>::infinity();
  return found;
}

}  // namespace heddle::impl

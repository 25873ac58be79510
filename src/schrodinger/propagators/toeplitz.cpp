// Products with symmetric Toeplitz matrices by Fourier transforms on the host.
#include "schrodinger/propagators/toeplitz.hpp"

#include "libm/functions.hpp"

#include <algorithm>
#include <bit>
#include <numbers>

namespace heddle::impl {

Toeplitz::Toeplitz(std::size_t n, std::span<const double> band) : n_(n) {
  const std::size_t length = std::bit_ceil(2 * n);
  for (std::size_t k = 0; k < length / 2; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    turns_.real.push_back(libm::cos(angle));
    turns_.imaginary.push_back(libm::sin(angle));
  }
  work_.real.resize(length);
  work_.imaginary.resize(length);
  for (std::size_t d = 0; d < band.size(); ++d) {
    work_.real[d] = band[d];
    work_.real[(length - d) % length] = band[d];
  }
  forward();
  for (const double value : work_.real) spectrum_.push_back(value / static_cast<double>(length));
}

// Decimation in frequency leaves the transform in bit-reversed order, in which decimation in time begins: no sorting is
// needed.
void Toeplitz::forward() {
  const std::size_t length = work_.real.size();
  for (std::size_t half = length / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (std::size_t begin = 0; begin < length; begin += 2 * half) {
      double* const x = work_.real.data() + begin;
      double* const y = work_.imaginary.data() + begin;
      for (std::size_t k = 0; k < half; ++k) {
        const double c = turns_.real[k * stride];
        const double s = turns_.imaginary[k * stride];
        const double dx = x[k] - x[k + half];
        const double dy = y[k] - y[k + half];
        x[k] += x[k + half];
        y[k] += y[k + half];
        x[k + half] = dx * c - dy * s;
        y[k + half] = dx * s + dy * c;
      }
    }
  }
}

void Toeplitz::backward() {
  const std::size_t length = work_.real.size();
  for (std::size_t half = 1, stride = length / 2; half < length; half *= 2, stride /= 2) {
    for (std::size_t begin = 0; begin < length; begin += 2 * half) {
      double* const x = work_.real.data() + begin;
      double* const y = work_.imaginary.data() + begin;
      for (std::size_t k = 0; k < half; ++k) {
        const double c = turns_.real[k * stride];
        const double s = -turns_.imaginary[k * stride];
        const double tx = x[k + half] * c - y[k + half] * s;
        const double ty = x[k + half] * s + y[k + half] * c;
        x[k + half] = x[k] - tx;
        y[k + half] = y[k] - ty;
        x[k] += tx;
        y[k] += ty;
      }
    }
  }
}

void Toeplitz::apply(std::span<double> x, std::span<double> y) {
  const auto n = static_cast<std::ptrdiff_t>(n_);
  std::copy(x.begin(), x.end(), work_.real.begin());
  std::copy(y.begin(), y.end(), work_.imaginary.begin());
  std::fill(work_.real.begin() + n, work_.real.end(), 0.0);
  std::fill(work_.imaginary.begin() + n, work_.imaginary.end(), 0.0);
  forward();
  // The circulant is real and symmetric, so its spectrum is real: real and imaginary parts stay separate.
  for (std::size_t k = 0; k < spectrum_.size(); ++k) {
    work_.real[k] *= spectrum_[k];
    work_.imaginary[k] *= spectrum_[k];
  }
  backward();
  std::copy_n(work_.real.begin(), n_, x.begin());
  std::copy_n(work_.imaginary.begin(), n_, y.begin());
}

}  // namespace heddle::impl

// Products with symmetric Toeplitz matrices by Fourier transforms on the host.
#include "schrodinger/propagators/toeplitz.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace heddle::impl {

namespace {

using Value = std::complex<double>;

// Complex product without std::complex's handling of infinities.
Value times(const Value& a, const Value& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

Toeplitz::Toeplitz(std::size_t n, std::span<const double> band) : n_(n), work_(std::bit_ceil(2 * n)) {
  const std::size_t length = work_.size();
  for (std::size_t k = 0; k < length / 2; ++k) {
    turns_.push_back(std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length)));
  }
  for (std::size_t d = 0; d < band.size(); ++d) {
    work_[d] = band[d];
    work_[(length - d) % length] = band[d];
  }
  forward();
  for (const Value& value : work_) spectrum_.push_back(value.real() / static_cast<double>(length));
}

// Decimation in frequency leaves the transform in bit-reversed order, in which decimation in time begins: no sorting is
// needed.
void Toeplitz::forward() {
  const std::size_t length = work_.size();
  for (std::size_t half = length / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (std::size_t begin = 0; begin < length; begin += 2 * half) {
      Value* a = work_.data() + begin;
      Value* b = a + half;
      for (std::size_t k = 0; k < half; ++k) {
        const Value difference = a[k] - b[k];
        a[k] += b[k];
        b[k] = times(difference, turns_[k * stride]);
      }
    }
  }
}

void Toeplitz::backward() {
  const std::size_t length = work_.size();
  for (std::size_t half = 1, stride = length / 2; half < length; half *= 2, stride /= 2) {
    for (std::size_t begin = 0; begin < length; begin += 2 * half) {
      Value* a = work_.data() + begin;
      Value* b = a + half;
      for (std::size_t k = 0; k < half; ++k) {
        const Value turned = times(b[k], std::conj(turns_[k * stride]));
        b[k] = a[k] - turned;
        a[k] += turned;
      }
    }
  }
}

void Toeplitz::apply(std::span<double> x, std::span<double> y) {
  for (std::size_t i = 0; i < n_; ++i) work_[i] = {x[i], y[i]};
  for (std::size_t i = n_; i < work_.size(); ++i) work_[i] = 0.0;
  forward();
  // The circulant is real and symmetric, so its spectrum is real: real and imaginary parts stay separate.
  for (std::size_t k = 0; k < work_.size(); ++k) work_[k] *= spectrum_[k];
  backward();
  for (std::size_t i = 0; i < n_; ++i) {
    x[i] = work_[i].real();
    y[i] = work_[i].imag();
  }
}

}  // namespace heddle::impl

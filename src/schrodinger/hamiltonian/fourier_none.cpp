// Fourier transforms for builds without a library: the constructor throws.
#include "schrodinger/hamiltonian/fourier.hpp"
#include <heddle/core/error.hpp>

namespace heddle::impl {

bool has_fourier() {
  return false;
}

struct Fourier::Plan {};

Fourier::Fourier(const ExecutionSpace&, Index) {
  throw Error(ErrorKind::argument, "no Fourier transform: this build was configured without FFTW or hipFFT");
}
Fourier::~Fourier() = default;
Fourier::Fourier(Fourier&&) noexcept = default;
Fourier& Fourier::operator=(Fourier&&) noexcept = default;

void Fourier::forward(const DeviceComplexes&) const {}
void Fourier::backward(const DeviceComplexes&) const {}

}  // namespace heddle::impl

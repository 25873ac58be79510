// Fourier transforms by hipFFT.
#include "schrodinger/hamiltonian/fourier.hpp"

#include <hipfft/hipfft.h>

namespace heddle::impl {
namespace {

constexpr const char* library = "hipFFT";
constexpr int backward_direction = HIPFFT_BACKWARD;

hipStream_t stream_of(const ExecutionSpace& space) {
  return space.hip_stream();
}

}  // namespace
}  // namespace heddle::impl

#define HEDDLE_FFT(name) hipfft##name
#define HEDDLE_FFT_CONSTANT(name) HIPFFT_##name
#include "schrodinger/hamiltonian/fourier_vendor.hpp"

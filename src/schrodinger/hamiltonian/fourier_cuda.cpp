// Fourier transforms by cuFFT.
#include "schrodinger/hamiltonian/fourier.hpp"

#include <cufft.h>

namespace heddle::impl {
namespace {

constexpr const char* library = "cuFFT";
constexpr int backward_direction = CUFFT_INVERSE;

cudaStream_t stream_of(const ExecutionSpace& space) {
  return space.cuda_stream();
}

}  // namespace
}  // namespace heddle::impl

#define HEDDLE_FFT(name) cufft##name
#define HEDDLE_FFT_CONSTANT(name) CUFFT_##name
#include "schrodinger/hamiltonian/fourier_vendor.hpp"

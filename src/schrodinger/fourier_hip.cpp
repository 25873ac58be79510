// hipFFT.
#include "fourier.hpp"
#include <heddle/core/error.hpp>

#include <hipfft/hipfft.h>

namespace heddle::impl {

namespace {

void check(const char* what, hipfftResult status) {
  if (status != HIPFFT_SUCCESS) {
    throw Error(ErrorKind::computation, message_of("hipFFT failed to ", what, ": status ", static_cast<int>(status)));
  }
}

}  // namespace

bool has_fourier() {
  return true;
}

struct Fourier::Plan {
  Plan(const ExecutionSpace& space, Index points) : length(points) {
    check("plan", hipfftPlan1d(&handle, static_cast<int>(length), HIPFFT_Z2Z, 1));
    check("take a stream", hipfftSetStream(handle, space.hip_stream()));
  }
  ~Plan() { hipfftDestroy(handle); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void execute(int direction, const DeviceComplexes& x) const {
    require(static_cast<Index>(x.extent(0)) == length, "Fourier transform: ", x.extent(0), " values for ", length);
    auto* elements = reinterpret_cast<hipfftDoubleComplex*>(x.data());
    check("transform", hipfftExecZ2Z(handle, elements, elements, direction));
  }

  Index length;
  hipfftHandle handle = nullptr;
};

void Fourier::forward(const DeviceComplexes& x) const {
  plan_->execute(HIPFFT_FORWARD, x);
}

void Fourier::backward(const DeviceComplexes& x) const {
  plan_->execute(HIPFFT_BACKWARD, x);
}

Fourier::Fourier(const ExecutionSpace& space, Index length) : plan_(std::make_unique<Plan>(space, length)) {}
Fourier::~Fourier() = default;
Fourier::Fourier(Fourier&&) noexcept = default;
Fourier& Fourier::operator=(Fourier&&) noexcept = default;

}  // namespace heddle::impl

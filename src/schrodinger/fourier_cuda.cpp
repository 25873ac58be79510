// cuFFT.
#include "fourier.hpp"
#include <heddle/core/error.hpp>

#include <cufft.h>

namespace heddle::impl {

namespace {

void check(const char* what, cufftResult status) {
  if (status != CUFFT_SUCCESS) {
    throw Error(ErrorKind::computation, message_of("cuFFT failed to ", what, ": status ", static_cast<int>(status)));
  }
}

}  // namespace

bool has_fourier() {
  return true;
}

struct Fourier::Plan {
  Plan(const ExecutionSpace& space, Index points) : length(points) {
    check("plan", cufftPlan1d(&handle, static_cast<int>(length), CUFFT_Z2Z, 1));
    check("take a stream", cufftSetStream(handle, space.cuda_stream()));
  }
  ~Plan() { cufftDestroy(handle); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void execute(int direction, const DeviceComplexes& x) const {
    require(static_cast<Index>(x.extent(0)) == length, "Fourier transform: ", x.extent(0), " values for ", length);
    auto* elements = reinterpret_cast<cufftDoubleComplex*>(x.data());
    check("transform", cufftExecZ2Z(handle, elements, elements, direction));
  }

  Index length;
  cufftHandle handle = 0;
};

void Fourier::forward(const DeviceComplexes& x) const {
  plan_->execute(CUFFT_FORWARD, x);
}

void Fourier::backward(const DeviceComplexes& x) const {
  plan_->execute(CUFFT_INVERSE, x);
}

Fourier::Fourier(const ExecutionSpace& space, Index length) : plan_(std::make_unique<Plan>(space, length)) {}
Fourier::~Fourier() = default;
Fourier::Fourier(Fourier&&) noexcept = default;
Fourier& Fourier::operator=(Fourier&&) noexcept = default;

}  // namespace heddle::impl

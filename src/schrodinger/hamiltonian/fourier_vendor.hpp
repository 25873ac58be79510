// fourier.hpp on a library with cuFFT's interface. Included by fourier_cuda.cpp and fourier_hip.cpp alone. They first
// define HEDDLE_FFT(name) and HEDDLE_FFT_CONSTANT(name), which give the vendor's spelling of a name, and the names that
// differ otherwise: library, backward_direction and stream_of().
#include "schrodinger/hamiltonian/fourier.hpp"
#include <heddle/core/error.hpp>

namespace heddle::impl {

namespace {

void check(const char* what, HEDDLE_FFT(Result) status) {
  if (status != HEDDLE_FFT_CONSTANT(SUCCESS)) {
    throw Error(ErrorKind::computation,
                message_of(library, " failed to ", what, ": status ", static_cast<int>(status)));
  }
}

}  // namespace

bool has_fourier() {
  return true;
}

struct Fourier::Plan {
  Plan(const ExecutionSpace& space, Index points) : length(points) {
    check("plan", HEDDLE_FFT(Plan1d)(&handle, checked_length(length), HEDDLE_FFT_CONSTANT(Z2Z), 1));
    check("take a stream", HEDDLE_FFT(SetStream)(handle, stream_of(space)));
  }
  ~Plan() { HEDDLE_FFT(Destroy)(handle); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void execute(int direction, const DeviceComplexes& x) const {
    require(static_cast<Index>(x.extent(0)) == length, "Fourier transform: ", x.extent(0), " values for ", length);
    auto* elements = reinterpret_cast<HEDDLE_FFT(DoubleComplex)*>(x.data());
    check("transform", HEDDLE_FFT(ExecZ2Z)(handle, elements, elements, direction));
  }

  Index length;
  HEDDLE_FFT(Handle) handle{};
};

void Fourier::forward(const DeviceComplexes& x) const {
  plan_->execute(HEDDLE_FFT_CONSTANT(FORWARD), x);
}

void Fourier::backward(const DeviceComplexes& x) const {
  plan_->execute(backward_direction, x);
}

Fourier::Fourier(const ExecutionSpace& space, Index length) : plan_(std::make_unique<Plan>(space, length)) {}
Fourier::~Fourier() = default;
Fourier::Fourier(Fourier&&) noexcept = default;
Fourier& Fourier::operator=(Fourier&&) noexcept = default;

}  // namespace heddle::impl

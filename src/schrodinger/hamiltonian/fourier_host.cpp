// Fourier transforms by FFTW.
#include "schrodinger/hamiltonian/fourier.hpp"
#include <heddle/core/error.hpp>

#include <fftw3.h>

#include <mutex>

namespace heddle::impl {

namespace {

// FFTW plans in only one thread at a time.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

fftw_complex* elements(const DeviceComplexes& x) {
  return reinterpret_cast<fftw_complex*>(x.data());
}

}  // namespace

bool has_fourier() {
  return true;
}

struct Fourier::Plan {
  Plan(const ExecutionSpace& instance, Index points) : space(instance), length(points) {
    const int size = checked_length(length);
    const DeviceComplexes x(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::schrodinger::fourier"),
                            static_cast<std::size_t>(length));
    const std::lock_guard lock(planning());
    constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
    forward = fftw_plan_dft_1d(size, elements(x), elements(x), FFTW_FORWARD, flags);
    backward = fftw_plan_dft_1d(size, elements(x), elements(x), FFTW_BACKWARD, flags);
    if (forward == nullptr || backward == nullptr) {
      throw Error(ErrorKind::computation, message_of("FFTW has no plan for ", length, " points"));
    }
  }
  ~Plan() {
    const std::lock_guard lock(planning());
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void execute(fftw_plan plan, const DeviceComplexes& x) const {
    require(static_cast<Index>(x.extent(0)) == length, "Fourier transform: ", x.extent(0), " values for ", length);
    space.fence("heddle::schrodinger::fourier");
    fftw_execute_dft(plan, elements(x), elements(x));
  }

  ExecutionSpace space;
  Index length;
  fftw_plan forward = nullptr;
  fftw_plan backward = nullptr;
};

void Fourier::forward(const DeviceComplexes& x) const {
  plan_->execute(plan_->forward, x);
}

void Fourier::backward(const DeviceComplexes& x) const {
  plan_->execute(plan_->backward, x);
}

Fourier::Fourier(const ExecutionSpace& space, Index length) : plan_(std::make_unique<Plan>(space, length)) {}
Fourier::~Fourier() = default;
Fourier::Fourier(Fourier&&) noexcept = default;
Fourier& Fourier::operator=(Fourier&&) noexcept = default;

}  // namespace heddle::impl

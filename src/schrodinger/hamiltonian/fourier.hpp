// Fourier transforms on the device, by the vendor's library.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <limits>
#include <memory>

namespace heddle::impl {

/// Complex numbers in device memory, such as a wave function.
using DeviceComplexes = Kokkos::View<Kokkos::complex<double>*, MemorySpace>;

/// Whether this build has transforms: by FFTW on hosts, cuFFT or hipFFT.
[[nodiscard]] bool has_fourier();

/// Smallest product of a power of 2 and an odd number <= 15 that is at least `least`: a length with fast transforms.
[[nodiscard]] inline Index fast_length(Index least) {
  Index best = 1;
  while (best < least) best *= 2;
  for (Index odd = 3; odd <= 15; odd += 2) {
    Index length = odd;
    while (length < least) length *= 2;
    if (length < best) best = length;
  }
  return best;
}

/// Return a length as an int for the libraries. Throws Error(argument) if it is out of range.
[[nodiscard]] inline int checked_length(Index length) {
  require(length >= 1 && length <= std::numeric_limits<int>::max(), "Fourier transform of ", length,
          " values: expected 1 to ", std::numeric_limits<int>::max());
  return static_cast<int>(length);
}

/// x_k = sum_j x_j exp(-/+ 2 pi i j k/length), in place, forward -, backward +, neither divided by the length.
///
/// Ordered on `space`; on hosts complete when the call returns. The same bits each time: plans are estimated, not
/// timed.
class Fourier {
 public:
  /// Throws Error(argument) without has_fourier(), and for a length that is not from 1 to the largest int.
  Fourier(const ExecutionSpace& space, Index length);
  ~Fourier();
  Fourier(Fourier&&) noexcept;
  Fourier& operator=(Fourier&&) noexcept;

  void forward(const DeviceComplexes& x) const;
  void backward(const DeviceComplexes& x) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace heddle::impl

// Products of symmetric Toeplitz matrices with vectors, on the host.
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace heddle::impl {

/// The symmetric matrix t_|i-j|, as part of a circulant of about 2n: n log n operations, for two vectors at once. Error
/// of some round-offs of the matrix's norm, log2(n) at most.
class Toeplitz {
 public:
  /// `band`: t_0 ... t_w, w < n.
  Toeplitz(std::size_t n, std::span<const double> band);

  /// Multiply x and y by the matrix.
  void apply(std::span<double> x, std::span<double> y);

 private:
  void forward();
  void backward();

  std::size_t n_;
  std::vector<std::complex<double>> turns_;  // exp(-2 pi i k / length), half a turn
  std::vector<double> spectrum_;             // in the order of forward()'s result, divided by the length
  std::vector<std::complex<double>> work_;
};

}  // namespace heddle::impl

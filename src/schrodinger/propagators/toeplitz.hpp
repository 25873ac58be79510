// Products of symmetric Toeplitz matrices with vectors, on the host.
#pragma once

#include <span>
#include <vector>

namespace heddle::impl {

/// The symmetric matrix t_|i-j|, as part of a circulant of about 2n: n log n operations in a fixed order, for two
/// vectors at once. Error of some round-offs of the matrix's norm, log2(n) at most.
class Toeplitz {
 public:
  /// `band`: t_0 ... t_w, w < n.
  Toeplitz(std::size_t n, std::span<const double> band);

  /// Multiply x and y by the matrix.
  void apply(std::span<double> x, std::span<double> y);

 private:
  void forward();
  void backward();

  // Complex numbers in two arrays: for products of numbers that alternate GCC 12 takes instructions with one rounding,
  // where the processor has them, whatever -ffp-contract says.
  struct Complexes {
    std::vector<double> real;
    std::vector<double> imaginary;
  };

  std::size_t n_;
  Complexes turns_;               // exp(-2 pi i k / length), half a turn
  std::vector<double> spectrum_;  // in the order of forward()'s result, divided by the length
  Complexes work_;
};

}  // namespace heddle::impl

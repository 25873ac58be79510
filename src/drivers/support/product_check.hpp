// An independent check of a matrix product.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

#include <complex>
#include <vector>

namespace heddle::driver {

/// Random-vector check (R. Freivalds 1979) of C = alpha op(A) op(B) + beta C0, in double precision and without gemm.
///
/// For a random x of +1 and -1 it compares C x with r = alpha op(A)(op(B) x) + beta C0 x, row by row, against
/// a = |alpha| |op(A)| (|op(B)| |x|) + |beta| |C0| |x|, the size of what was summed: value() is the largest |C x - r| /
/// a, and a correct product of inner dimension K and N columns keeps it below
///   bound() = (K + 8) u_T + 2 (K + N + 8) u_double, times 2 sqrt(2) for complex T,
/// by the standard bound for inner products (N. Higham, Accuracy and Stability, 2002, section 3.1) for the product
/// itself and for the check. An error in one element shows when it is larger than bound() times a, whatever x is.
///
/// Made before the product, since beta C0 is overwritten. Collective; each rank reads its own elements once: cost 4
/// flops an element of A, B, C0 and C, on the host.
template <Scalar T> class ProductCheck {
 public:
  /// C0 is read unless beta is 0.
  ProductCheck(Operation op_a, T alpha, const DistributedMatrix<T>& A, Operation op_b, const DistributedMatrix<T>& B,
               T beta, const DistributedMatrix<T>& C0);

  /// The largest ratio above; NaN where C, or what was expected, is not finite.
  [[nodiscard]] double value(const DistributedMatrix<T>& C) const;
  [[nodiscard]] double bound() const { return bound_; }

 private:
  using Number = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  std::vector<Number> x_;
  std::vector<Number> expected_;
  std::vector<double> size_;
  double bound_ = 0;
};

}  // namespace heddle::driver

// An independent check of a matrix product.
#pragma once

#include "drivers/support/matrices/scaled_sums.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// Return the first operand that C = alpha op(A) op(B) + beta C0 reads and that holds NaN or infinity: "A", "B" or "C's
/// old value"; empty: all are finite. No check can judge such a product. Collective; each rank reads its own elements
/// once.
template <Scalar T>
[[nodiscard]] std::string operand_not_finite(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                                             T beta, const DistributedMatrix<T>& C0);

/// Random-vector check (R. Freivalds 1979) of C = alpha op(A) op(B) + beta C0, in double precision and without gemm.
///
/// For a random x of +1 and -1 it compares C x with r = alpha op(A)(op(B) x) + beta C0 x, row by row, against
/// a = |alpha| |op(A)| (|op(B)| |x|) + |beta| |C0| |x|, the size of what was summed. A correct product of inner
/// dimension K and N columns has |C x - r| <= bound() a + t with
///   bound() = (K + 8) u_T + 2 (K + N + 8) u_double, times 2 sqrt(2) for complex T,
/// by the standard bound for inner products (N. Higham, Accuracy and Stability, 2002, section 3.1) for the product
/// itself and for the check, and t = N max(1, |alpha|) (K/2 + 8) eta_T (times as much for complex T) for what
/// underflows, eta_T the smallest denormal number. An emulated product of fewer moduli than round-off takes has t
/// larger by the error that it reports, |alpha| emulation_error |op(A)_i|_2 sum_j |op(B)_j|_2. value() is the largest
/// |C x - r| / (a + t / bound()), at most bound() for a correct product. An error in one element shows when it is
/// larger than bound() a + t, whatever x is.
///
/// Sums are scaled by powers of two, so that none over- or underflows, whatever range the elements have.
///
/// Elements that are not finite are checked one by one. An element of C must be NaN or infinite where its row of op(A),
/// its column of op(B), its element of C0 (for beta other than 0), alpha or beta is; these elements, and what x gives
/// for their rows, are otherwise left out. No other element may be: one that overflowed is covered by no bound.
///
/// Made before the product, since beta C0 is overwritten. Collective. Each rank's host reads its own elements of A, B
/// and C0 once, C once for each value(), and A and B once more for the first value() that needs their norms (alpha
/// other than 1 and -1, or an emulation_error), on all its threads (HostParts): 4 flops an element, which take as long
/// as memory, or the bus to a device, brings the elements; and several times that where elements are not finite, rows
/// are zero, or sums get near the ends of double's range. No bit of it depends on the number of threads.
template <Scalar T> class ProductCheck {
 public:
  /// Keeps A, B and C0, which has C's placement; C0 is read unless beta is 0.
  ProductCheck(Operation op_a, T alpha, const DistributedMatrix<T>& A, Operation op_b, const DistributedMatrix<T>& B,
               T beta, const DistributedMatrix<T>& C0);

  /// The largest ratio above; NaN where an element is finite, NaN or infinite that must not be. `emulation_error`: what
  /// an emulated product reports, 0 for others.
  [[nodiscard]] double value(const DistributedMatrix<T>& C, double emulation_error = 0.0) const;
  [[nodiscard]] double bound() const { return bound_; }

 private:
  using Number = SumOf<T>;
  // Whether element (i, j) has to be NaN or infinite, but for C0.
  [[nodiscard]] bool poisoned(std::size_t i, std::size_t j) const;
  // Goes through C's elements that are not finite, or must not be: false where one is wrong; rows that can't be summed.
  bool examine(const DistributedMatrix<T>& C, std::vector<int>& left_out) const;
  // t of each row, as multiples of 2^exponent[i].
  [[nodiscard]] std::vector<double> allowance(double emulation_error, const std::vector<int>& exponent) const;

  Operation op_a_;
  Operation op_b_;
  T alpha_;
  T beta_;
  DistributedMatrix<T> A_;
  DistributedMatrix<T> B_;
  DistributedMatrix<T> C0_;
  double inner_ = 0;
  bool multiplies_ = false;   // Else only beta C0 counts.
  bool finite_ = true;        // Whether all of alpha, A, B, beta and C0 that counts is.
  std::vector<int> rows_;     // Rows of op(A) with elements that are not finite; empty if nothing is multiplied.
  std::vector<int> columns_;  // Columns of op(B), likewise.
  ScaledSums<Number> x_;
  ScaledSums<Number> expected_;
  double bound_ = 0;
  // Norms of op(A)'s rows and op(B)'s columns, computed at first use.
  mutable std::optional<std::pair<ScaledSums<Number>, ScaledSums<Number>>> norms_;
};

}  // namespace heddle::driver

// Sums over rows and columns of distributed matrices, by each rank's host in double precision.
#pragma once

#include "drivers/support/matrices/scaled_sums.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace heddle::driver {

/// Whether hosts reach the memory of matrices.
inline constexpr bool host_reads_matrices = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

/// A distributed matrix whose elements each rank's host reads, on all of its threads; on GPU backends through a panel
/// of columns in pinned memory. Functions are collective, read the elements that the matrix has at that time, and give
/// the same on every rank.
///
/// Bits: sums are in an order that follows from the placement and the backend, whatever number of threads there is.
template <Scalar T> class HostParts {
 public:
  using Number = SumOf<T>;

  explicit HostParts(DistributedMatrix<T> M) : matrix_(std::move(M)) {}

  /// Whether no element of the whole matrix is NaN or infinite. Reads the elements once, unless multiply() has found
  /// them tame or this was asked before.
  [[nodiscard]] bool finite();
  /// op(M) x, without elements that are not finite. Reads the elements once where every row's sum of magnitudes is far
  /// from the ends of double's range, as it is for elements of everyday sizes; two or three times where one is not,
  /// such as that of a row of zeros.
  [[nodiscard]] ScaledSums<Number> multiply(Operation op, const ScaledSums<Number>& x);
  /// 2-norms of op(M)'s rows, in `size`, without elements that are not finite. Reads the elements once, or
  /// three times where a row's sum of squares is near the ends of double's range.
  [[nodiscard]] ScaledSums<Number> norms_of_rows(Operation op) const;
  /// Whether each row of op(M) has an element that is not finite.
  [[nodiscard]] std::vector<int> rows_not_finite(Operation op);

 private:
  [[nodiscard]] std::optional<ScaledSums<Number>> multiply_tame(Operation op, const ScaledSums<Number>& x) const;
  [[nodiscard]] ScaledSums<Number> multiply_any(Operation op, const ScaledSums<Number>& x) const;

  DistributedMatrix<T> matrix_;
  // Known properties of the elements, the same on every rank.
  std::optional<bool> tame_;
  std::optional<bool> finite_;
};

}  // namespace heddle::driver

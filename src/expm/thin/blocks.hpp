// Operations of the methods for exp(A) B on thin blocks, except products with A. Every rank does all of it.
#pragma once

#include "core/elementwise.hpp"
#include <heddle/dist/matrix.hpp>

#include <span>
#include <vector>

namespace heddle::impl {

/// Type of sums over rows of any T.
template <Scalar T> using Wide = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

/// Factors of a step of recur().
template <Scalar T> struct RecurrenceFactors { T p, q, r, g; };
/// Z = p Y + q X + r Z, then R += g Z; r == 0 does not read Z. Does not block.
template <Scalar T>
void recur(const ExecutionSpace& space, const RecurrenceFactors<T>& factors, const MatrixView<const T>& Y,
           const MatrixView<const T>& X, const MatrixView<T>& Z, const MatrixView<T>& R);

/// Y = a X + b Y; b == 0 does not read Y, a == 0 does not read X. Does not block.
template <Scalar T>
void add_scaled(const ExecutionSpace& space, T a, const MatrixView<const T>& X, T b, const MatrixView<T>& Y);

/// Sums down the columns, in an order that depends on the length alone, and combinations with a factor for each column.
template <Scalar T> class BlockColumns {
 public:
  explicit BlockColumns(const ExecutionSpace& space) : space_(space) {}

  /// Return <V_b, W_(b mod m)> for b = 0 ... columns of V, m = columns of W. Blocks.
  [[nodiscard]] std::vector<Wide<T>> dots(const MatrixView<const T>& V, const MatrixView<const T>& W);
  /// Return ||W_c||_2, for elements whose squares don't overflow; infinity for NaN. Blocks.
  [[nodiscard]] std::vector<double> norms(const MatrixView<const T>& W);
  /// Return max |Re w_ic|, |Im w_ic|; infinity for NaN. Blocks.
  [[nodiscard]] std::vector<double> largest(const MatrixView<const T>& W);
  /// W_c = own[c] W_c + sum_k factors[k m + c] V_(k m + c), in the order of k; own[c] == 0 does not read W. Blocks
  /// until the factors are on the device.
  void combine(std::span<const Wide<T>> own, const MatrixView<T>& W, std::span<const Wide<T>> factors,
               const MatrixView<const T>& V);

 private:
  using Pinned = Kokkos::View<Wide<T>*, Kokkos::SharedHostPinnedSpace>;
  void reserve(std::size_t count);

  ExecutionSpace space_;
  Kokkos::View<Wide<T>*, MemorySpace> device_;
  Pinned host_;
};

}  // namespace heddle::impl

// The exponentials of many small matrices in one launch.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace heddle {

/// The largest number of rows that expm_batched() takes.
inline constexpr Index largest_expm_batched = 64;

/// The outcome for one matrix of a batch.
enum class ExpmBatchedInfo : int {
  /// The exponential was computed.
  done = 0,
  not_finite = 1,  ///< A holds NaN or Inf.
  overflow = 2,    ///< exp(A) has elements beyond the range of T.
};

/// How accurate the exponentials of a batch are.
struct ExpmBatchedOptions {
  /// Bound on the relative backward error of each matrix in the 1-norm, in exact arithmetic. 0, and anything below the
  /// unit round-off of T, stands for the unit round-off of T.
  double tolerance = 0.0;
};

/// The outcomes for the matrices of a batch: one ExpmBatchedInfo, as a number, for each matrix. An empty view if the
/// caller does not need them.
using ExpmBatchedInfos = Kokkos::View<int*, Kokkos::LayoutStride, MemorySpace>;

namespace compiled {

/// A matrix and the destination of its exponential, n x n, any strides.
template <Scalar T> struct ExpmBatchedItem {
  const T* from;
  T* to;
  Index from_row, from_column, to_row, to_column;
  int n;
};

/// Compute exponentials of `count` matrices; matrix b is `first` with both pointers moved by b times their steps.
template <Scalar T>
void expm_batched(const ExecutionSpace& space, const ExpmBatchedItem<T>& first, Index from_step, Index to_step,
                  Index count, const ExpmBatchedInfos& info, const ExpmBatchedOptions& options);
template <Scalar T>
void expm_batched(const ExecutionSpace& space, std::span<const ExpmBatchedItem<T>> items, const ExpmBatchedInfos& info,
                  const ExpmBatchedOptions& options);

}  // namespace compiled

/// Computes E_b = exp(A_b) for each matrix of a batch, where A_b = A(:, :, b) and E_b = E(:, :, b) are n x n with n <=
/// 64.
///
/// - Shapes: any strides; E may be A itself, but must not overlap it otherwise.
/// - Errors: throws Error(argument) for shapes that do not fit, n > 64 and a tolerance outside [0, 1). Each matrix
///   fails by itself: if info(b) is not `done`, E_b holds NaN. Accuracy and zeros are those of expm().
/// - Bits: reproducible for any number of threads, on CPUs of any kind, and independent of the other matrices of the
///   batch. Does not block.
/// - Cost: 2 n^3 flops a product (complex: 8 n^3), 5 products for ||A_b||_1 = 1 in double, 4 in float. A team of
///   threads works on each matrix, in 7 matrices of scratch memory.
/// - Sources: P. Bader, S. Blanes, F. Casas (2019); J. Sastre, J. Ibanez, E. Defez (2019); A. Al-Mohy, N. Higham
///   (2009). The method is in docs/notes/expm.md, section "The action, and batches".
template <class ViewA, class ViewE>
  requires Scalar<typename ViewE::non_const_value_type>
void expm_batched(const ExecutionSpace& space, const ViewA& A, const ViewE& E, const ExpmBatchedInfos& info = {},
                  const ExpmBatchedOptions& options = {}) {
  using T = typename ViewE::value_type;
  static_assert(ViewA::rank() == 3 && ViewE::rank() == 3,
                "expm_batched: matrices along the third extent of a view, please");
  static_assert(std::is_same_v<typename ViewA::non_const_value_type, T>, "expm_batched: A and E of one type, please");
  static_assert(Kokkos::SpaceAccessibility<MemorySpace, typename ViewA::memory_space>::accessible &&
                    Kokkos::SpaceAccessibility<MemorySpace, typename ViewE::memory_space>::accessible,
                "expm_batched: views in heddle::MemorySpace, please");
  require(A.extent(0) == A.extent(1), "expm_batched: A is ", A.extent(0), " x ", A.extent(1),
          " each; expected square matrices");
  require(E.extent(0) == A.extent(0) && E.extent(1) == A.extent(1) && E.extent(2) == A.extent(2), "expm_batched: E is ",
          E.extent(0), " x ", E.extent(1), " x ", E.extent(2), "; expected ", A.extent(0), " x ", A.extent(1), " x ",
          A.extent(2));
  const compiled::ExpmBatchedItem<T> first{A.data(),
                                           E.data(),
                                           static_cast<Index>(A.stride(0)),
                                           static_cast<Index>(A.stride(1)),
                                           static_cast<Index>(E.stride(0)),
                                           static_cast<Index>(E.stride(1)),
                                           static_cast<int>(A.extent(0))};
  compiled::expm_batched<T>(space, first, static_cast<Index>(A.stride(2)), static_cast<Index>(E.stride(2)),
                            static_cast<Index>(A.extent(2)), info, options);
}

/// Computes E[b] = exp(A[b]) as above for matrices of different sizes, which are column-major views with any leading
/// dimension. Blocks until the list of matrices has reached the device, but not until the exponentials are computed.
template <Scalar T>
void expm_batched(const ExecutionSpace& space, std::span<const MatrixView<const T>> A, std::span<const MatrixView<T>> E,
                  const ExpmBatchedInfos& info = {}, const ExpmBatchedOptions& options = {}) {
  require(A.size() == E.size(), "expm_batched: ", A.size(), " matrices and ", E.size(), " exponentials");
  std::vector<compiled::ExpmBatchedItem<T>> items;
  items.reserve(A.size());
  for (std::size_t b = 0; b < A.size(); ++b) {
    require(A[b].extent(0) == A[b].extent(1) && E[b].extent(0) == A[b].extent(0) && E[b].extent(1) == A[b].extent(1),
            "expm_batched: A[", b, "] is ", A[b].extent(0), " x ", A[b].extent(1), ", E[", b, "] is ", E[b].extent(0),
            " x ", E[b].extent(1), "; expected square matrices of one size");
    items.push_back({A[b].data(), E[b].data(), static_cast<Index>(A[b].stride(0)), static_cast<Index>(A[b].stride(1)),
                     static_cast<Index>(E[b].stride(0)), static_cast<Index>(E[b].stride(1)),
                     static_cast<int>(A[b].extent(0))});
  }
  compiled::expm_batched<T>(space, std::span<const compiled::ExpmBatchedItem<T>>(items), info, options);
}

}  // namespace heddle

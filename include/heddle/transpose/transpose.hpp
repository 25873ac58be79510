// B = alpha op(A) on one rank: transposed, conjugated, or laid out anew.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/core/strided.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heddle {

/// What transpose() moves: the four scalars, and integers of 32 and 64 bits.
template <class T>
concept Transposable = Scalar<T> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// How elements are moved. The first three are the steps of the GPU literature (G. Ruetsch and P. Micikevicius,
/// "Optimizing matrix transpose in CUDA", 2009), to be compared; all give the same bits.
enum class TransposeVariant {
  automatic,     ///< The fastest here: `streamed` for all but small matrices.
  naive,         ///< Element by element: reads are contiguous, writes are not.
  tiled,         ///< By tiles in shared memory (GPUs) or cache (CPUs): both are, but columns of a tile share its banks.
  tiled_padded,  ///< The same, one element more from column to column of a tile: no bank conflicts.
  /// CPUs: tiles transposed in registers, long runs that leave by full cache lines past the caches. GPUs: padded tiles
  /// of a fixed size, several elements a thread.
  streamed,
};

/// "automatic", "naive", "tiled", "tiled-padded" or "streamed".
[[nodiscard]] std::string_view to_string(TransposeVariant variant);
/// Reads one of these; throws Error(argument) for anything else.
[[nodiscard]] TransposeVariant transpose_variant_from(std::string_view text);

struct TransposeOptions {
  TransposeVariant variant = TransposeVariant::automatic;
  /// Extents of a block along the rows and the columns of A; 0: chosen. For naive, tiled and tiled_padded. On GPUs a
  /// block has at most 1024 elements where it is naive, and fits the shared memory of a team where it is tiled.
  int block_rows = 0;
  int block_columns = 0;
  /// Of a GPU's threads, in (0, 1], for `streamed`: beside a transpose at full speed, copies from and to other devices
  /// wait for the memory. CPUs: without effect.
  double device_share = 1.0;
};

namespace compiled {

/// A matrix, or a batch of them along a third extent, as a batch.
template <class View> StridedBatch<typename View::value_type> as_batch(const View& view) {
  if constexpr (View::rank() == 3) {
    return strided(view);
  } else {
    const auto matrix = strided(view);
    return StridedBatch<typename View::value_type>(
        matrix.data(),
        Kokkos::LayoutStride(matrix.extent(0), matrix.stride(0), matrix.extent(1), matrix.stride(1), 1, matrix.size()));
  }
}

template <Transposable T>
void transpose(const ExecutionSpace& space, T alpha, const StridedBatch<const T>& A, Operation op,
               const StridedBatch<T>& B, const TransposeOptions& options);
template <Transposable T>
void transpose_in_place(const ExecutionSpace& space, T alpha, const StridedBatch<T>& A, Operation op);
template <Transposable T>
void transpose_in_place(const ExecutionSpace& space, T alpha, const Kokkos::View<T*, MemorySpace>& elements, Index rows,
                        Index columns, Operation op);

}  // namespace compiled

/// B = alpha op(A): A is m x n, B is n x m (m x n for Operation::none, which only changes the layout), any strides, so
/// LayoutLeft, LayoutRight, sub-views and padded matrices; of views with a third extent, each matrix along it.
///
/// The conjugate transpose of integers and reals is the transpose; alpha is exact where it is 1 (no operation is done
/// then). Throws Error(argument) for shapes that don't fit, options that the device can't run, and where B overlaps A.
/// Ordered on `space`; does not block. Bits: reproducible. Cost: each element read once and written once.
template <class ViewA, class ViewB>
  requires Transposable<typename ViewB::value_type> && std::same_as < std::remove_const_t<typename ViewA::value_type>,
typename ViewB::value_type > void transpose(const ExecutionSpace& space,
                                            const typename ViewB::non_const_value_type& alpha, const ViewA& A,
                                            Operation op, const ViewB& B, const TransposeOptions& options = {}) {
  using T = typename ViewB::value_type;
  compiled::transpose<T>(space, alpha, compiled::as_batch(typename ViewA::const_type(A)), op, compiled::as_batch(B),
                         options);
}

/// A = alpha op(A) for square A, any strides, each matrix of a batch. As transpose() otherwise.
template <class View>
  requires Transposable<typename View::value_type>
void transpose_in_place(const ExecutionSpace& space, const typename View::non_const_value_type& alpha, const View& A,
                        Operation op) {
  compiled::transpose_in_place<typename View::value_type>(space, alpha, compiled::as_batch(A), op);
}

/// The m x n matrix A that is column-major in the first mn elements, its leading dimension m, becomes alpha op(A)
/// there, column-major and n x m (m x n for Operation::none), by permutations within rows and within columns (B.
/// Catanzaro, A. Keller, M. Garland, "A decomposition for in-place matrix transposition", PPoPP 2014).
///
/// Allocates workspace of at most an eighth of A, or of a row or a cache line's worth of columns where that is more.
/// Throws Error(argument) where the view has fewer elements. Does not block but for the workspace. Bits: reproducible.
/// Cost: each element read and written up to six times: where there is room for B, transpose() is by far the faster.
template <class View>
  requires Transposable<typename View::value_type> &&
      (View::rank() == 1) void transpose_in_place(const ExecutionSpace& space,
                                                  const typename View::non_const_value_type& alpha,
                                                  const View& elements, Index rows, Index columns, Operation op) {
    using T = typename View::value_type;
    compiled::transpose_in_place<T>(space, alpha, Kokkos::View<T*, MemorySpace>(elements), rows, columns, op);
  }

}  // namespace heddle

// B = alpha op(A) on one rank: a matrix is transposed, conjugated, or laid out anew.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/core/strided.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heddle {

/// The types of elements that transpose() moves: the four scalars, and integers of 32 and 64 bits.
template <class T>
concept Transposable = Scalar<T> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// Method of moving elements. naive, tiled and tiled_padded are the steps of the GPU literature (G. Ruetsch and P.
/// Micikevicius, "Optimizing matrix transpose in CUDA", 2009), and are there to be compared. All variants give the same
/// bits.
enum class TransposeVariant {
  automatic,  ///< The fastest on this backend: `streamed` for all but small matrices.
  naive,      ///< Element by element: reads are contiguous, writes are not.
  /// By tiles in shared memory (GPUs) or cache (CPUs): reads and writes are contiguous, but columns of a tile share the
  /// banks of shared memory.
  tiled,
  tiled_padded,  ///< By tiles with one more element from column to column, so that there are no bank conflicts.
  /// On CPUs, tiles that are transposed in registers and long runs that are written by full cache lines past the
  /// caches. On GPUs, padded tiles of a fixed size, with several elements a thread.
  streamed,
};

/// The name of a variant: "automatic", "naive", "tiled", "tiled-padded" or "streamed".
[[nodiscard]] std::string_view to_string(TransposeVariant variant);
/// The variant of a name. Throws Error(argument) for any other text.
[[nodiscard]] TransposeVariant transpose_variant_from(std::string_view text);

/// Options of a transpose.
struct TransposeOptions {
  TransposeVariant variant = TransposeVariant::automatic;  ///< Method of moving elements.
  /// Extent of a block along the rows of A, for naive, tiled and tiled_padded; 0 lets the library choose. A naive block
  /// has fewer than 2^31 elements, on GPUs at most 1024; a tiled one fits the scratch memory of a team.
  int block_rows = 0;
  /// Extent of a block along the columns of A, as block_rows is along the rows.
  int block_columns = 0;
  /// Share of a GPU's threads that `streamed` takes, in (0, 1]: while a transpose runs at full speed, copies from and
  /// to other devices have to wait for the memory. It has no effect on CPUs.
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

/// Computes B = alpha op(A), where A is m x n and B is n x m (m x n for Operation::none, which only changes the
/// layout). Views have any strides, so they may be LayoutLeft, LayoutRight, sub-views and padded matrices; of views
/// with a third extent, each matrix along it is transposed.
///
/// The conjugate transpose of integers and reals is the transpose. alpha = 1 is exact, as no operation is done then.
/// Throws Error(argument) for shapes that don't fit, options that the device can't run, and where B shares an element
/// with A. Ordered on `space`; does not block. Bits: reproducible. Cost: each element is read once and written once.
template <class ViewA, class ViewB>
  requires Transposable<typename ViewB::value_type> && std::same_as < std::remove_const_t<typename ViewA::value_type>,
typename ViewB::value_type > void transpose(const ExecutionSpace& space,
                                            const typename ViewB::non_const_value_type& alpha, const ViewA& A,
                                            Operation op, const ViewB& B, const TransposeOptions& options = {}) {
  using T = typename ViewB::value_type;
  compiled::transpose<T>(space, alpha, compiled::as_batch(typename ViewA::const_type(A)), op, compiled::as_batch(B),
                         options);
}

/// Computes A = alpha op(A) in place for a square A of any strides, or for each matrix of a batch. Throws
/// Error(argument) for matrices that are not square. Ordered on `space`; does not block. Bits: reproducible.
template <class View>
  requires Transposable<typename View::value_type>
void transpose_in_place(const ExecutionSpace& space, const typename View::non_const_value_type& alpha, const View& A,
                        Operation op) {
  compiled::transpose_in_place<typename View::value_type>(space, alpha, compiled::as_batch(A), op);
}

/// Computes alpha op(A) in place of an m x n matrix A, which is column-major in the first mn elements with leading
/// dimension m. The result is there column-major too, n x m (m x n for Operation::none). It is made by permutations
/// within rows and within columns (B. Catanzaro, A. Keller, M. Garland, "A decomposition for in-place matrix
/// transposition", PPoPP 2014).
///
/// Workspace: at most an eighth of A, or a row, or a cache line's worth of columns, where that is more. Throws
/// Error(argument) for negative extents and where the view has fewer elements than the matrix. Does not block except to
/// allocate the workspace. Bits: reproducible. Cost: each element is read and written up to six times; where there is
/// room for B, transpose() is much faster.
template <class View>
  requires Transposable<typename View::value_type> &&
      (View::rank() == 1) void transpose_in_place(const ExecutionSpace& space,
                                                  const typename View::non_const_value_type& alpha,
                                                  const View& elements, Index rows, Index columns, Operation op) {
    using T = typename View::value_type;
    compiled::transpose_in_place<T>(space, alpha, Kokkos::View<T*, MemorySpace>(elements), rows, columns, op);
  }

}  // namespace heddle

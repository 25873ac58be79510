// Columns of a matrix in blocks, made orthogonal by rotations of them: the one-sided Jacobi iteration.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/dense/matrices.hpp"
#include "eigen/dense/round_robin.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace heddle::eigen::impl {

/// Pairs of blocks of a step.
struct BlockPairs {
  int pairs;
  int step;
  /// Each of `pairs` blocks from first_begin on meets one of as many from second_begin on; else all of 2 pairs blocks
  /// from first_begin on, in the order of Brent and Luk.
  bool across = false;
  int first_begin = 0;
  int second_begin = 0;
  /// If not null, the pairs themselves in memory of the kernels, two blocks each; nothing else then counts.
  const int* listed = nullptr;

  KOKKOS_INLINE_FUNCTION int first(int k) const {
    return listed != nullptr ? listed[2 * k] : first_begin + (across ? k : occupant(k, pairs, step));
  }
  KOKKOS_INLINE_FUNCTION int second(int k) const {
    return listed != nullptr ? listed[2 * k + 1]
           : across          ? second_begin + (k + step) % pairs
                             : first_begin + occupant(pairs + k, pairs, step);
  }
};

/// The columns of a block that the caller asked for: wider blocks than these would only enlarge the workspace.
inline int clamped_block(Index columns, int block) {
  return static_cast<int>(std::min<Index>(block, std::max<Index>(columns, 64)));
}
/// The blocks of a matrix: an even number, so that all are in pairs, and at least one pair.
inline int blocks_for(Index columns, int block) {
  const Index two = Index{2} * block;
  return static_cast<int>(std::max<Index>(2, (columns + two - 1) / two * 2));
}

/// Memory for `count` matrices, each of `blocks` blocks of columns, and the workspace of their rotations. Rows beyond
/// `rows` and columns that are not filled are zeros and stay so. `carried` rows lie below those: rotations turn them
/// too, but they have no part in inner products, so that an identity there becomes the product of all rotations. A
/// matrix's bits do not depend on the others.
template <Scalar T> class BlockColumns {
 public:
  using R = Real<T>;
  using Memory = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;

  /// block 0: chosen, from the extents alone.
  BlockColumns(const Scratch& scratch, Index rows, Index columns, int block, Index count = 1, Index carried = 0);
  ~BlockColumns();
  BlockColumns(const BlockColumns&) = delete;
  BlockColumns& operator=(const BlockColumns&) = delete;

  /// The columns of a block that the constructor makes of its arguments.
  [[nodiscard]] static int block_for(Index columns, int block);
  [[nodiscard]] int block() const { return block_; }
  /// rows x columns of one matrix.
  [[nodiscard]] MatrixView<T> columns(Index matrix = 0) const {
    return Kokkos::subview(memory_, Kokkos::make_pair(Index{0}, rows_), Kokkos::make_pair(Index{0}, columns_), matrix);
  }
  /// Rows, columns and matrices, padding included; carried rows begin at carried_begin().
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] Index carried_begin() const { return padded_rows_; }
  /// Bytes for one matrix: its columns, and the workspace of the kernels.
  [[nodiscard]] static Index bytes_of_one(Index rows, Index columns, Index carried);

  /// From now on bits are the same on every processor; it costs time where that has no fused multiply-add. On GPUs
  /// nothing changes.
  void set_portable();
  /// Choose the matrices that steps and sweeps rotate; the default is all of them. Blocks.
  void choose(const std::vector<int>& matrices);
  /// Makes the columns of these pairs of blocks orthogonal, by one sweep of rotations of each pair; ordered on the
  /// instance. Cosines up to `tolerance` are left.
  void step(const BlockPairs& order, R tolerance);
  /// Counts of all steps since the last call, for each of the matrices; blocks.
  std::vector<SweepCounts<R>> counts_of_each();
  /// The same counts for the first matrix.
  SweepCounts<R> counts() { return counts_of_each().front(); }
  /// Rotate all pairs once; ordered on the instance.
  void all_steps(R tolerance);
  /// Rotate all pairs once and return the counts of the first matrix.
  SweepCounts<R> sweep(R tolerance) {
    all_steps(tolerance);
    return counts();
  }

 private:
  // Workspace of the backend.
  struct Work;

  [[nodiscard]] Index leading() const { return static_cast<Index>(memory_.extent(0)); }

  ExecutionSpace space_;
  Index rows_ = 0;
  Index columns_ = 0;
  Index padded_rows_ = 0;
  int block_ = 0;
  int blocks_ = 0;  // Even.
  std::vector<int> chosen_;
  Memory memory_;  // Rows, padded, and carried ones, padded; blocks_ * block_ columns; matrices.
  std::unique_ptr<Work> work_;
};

/// Sweeps of columns.sweep() until none leaves a cosine above the tolerance, as the report then says. Lengths of the
/// columns are of one size unless the report's accuracy is `relative`.
template <Scalar T, class Columns>
void sweep_until_orthogonal(Columns& columns, Real<T> tolerance, Index n, JacobiOptions options, JacobiReport& report) {
  options.rotations = 0;  // A limit of two-sided rotations, which come one by one.
  iterate<Real<T>>(
      [&] {
        const SweepCounts<Real<T>> counts = columns.sweep(tolerance);
        report.off_norms.push_back(counts.largest);
        return counts;
      },
      tolerance, n, options, report);
}

}  // namespace heddle::eigen::impl

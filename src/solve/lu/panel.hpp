// A panel of columns, factored with partial pivoting on one rank.
#pragma once

#include "solve/grid/subtraction.hpp"
#include "solve/lu/device_leaf.hpp"

#include <vector>

namespace heddle::impl {

/// Results of the factorization of a panel of `width` columns besides the factors, in one piece of device memory that
/// is sent with them. Rows are counted from the panel's first.
struct PanelResult {
  Index width = 0;
  Kokkos::View<Index*, MemorySpace> data;

  PanelResult() = default;
  PanelResult(const Kokkos::View<Index*, MemorySpace>& memory, Index columns) : width(columns), data(memory) {}
  [[nodiscard]] static Index extent(Index width) { return 1 + width + RowMoves::extent(2 * width); }
  /// 0, or k + 1 if the pivot of column k is the first that is exactly zero.
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> info() const { return part(0, 1); }
  /// The row that was interchanged with row k in step k.
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> pivots() const { return part(1, width); }
  /// The interchanges as one permutation.
  [[nodiscard]] RowMoves moves() const { return RowMoves(part(1 + width, RowMoves::extent(2 * width))); }

 private:
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> part(Index begin, Index count) const {
    return Kokkos::subview(data, Kokkos::pair<Index, Index>(begin, begin + count));
  }
};

/// LU of panels P = Q L U, P of up to `rows` x `width`, in place: recursion on the columns (S. Toledo, "Locality of
/// reference in LU decomposition with partial pivoting", 1997) down to a few columns, which are factored one after the
/// other. The pivot of a column is the first of its largest elements, by |x|, or by |real| + |imaginary| rounded once;
/// a NaN is never chosen before a number.
///
/// Bits: where products are chains, each element is one chain of fused multiply-adds in the order of the columns, and
/// then, below the diagonal, divided by the pivot (PivotDivisor): the recursion changes no bit. Otherwise those of the
/// BLAS, whose products have shapes that follow from the panel's.
template <Scalar T> class PanelFactor {
 public:
  PanelFactor(const ExecutionSpace& space, Index rows, Index width);
  /// Ordered on the instance of `subtract`; on GPUs it does not block.
  void operator()(Subtraction<T>& subtract, const MatrixView<T>& P, const PanelResult& result);

 private:
  // Factor columns [begin, end).
  void factor(Subtraction<T>& subtract, Index begin, Index end);
  void factor_leaves_on_device(const ExecutionSpace& space, Index begin, Index end);
  void factor_leaf_on_host(const ExecutionSpace& space, Index begin, Index end);

  MatrixView<T> panel_;
  PanelResult result_;
  RowMoves leaf_moves_;
  std::vector<Index> host_order_;            // On CPUs: the identity permutation.
  Kokkos::View<Index*, MemorySpace> order_;  // On GPUs: original row of the panel for each row.
  DeviceLeaves<T> leaves_;
};

}  // namespace heddle::impl

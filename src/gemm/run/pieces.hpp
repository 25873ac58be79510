// Moving what one rank owns of a region between its place in the region and a contiguous message.
#pragma once

#include "core/elementwise.hpp"
#include "gemm/plan/schedule.hpp"
#include <heddle/dist/placement.hpp>

#include <string>

namespace heddle::impl {

/// Position of a piece's rows and columns in a region: position(i, j) of its local row i and column j.
struct PieceMap {
  CyclicAxis row_axis;
  CyclicAxis column_axis;
  int grid_row;
  int grid_column;
  Index first_row;     // the piece's, local to its owner
  Index first_column;  // the piece's, local to its owner
  Index region_row;
  Index region_column;

  PieceMap(const Placement& placement, const Region& region, const Piece& piece)
      : row_axis(placement.row_axis()),
        column_axis(placement.column_axis()),
        grid_row(placement.grid_row(piece.owner)),
        grid_column(placement.grid_column(piece.owner)),
        first_row(piece.rows.begin),
        first_column(piece.columns.begin),
        region_row(region.rows.begin),
        region_column(region.columns.begin) {}

  KOKKOS_INLINE_FUNCTION Index row(Index i) const { return row_axis.global(grid_row, first_row + i) - region_row; }
  KOKKOS_INLINE_FUNCTION Index column(Index j) const {
    return column_axis.global(grid_column, first_column + j) - region_column;
  }
};

/// body() down a column in runs of one block, so that the division is done once a run and the loop vectorises.
template <class Body> struct VisitColumnByRuns {
  PieceMap map;
  Index rows;
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(Index j) const {
    const Index column = map.column(j);
    for (Index begin = 0; begin < rows;) {
      const Index left = map.row_axis.block - (map.first_row + begin) % map.row_axis.block;
      const Index end = begin + left < rows ? begin + left : rows;
      const Index shift = map.row(begin) - begin;
      for (Index i = begin; i < end; ++i) {
        body(i, j, i + shift, column);
      }
      begin = end;
    }
  }
};

/// body() for one element.
template <class Body> struct VisitMapped {
  PieceMap map;
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { body(i, j, map.row(i), map.column(j)); }
};

/// body(i, j, row, column) for each element (i, j) of a piece, which is (row, column) of its region.
template <class Body>
void for_each_mapped(const ExecutionSpace& space, const std::string& label, const PieceMap& map, Index rows,
                     Index columns, const Body& body) {
  if constexpr (on_host) {
    // Below this many rows a block, a division an element costs less.
    constexpr Index shortest_run = 4;
    if (map.row_axis.block >= shortest_run) {
      Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns),
                           VisitColumnByRuns<Body>{map, rows, body});
      return;
    }
  }
  for_each_element(space, label, rows, columns, VisitMapped<Body>{map, body});
}

template <class T> struct PutIntoRegion {
  Elements<const T> from;
  Elements<T> to;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j, Index row, Index column) const {
    to(row, column) = from(i, j);
  }
};

/// region(map) = piece.
template <class T>
void piece_to_region(const ExecutionSpace& space, const PieceMap& map, const MatrixView<const T>& piece,
                     const MatrixView<T>& region) {
  for_each_mapped(space, "heddle::gemm::piece_to_band", map, static_cast<Index>(piece.extent(0)),
                  static_cast<Index>(piece.extent(1)), PutIntoRegion<T>{Elements<const T>(piece), Elements<T>(region)});
}

template <class T> struct TakeFromRegion {
  Elements<const T> from;
  Elements<T> to;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j, Index row, Index column) const {
    to(i, j) = from(row, column);
  }
};

/// piece = region(map).
template <class T>
void region_to_piece(const ExecutionSpace& space, const PieceMap& map, const MatrixView<const T>& region,
                     const MatrixView<T>& piece) {
  for_each_mapped(space, "heddle::gemm::tile_to_piece", map, static_cast<Index>(piece.extent(0)),
                  static_cast<Index>(piece.extent(1)),
                  TakeFromRegion<T>{Elements<const T>(region), Elements<T>(piece)});
}

template <Scalar T> struct AccumulateElement {
  Elements<const T> from;
  Elements<T> to;
  T beta;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    to(i, j) = multiply_add(beta, to(i, j), from(i, j));
  }
};

/// C = product + beta C, rounded once; beta == 0 does not read C.
template <Scalar T>
void accumulate(const ExecutionSpace& space, const MatrixView<const T>& product, T beta, const MatrixView<T>& C) {
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  if (beta == T{0}) {
    copy_elements<T>(space, "heddle::gemm::accumulate", product, C);
  } else {
    for_each_element(space, "heddle::gemm::accumulate", rows, columns,
                     AccumulateElement<T>{Elements<const T>(product), Elements<T>(C), beta});
  }
}

template <Scalar T> struct AddElement {
  Elements<const T> from;
  Elements<T> to;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { to(i, j) += from(i, j); }
};

/// C = C + product, rounded once.
template <Scalar T>
void add_layer(const ExecutionSpace& space, const MatrixView<const T>& product, const MatrixView<T>& C) {
  for_each_element(space, "heddle::gemm::add_layer", static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)),
                   AddElement<T>{Elements<const T>(product), Elements<T>(C)});
}

template <Scalar T> struct AccumulateFromRegion {
  Elements<const T> from;
  Elements<T> to;
  T beta;
  bool reads;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j, Index row, Index column) const {
    to(i, j) = reads ? multiply_add(beta, to(i, j), from(row, column)) : from(row, column);
  }
};

/// As accumulate(), for a piece of C out of a tile, region(map) + beta C.
template <Scalar T>
void accumulate_region(const ExecutionSpace& space, const PieceMap& map, const MatrixView<const T>& region, T beta,
                       const MatrixView<T>& C) {
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  for_each_mapped(space, "heddle::gemm::accumulate", map, rows, columns,
                  AccumulateFromRegion<T>{Elements<const T>(region), Elements<T>(C), beta, beta != T{0}});
}

}  // namespace heddle::impl

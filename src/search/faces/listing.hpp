// Lists of faces from the marks of a search.
#pragma once

#include "search/faces/inspect.hpp"

namespace heddle::search::impl {

/// Sixteen bits a cell: the lower eight mark sides that are alone, the upper eight those that at least two others
/// equal.
using Marks = Kokkos::View<std::uint32_t*, MemorySpace>;

inline constexpr int many_shift = 8;

KOKKOS_INLINE_FUNCTION std::uint32_t marks_of(const Marks& marks, Index cell) {
  return (marks(cell / 2) >> (16 * static_cast<int>(cell & 1))) & 0xFFFF;
}

/// The source for a block of a mesh. Numbers of points count from `least` and take `bits` bits.
template <PointId Id, Shape shape>
FaceSource<Id, shape> source_of(const Mesh<Id>& block, Index first, bool drop_ghosts, std::int64_t least, int bits) {
  FaceSource<Id, shape> source;
  source.items = block.cells();
  source.first = first;
  source.points = block.points;
  source.kinds = block.kinds;
  source.offsets = block.offsets;
  if (drop_ghosts) source.dropped = block.ghosts;
  source.kind = block.kind;
  source.least = static_cast<Id>(least);
  source.bits = bits;
  return source;
}

struct ListSize {
  Index faces = 0;
  Index corners = 0;
  KOKKOS_INLINE_FUNCTION ListSize& operator+=(const ListSize& other) {
    faces += other.faces;
    corners += other.corners;
    return *this;
  }
};

/// Sizes of the lists of both kinds of marked sides.
struct ListSizes {
  ListSize alone;
  ListSize many;
  KOKKOS_INLINE_FUNCTION ListSizes& operator+=(const ListSizes& other) {
    alone += other.alone;
    many += other.many;
    return *this;
  }
};

/// Cells per thread in a loop over marks: most are inside the mesh and have none.
inline constexpr Index cells_a_run = 32;

/// Faces and corners that cells add to the lists.
template <PointId Id, Shape shape> struct SideSizes {
  FaceSource<Id, shape> source;
  Marks marks;
  Kokkos::View<const std::uint8_t*, MemorySpace> hidden;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index runs() const { return (source.items + cells_a_run - 1) / cells_a_run; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index end_of(Index run) const {
    const Index end = (run + 1) * cells_a_run;
    return end < source.items ? end : source.items;
  }
  /// Marks of a cell, none for hidden ones.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t sides(Index item) const {
    const std::uint32_t found = marks_of(marks, source.first + item);
    return found == 0 || (hidden.extent(0) > 0 && hidden(item) != 0) ? 0 : found;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION ListSize size(Index item, std::uint32_t sides_of_cell) const {
    ListSize size;
    if (sides_of_cell == 0) return size;
    const CellKind kind = source.kind_of(item);
    for (int side = 0; side < 6; ++side) {
      if ((sides_of_cell >> side & 1) == 0) continue;
      ++size.faces;
      size.corners += corner_count(side_corners(kind, side));
    }
    return size;
  }
};

template <PointId Id, Shape shape> struct CountFaces {
  SideSizes<Id, shape> cells;

  KOKKOS_INLINE_FUNCTION void operator()(Index run, ListSizes& sum) const {
    for (Index item = run * cells_a_run; item < cells.end_of(run); ++item) {
      const std::uint32_t sides = cells.sides(item);
      if (sides == 0) continue;
      sum += {cells.size(item, sides & 0xFF), cells.size(item, sides >> many_shift)};
    }
  }
};
template <PointId Id, Shape shape> struct ListFaces {
  SideSizes<Id, shape> cells;
  int shift;
  FaceList<Id> list;
  ListSize before;

  KOKKOS_INLINE_FUNCTION void operator()(Index run, ListSize& sum, bool last) const {
    for (Index item = run * cells_a_run; item < cells.end_of(run); ++item) {
      const std::uint32_t sides = (cells.sides(item) >> shift) & 0xFF;
      if (sides == 0) continue;
      if (!last) {
        sum += cells.size(item, sides);
        continue;
      }
      const CellKind kind = cells.source.kind_of(item);
      const Index begin = cells.source.begin_of(item);
      for (int side = 0; side < 6; ++side) {
        if ((sides >> side & 1) == 0) continue;
        const unsigned corners = side_corners(kind, side);
        const Index face = before.faces + sum.faces++;
        list.cell(face) = cells.source.first + item;
        list.side(face) = static_cast<std::uint8_t>(side);
        list.offsets(face) = before.corners + sum.corners;
        for (int k = 0; k < corner_count(corners); ++k) {
          list.points(before.corners + sum.corners++) = cells.source.points(begin + corner(corners, k));
        }
      }
    }
  }
};

/// The lists of both kinds of marked sides, by cell and side.
template <PointId Id, Shape shape> class Listing {
 public:
  /// `workspace`, the source of the lists' memory, must outlive it.
  Listing(Workspace& workspace, const Marks& marks, bool hide_ghosts)
      : workspace_(workspace), marks_(marks), hide_(hide_ghosts) {}

  void count(const Mesh<Id>& block, Index first) {
    const auto cells = sizes(block, first);
    ListSizes here;
    Kokkos::parallel_reduce("heddle::search::count_faces", policy(cells.runs()), CountFaces<Id, shape>{cells}, here);
    total_[0] += here.alone;
    total_[1] += here.many;
  }
  void allocate() {
    for (int k = 0; k < 2; ++k) {
      FaceList<Id>& list = list_[k];
      list.cell = workspace_.template take<Index>("heddle::search::cell", total_[k].faces);
      list.side = workspace_.template take<std::uint8_t>("heddle::search::side", total_[k].faces);
      list.offsets = workspace_.template take<Index>("heddle::search::offsets", total_[k].faces + 1);
      list.points = workspace_.template take<Id>("heddle::search::points", total_[k].corners);
      Kokkos::deep_copy(workspace_.space(), Kokkos::subview(list.offsets, total_[k].faces), total_[k].corners);
    }
  }
  void write(const Mesh<Id>& block, Index first) {
    for (int k = 0; k < 2; ++k) {
      if (total_[k].faces > written_[k].faces) write_list(block, first, k);
    }
  }
  /// Valid once all blocks are written.
  [[nodiscard]] const FaceList<Id>& alone() const { return list_[0]; }
  [[nodiscard]] const FaceList<Id>& many() const { return list_[1]; }

 private:
  void write_list(const Mesh<Id>& block, Index first, int which) {
    const auto cells = sizes(block, first);
    ListSize here;
    Kokkos::parallel_scan("heddle::search::list_faces", policy(cells.runs()),
                          ListFaces<Id, shape>{cells, which * many_shift, list_[which], written_[which]}, here);
    written_[which] += here;
  }
  SideSizes<Id, shape> sizes(const Mesh<Id>& block, Index first) const {
    return {source_of<Id, shape>(block, first, false, 0, 64), marks_,
            hide_ ? block.ghosts : Kokkos::View<const std::uint8_t*, MemorySpace>()};
  }
  [[nodiscard]] Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>> policy(Index runs) const {
    return {workspace_.space(), 0, runs};
  }

  Workspace& workspace_;
  Marks marks_;
  bool hide_;
  // Index 0: sides that are alone. Index 1: sides that at least two others equal.
  ListSize total_[2];
  ListSize written_[2];
  FaceList<Id> list_[2];
};

}  // namespace heddle::search::impl

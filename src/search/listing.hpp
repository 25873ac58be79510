// Lists of faces from the marks of a search.
#pragma once

#include "search/inspect.hpp"

namespace heddle::search::impl {

/// Sixteen bits a cell: which of its sides are alone, and above them which are of faces with three and more.
using Marks = Kokkos::View<std::uint32_t*, MemorySpace>;

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

/// How much a cell adds to a list.
template <PointId Id, Shape shape> struct SideSizes {
  FaceSource<Id, shape> source;
  Marks marks;
  Kokkos::View<const std::uint8_t*, MemorySpace> hidden;
  Index first;
  int shift;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool marked(Index item, int side) const {
    return (marks_of(marks, first + item) >> (shift + side) & 1) != 0;
  }
  KOKKOS_INLINE_FUNCTION ListSize operator()(Index item) const {
    ListSize size;
    const std::uint32_t sides = (marks_of(marks, first + item) >> shift) & 0xFF;
    if (sides == 0 || (hidden.extent(0) > 0 && hidden(item) != 0)) return size;
    const CellKind kind = source.kind_of(item);
    for (int side = 0; side < 6; ++side) {
      if ((sides >> side & 1) == 0) continue;
      ++size.faces;
      size.corners += corner_count(side_corners(kind, side));
    }
    return size;
  }
};

/// The sides that `marks` has in the eight bits from `shift` on, by cell and side. Those of hidden cells are none.
template <PointId Id, Shape shape> class Listing {
 public:
  Listing(const ExecutionSpace& space, const Marks& marks, int shift, bool hide_ghosts)
      : space_(space), marks_(marks), shift_(shift), hide_(hide_ghosts) {}

  void count(const Mesh<Id>& block, Index first) {
    const auto size_at = sizes(block, first);
    ListSize here;
    Kokkos::parallel_reduce(
        "heddle::search::count_faces", policy(block),
        KOKKOS_LAMBDA(Index item, Index & faces, Index & corners) {
          const ListSize more = size_at(item);
          faces += more.faces;
          corners += more.corners;
        },
        here.faces, here.corners);
    space_.fence("heddle::search::count_faces");
    total_ += here;
  }
  void allocate() {
    const auto uninitialised = [&](const std::string& label) {
      return Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, label);
    };
    list_.cell = Kokkos::View<Index*, MemorySpace>(uninitialised("heddle::search::cell"), total_.faces);
    list_.side = Kokkos::View<std::uint8_t*, MemorySpace>(uninitialised("heddle::search::side"), total_.faces);
    list_.offsets = Kokkos::View<Index*, MemorySpace>(uninitialised("heddle::search::offsets"), total_.faces + 1);
    list_.points = Kokkos::View<Id*, MemorySpace>(uninitialised("heddle::search::points"), total_.corners);
  }
  void write(const Mesh<Id>& block, Index first) {
    const auto size_at = sizes(block, first);
    const auto source = source_of<Id, shape>(block, first, false, 0, 64);
    const auto list = list_;
    const ListSize before = written_;
    ListSize here;
    Kokkos::parallel_scan(
        "heddle::search::list_faces", policy(block),
        KOKKOS_LAMBDA(Index item, ListSize & sum, bool last) {
          const ListSize size = size_at(item);
          if (last && size.faces > 0) {
            Index face = before.faces + sum.faces;
            Index corner_at = before.corners + sum.corners;
            const CellKind kind = source.kind_of(item);
            const Index begin = source.begin_of(item);
            for (int side = 0; side < 6; ++side) {
              if (!size_at.marked(item, side)) continue;
              const unsigned corners = side_corners(kind, side);
              list.cell(face) = first + item;
              list.side(face) = static_cast<std::uint8_t>(side);
              list.offsets(face) = corner_at;
              ++face;
              for (int k = 0; k < corner_count(corners); ++k) {
                list.points(corner_at++) = source.points(begin + corner(corners, k));
              }
            }
          }
          sum += size;
        },
        here);
    written_ += here;
  }
  /// Once all blocks are written.
  FaceList<Id> finish() {
    Kokkos::deep_copy(space_, Kokkos::subview(list_.offsets, total_.faces), total_.corners);
    return list_;
  }
  [[nodiscard]] const ListSize& total() const { return total_; }

 private:
  SideSizes<Id, shape> sizes(const Mesh<Id>& block, Index first) const {
    return {source_of<Id, shape>(block, first, false, 0, 64), marks_,
            hide_ ? block.ghosts : Kokkos::View<const std::uint8_t*, MemorySpace>(), first, shift_};
  }
  auto policy(const Mesh<Id>& block) const {
    return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space_, 0, block.cells());
  }

  ExecutionSpace space_;
  Marks marks_;
  int shift_;
  bool hide_;
  ListSize total_;
  ListSize written_;
  FaceList<Id> list_;
};

}  // namespace heddle::search::impl

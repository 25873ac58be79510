// A mesh in blocks of cells that kernels can read: the whole mesh if its memory is accessible, copies of runs of cells
// otherwise.
#pragma once

#include "core/on_host.hpp"
#include "search/duplicates/workspace.hpp"
#include <heddle/core/mesh.hpp>

#include <algorithm>
#include <utility>

namespace heddle::search::impl {

struct MoveOffset {
  Kokkos::View<const Index*, MemorySpace> offsets;
  Index by;
  Kokkos::View<Index*, MemorySpace> moved;

  KOKKOS_INLINE_FUNCTION void operator()(std::size_t i) const { moved(i) = offsets(i) - by; }
};

inline Kokkos::View<const Index*, MemorySpace> moved_offsets(Workspace& workspace,
                                                             const Kokkos::View<const Index*, MemorySpace>& offsets,
                                                             Index by) {
  const ExecutionSpace& space = workspace.space();
  const auto moved = workspace.take<Index>("heddle::search::block", static_cast<Index>(offsets.extent(0)));
  Kokkos::parallel_for("heddle::search::move_offsets",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(space, 0, offsets.extent(0)),
                       MoveOffset{offsets, by, moved});
  return moved;
}

template <PointId Id, class Space> class CellBlocks {
 public:
  static constexpr bool direct = Kokkos::SpaceAccessibility<ExecutionSpace, Space>::accessible;
  /// About 64 MiB of points.
  static constexpr Index points_a_block = (Index{64} << 20) / static_cast<Index>(sizeof(Id));

  /// `workspace`, from which copies are taken, outlives it.
  CellBlocks(Workspace& workspace, const Mesh<Id, Space>& mesh) : workspace_(workspace), mesh_(mesh) {}

  /// Calls f(block, first cell) for the blocks in order. `cells_a_block` of 0 means the usual size.
  template <class F> void each(const F& f, Index cells_a_block = 0) const {
    const Index cells = mesh_.cells();
    if constexpr (direct) {
      f(mesh_, Index{0});
    } else {
      const int corners = mesh_.mixed() ? 8 : corners_of(mesh_.kind);
      const Index step = cells_a_block > 0 ? cells_a_block : points_a_block / corners;
      for (Index first = 0; first == 0 || first < cells; first += step) {
        f(copied(first, std::min(cells, first + step)), first);
      }
    }
  }
  /// All cells as one block.
  [[nodiscard]] Mesh<Id> whole() const {
    if constexpr (direct) {
      return mesh_;
    } else {
      return copied(0, mesh_.cells());
    }
  }

 private:
  template <class T>
  Kokkos::View<const T*, MemorySpace> copied(const Kokkos::View<const T*, Space>& from, Index begin, Index end) const {
    if (from.extent(0) == 0 || begin == end) return {};
    const ExecutionSpace& space = workspace_.space();
    const Kokkos::View<T*, MemorySpace> to = workspace_.template take<T>("heddle::search::block", end - begin);
    Kokkos::deep_copy(space, to, Kokkos::subview(from, std::pair<Index, Index>(begin, end)));
    // The caller may change host arrays after this, and kernels may read the block.
    space.fence("heddle::search::block");
    return to;
  }
  Mesh<Id> copied(Index begin, Index end) const {
    Mesh<Id> block;
    block.kind = mesh_.kind;
    if (mesh_.mixed()) {
      block.kinds = copied(mesh_.kinds, begin, end);
      const auto size = static_cast<Index>(mesh_.points.extent(0));
      const Index from = std::clamp<Index>(mesh_.offsets(begin), 0, size);
      block.offsets = moved_offsets(workspace_, copied(mesh_.offsets, begin, end + 1), from);
      block.points = copied(mesh_.points, from, std::clamp<Index>(mesh_.offsets(end), from, size));
    } else {
      const Index corners = corners_of(mesh_.kind);
      block.points = copied(mesh_.points, begin * corners, end * corners);
    }
    block.ghosts = copied(mesh_.ghosts, begin, end);
    return block;
  }

  Workspace& workspace_;
  Mesh<Id, Space> mesh_;
};

}  // namespace heddle::search::impl

// External faces over ranks: equal sides of several ranks go to one rank, which counts them.
#pragma once

#include "search/faces/faces.hpp"
#include <heddle/search/distributed.hpp>

#include <array>
#include <limits>
#include <map>

namespace heddle::search::impl {

/// A side that is sent to another rank: its sorted points, -1 if it has no fourth, and its number over all ranks.
struct TravellingSide {
  Index points[4];
  Index number;
};
/// The owner's answer for a side: the number of equal sides, itself included, 3 for more; and the lowest number among
/// them.
struct Verdict {
  Index first;
  Index count;
};

/// Returns a copy in host memory; blocks until it is complete.
template <class T>
Kokkos::View<T*, Kokkos::HostSpace> host_copy(const ExecutionSpace& space, const Kokkos::View<T*, MemorySpace>& view) {
  const Kokkos::View<T*, Kokkos::HostSpace> copy(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::search::host"), view.extent(0));
  Kokkos::deep_copy(space, copy, view);
  space.fence("heddle::search::host");
  return copy;
}

/// Numbers of sides per cell: six for all kinds, so that they do not depend on the cells of other ranks.
inline constexpr Index numbers_a_cell = 6;

template <PointId Id, Shape shape> struct MarkPoints {
  FaceSource<Id, shape> source;
  SharedPoints table;
  Kokkos::View<std::uint32_t*, MemorySpace> bits;

  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    const CellKind kind = source.kind_of(item);
    if (sides_of(kind) == 0 || source.is_dropped(item)) return;
    const Index begin = source.begin_of(item);
    for (int k = 0; k < corners_of(kind); ++k) {
      const Word bit = table.bit_of(static_cast<Word>(source.points(begin + k)));
      const std::uint32_t mark = std::uint32_t{1} << (bit % 32);
      // A load first saves most atomics: a point is in many cells, so its bit is mostly set.
      if ((Kokkos::atomic_load(&bits(static_cast<Index>(bit / 32))) & mark) == 0) {
        Kokkos::atomic_or(&bits(static_cast<Index>(bit / 32)), mark);
      }
    }
  }
};

/// Sets the bits of the points that a block's cells have.
template <PointId Id, Shape shape>
void mark_points(const ExecutionSpace& space, const FaceSource<Id, shape>& source, const SharedPoints& table,
                 const Kokkos::View<std::uint32_t*, MemorySpace>& bits) {
  Kokkos::parallel_for("heddle::search::mark_points",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, source.items),
                       MarkPoints<Id, shape>{source, table, bits});
}

template <PointId Id, Shape shape> struct CountShared {
  FaceSource<Id, shape> source;

  KOKKOS_INLINE_FUNCTION void operator()(Index item, Index& sum) const {
    source.all_sides(item, [&](int, const SidePoints& found) { sum += source.is_shared(found) ? 1 : 0; });
  }
};
template <PointId Id, Shape shape> struct ListShared {
  FaceSource<Id, shape> source;
  Index cells_before;
  Kokkos::View<TravellingSide*, MemorySpace> found;

  KOKKOS_INLINE_FUNCTION void operator()(Index item, Index& sum, bool last) const {
    source.all_sides(item, [&](int side, const SidePoints& points) {
      if (!source.is_shared(points)) return;
      if (last) {
        TravellingSide& made = found(sum);
        for (int k = 0; k < 4; ++k) {
          made.points[k] = k < points.count ? static_cast<Index>(points.point[k]) + source.least : -1;
        }
        made.number = (cells_before + source.first + item) * numbers_a_cell + side;
      }
      ++sum;
    });
  }
};

/// Appends a block's sides whose points are all shared.
template <PointId Id, Shape shape>
void collect_shared(const ExecutionSpace& space, const FaceSource<Id, shape>& source, Index cells_before,
                    std::vector<TravellingSide>& all) {
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>> cells(space, 0, source.items);
  Index count = 0;
  Kokkos::parallel_reduce("heddle::search::count_shared", cells, CountShared<Id, shape>{source}, count);
  const Kokkos::View<TravellingSide*, MemorySpace> found(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::travelling"), count);
  Kokkos::parallel_scan("heddle::search::collect_shared", cells, ListShared<Id, shape>{source, cells_before, found});
  const std::size_t before = all.size();
  all.resize(before + static_cast<std::size_t>(count));
  Kokkos::deep_copy(
      space, Kokkos::View<TravellingSide*, Kokkos::HostSpace>(all.data() + before, static_cast<std::size_t>(count)),
      found);
  space.fence("heddle::search::collect_shared");
}

/// Adds `by` to the numbers of cells.
void move_cells(const ExecutionSpace& space, const Kokkos::View<Index*, MemorySpace>& cells, Index by);
/// Sets the marks of this rank's sides by the verdicts.
void mark_verdicts(const ExecutionSpace& space, const std::vector<TravellingSide>& sides,
                   const std::vector<Verdict>& verdicts, Index cells_before, const SideMarks& marks);
/// Returns the bits that several ranks have set.
Kokkos::View<const std::uint32_t*, MemorySpace> bits_of_several(const Communicator& comm,
                                                                const Kokkos::View<std::uint32_t*, MemorySpace>& bits);
/// Returns the verdict on each side, made by the rank that a hash of its points chooses. `report` is updated by the
/// memory of this rank's part.
std::vector<Verdict> verdicts_on(const Communicator& comm, const std::vector<TravellingSide>& sides,
                                 const SearchOptions& options, SearchReport& report);
/// Numbers the faces of nonmanifold sides, given the number of each face's first side over all ranks; returns the
/// count.
Index number_faces(const Communicator& comm, const std::vector<Index>& first, std::vector<Index>& numbers);
/// Combines the reports of all ranks into one on each rank.
void combine_reports(const Communicator& comm, SearchReport& report);

template <Shape shape, PointId Id, class Space>
ExternalFaces<Id> faces_over(const Communicator& comm, const Mesh<Id, Space>& mesh, ExternalFacesOptions options) {
  const ExecutionSpace& space = comm.space();
  if (options.ghosts == GhostCells::hide) options.ghosts = GhostCells::drop;
  ExternalFaces<Id> result;
  Workspace workspace(space, false);
  FaceSearch<shape, Id, Space> search(workspace, mesh, options, result.report);
  comm.on_each([&] { search.inspect(message_of(" of rank ", comm.rank())); });

  std::vector<Index> cells(static_cast<std::size_t>(comm.size()));
  const Index mine = mesh.cells();
  comm.all_gather(std::span<const Index>(&mine, 1), std::span<Index>(cells));
  Index cells_before = 0;
  for (int r = 0; r < comm.rank(); ++r) cells_before += cells[static_cast<std::size_t>(r)];
  const Index most_cells = *std::max_element(cells.begin(), cells.end());
  const auto largest = comm.all_reduce(static_cast<Index>(search.facts().largest), Reduction::maximum);

  // Eight bits a cell: a mesh has a fifth as many points as tetrahedra, or as many as hexahedra.
  const int table_bits = std::clamp(bits_of(static_cast<Word>(most_cells)) + 3, 10, 36);
  SharedPoints shared;
  shared.hashed = (largest >> table_bits) != 0;
  Kokkos::View<std::uint32_t*, MemorySpace> bits(Kokkos::view_alloc(space, "heddle::search::points_here"),
                                                 Index{1} << (table_bits - 5));
  shared.bits = bits;
  search.each_source([&](const auto& source) { mark_points(space, source, shared, bits); });
  shared.bits = bits_of_several(comm, bits);
  bits = {};
  search.recorder().phase("shared points");

  std::vector<TravellingSide> sides;
  comm.on_each([&] { search.search(shared); });
  search.each_source([&](const auto& source) { collect_shared(space, source, cells_before, sides); });
  const std::vector<Verdict> verdicts = verdicts_on(comm, sides, options.search, result.report.search);
  mark_verdicts(space, sides, verdicts, cells_before, search.side_marks());
  search.recorder().phase("shared sides");
  search.list(result);

  // The first side of each nonmanifold face, by the owner's verdict if the side was sent.
  const Index listed = result.nonmanifold.size();
  std::vector<Index> first(static_cast<std::size_t>(listed));
  if (listed > 0) {
    const Duplicates same = faces_of_sides(workspace, result.nonmanifold, options.search);
    const auto group = host_copy(space, same.group);
    const auto first_of_group = host_copy(space, same.first);
    const auto cell = host_copy(space, result.nonmanifold.cell);
    const auto side = host_copy(space, result.nonmanifold.side);
    const auto number_of = [&](Index face) { return (cells_before + cell(face)) * numbers_a_cell + side(face); };
    std::map<Index, Index> told;
    for (std::size_t s = 0; s < sides.size(); ++s) {
      if (verdicts[s].count > 2) told.emplace(sides[s].number, verdicts[s].first);
    }
    for (Index face = 0; face < listed; ++face) {
      const Index here = number_of(first_of_group(group(face)));
      const auto found = told.find(here);
      first[static_cast<std::size_t>(face)] = found == told.end() ? here : found->second;
    }
  }
  std::vector<Index> numbers;
  result.report.nonmanifold_faces = number_faces(comm, first, numbers);
  if (listed > 0) {
    result.nonmanifold_face = Kokkos::View<Index*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::nonmanifold_face"), listed);
    Kokkos::deep_copy(space, result.nonmanifold_face,
                      Kokkos::View<const Index*, Kokkos::HostSpace>(numbers.data(), numbers.size()));
  }
  move_cells(space, result.external.cell, cells_before);
  move_cells(space, result.nonmanifold.cell, cells_before);
  space.fence("heddle::search::external_faces");
  ExternalFacesReport& report = result.report;
  std::array<Index, 5> sums = {report.cells, report.faces, report.external, report.nonmanifold_sides,
                               report.degenerate_sides};
  comm.all_reduce(std::span<Index>(sums), Reduction::sum);
  report.cells = sums[0];
  report.faces = sums[1];
  report.external = sums[2];
  report.nonmanifold_sides = sums[3];
  report.degenerate_sides = sums[4];
  search.recorder().phase("list");
  combine_reports(comm, report.search);
  return result;
}

}  // namespace heddle::search::impl

namespace heddle::search {

template <PointId Id, class Space>
ExternalFaces<Id> external_faces(const Communicator& comm, const Mesh<Id, Space>& mesh,
                                 const ExternalFacesOptions& options) {
  return comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::search::external_faces");
    comm.on_each([&] { impl::require_arrays(mesh); });
    // Each rank has its own shape: kinds of cells may differ between ranks.
    return impl::with_shape(mesh,
                            [&](auto shape) { return impl::faces_over<decltype(shape)::value>(comm, mesh, options); });
  });
}

}  // namespace heddle::search

// External faces of meshes with polyhedra, whose sides have any number of points.
#include "core/cell_sides.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/faces.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace heddle::search {
namespace {

using HostMesh = Mesh<Index, Kokkos::HostSpace>;
using Keys = Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace>;

constexpr std::size_t points_a_key = 8;

// The sides of all cells of three dimensions, in order.
struct Sides {
  std::vector<Index> cell;
  std::vector<std::uint8_t> side;
  std::vector<Index> offsets = {0};
  std::vector<Index> points;

  [[nodiscard]] std::size_t size() const { return cell.size(); }
  [[nodiscard]] std::span<const Index> points_of(std::size_t i) const {
    return {points.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  void end_side(Index of, int number) {
    cell.push_back(of);
    side.push_back(static_cast<std::uint8_t>(number));
    offsets.push_back(static_cast<Index>(points.size()));
  }
};

void require_polyhedra(const HostMesh& mesh, const PolyhedronFaces& polyhedra) {
  const Index cells = mesh.cells();
  require(static_cast<Index>(polyhedra.cells.extent(0)) == cells + 1, "external_faces: the faces of polyhedra are of ",
          static_cast<Index>(polyhedra.cells.extent(0)) - 1, " cells, where there are ", cells);
  for (Index cell = 0; cell < cells; ++cell) {
    const Index faces = polyhedra.cells(cell + 1) - polyhedra.cells(cell);
    const bool is_polyhedron = mesh.mixed() && mesh.kinds(cell) == CellKind::polyhedron;
    require(is_polyhedron ? faces > 0 && faces <= most_polyhedron_faces : faces == 0, "external_faces: cell ", cell,
            " has ", faces, " faces of its own; expected 1 to ", most_polyhedron_faces,
            " of polyhedra, and none of others");
  }
}

Sides sides_of_mesh(const HostMesh& mesh, const PolyhedronFaces& polyhedra, bool drop_ghosts, Index& cells_with_sides) {
  Sides sides;
  for (Index cell = 0; cell < mesh.cells(); ++cell) {
    const CellKind kind = mesh.mixed() ? mesh.kinds(cell) : mesh.kind;
    if (dimensions_of(kind) != 3 || (drop_ghosts && mesh.ghosts.extent(0) > 0 && mesh.ghosts(cell) != 0)) continue;
    ++cells_with_sides;
    const Index first = polyhedra.cells(cell);
    for (Index face = first; face < polyhedra.cells(cell + 1); ++face) {
      sides.points.insert(sides.points.end(), polyhedra.points.data() + polyhedra.offsets(face),
                          polyhedra.points.data() + polyhedra.offsets(face + 1));
      sides.end_side(cell, static_cast<int>(face - first));
    }
    const Index* const corners = mesh.points.data() + (mesh.mixed() ? mesh.offsets(cell) : cell * corners_of(kind));
    for (int side = 0; side < heddle::impl::sides_of(kind); ++side) {
      const unsigned digits = heddle::impl::side_corners(kind, side);
      for (int k = 0; k < heddle::impl::corner_count(digits); ++k) {
        sides.points.push_back(corners[heddle::impl::corner(digits, k)]);
      }
      sides.end_side(cell, side);
    }
  }
  return sides;
}

auto on_host(const ExecutionSpace& space, const Kokkos::View<Index*, MemorySpace>& values) {
  const auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, values);
  Kokkos::deep_copy(space, host, values);
  space.fence("heddle::search::polyhedra");
  return host;
}
template <class T> Kokkos::View<T*, MemorySpace> on_device(const ExecutionSpace& space, const std::vector<T>& values) {
  const Kokkos::View<T*, MemorySpace> device(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::faces"), values.size());
  Kokkos::deep_copy(space, device, Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  space.fence("heddle::search::faces");
  return device;
}

// Returns a group for each list of numbers, the same for equal lists. Searches go through the lists by a few points at
// a time: a key is a list's number so far and its next points.
Duplicates equal_lists(const ExecutionSpace& space, const std::vector<std::vector<Index>>& lists,
                       const SearchOptions& options) {
  const std::size_t count = lists.size();
  std::vector<Index> number(count, 0);
  std::vector<std::size_t> left(count);
  for (std::size_t i = 0; i < count; ++i) left[i] = i;
  const auto search = [&](std::size_t keys, std::size_t words, const auto& fill) {
    const Keys device(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::polyhedra"), keys, words);
    const auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, device);
    for (std::size_t i = 0; i < keys; ++i) {
      for (std::size_t k = 0; k < words; ++k) host(i, k) = fill(i, k);
    }
    Kokkos::deep_copy(space, device, host);
    return find_duplicates(space, device, options);
  };
  for (std::size_t begin = 0; !left.empty(); begin += points_a_key) {
    const Duplicates found = search(left.size(), 1 + points_a_key, [&](std::size_t i, std::size_t k) {
      const std::vector<Index>& list = lists[left[i]];
      const std::size_t place = begin + k - 1;
      return k == 0 ? number[left[i]] : place < list.size() ? list[place] : Index{-1};
    });
    const auto group = on_host(space, found.group);
    std::vector<std::size_t> longer;
    for (std::size_t i = 0; i < left.size(); ++i) {
      number[left[i]] = group(i);
      if (lists[left[i]].size() > begin + points_a_key) longer.push_back(left[i]);
    }
    left = std::move(longer);
  }
  // The last search also compares lengths: lists of different lengths may have the same number so far.
  return search(count, 2,
                [&](std::size_t i, std::size_t k) { return k == 0 ? number[i] : static_cast<Index>(lists[i].size()); });
}

FaceList<Index> listed(const ExecutionSpace& space, const Sides& sides, const std::vector<std::size_t>& which) {
  std::vector<Index> cell;
  std::vector<std::uint8_t> side;
  std::vector<Index> offsets = {0};
  std::vector<Index> points;
  for (const std::size_t i : which) {
    const auto own = sides.points_of(i);
    cell.push_back(sides.cell[i]);
    side.push_back(sides.side[i]);
    points.insert(points.end(), own.begin(), own.end());
    offsets.push_back(static_cast<Index>(points.size()));
  }
  return {on_device(space, cell), on_device(space, side), on_device(space, offsets), on_device(space, points)};
}

}  // namespace

ExternalFaces<Index> external_faces(const ExecutionSpace& space, const HostMesh& mesh, const PolyhedronFaces& polyhedra,
                                    const ExternalFacesOptions& options) {
  if (polyhedra.empty()) return external_faces(space, mesh, options);
  const Kokkos::Profiling::ScopedRegion region("heddle::search::external_faces");
  require_polyhedra(mesh, polyhedra);
  ExternalFaces<Index> result;
  ExternalFacesReport& report = result.report;
  const Sides sides = sides_of_mesh(mesh, polyhedra, options.ghosts == GhostCells::drop, report.cells);
  report.faces = static_cast<Index>(sides.size());
  // The points of each side that has an area, sorted, each once.
  std::vector<std::vector<Index>> lists;
  std::vector<std::size_t> side_of;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    std::vector<Index> own(sides.points_of(i).begin(), sides.points_of(i).end());
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    if (own.size() < 3) {
      ++report.degenerate_sides;
    } else {
      lists.push_back(std::move(own));
      side_of.push_back(i);
    }
  }
  const Duplicates found = equal_lists(space, lists, options.search);
  report.search = found.report;
  const auto group = on_host(space, found.group);
  const auto count = on_host(space, found.count);
  std::vector<std::size_t> alone;
  std::vector<std::size_t> many;
  std::vector<Index> face_number(count.extent(0), -1);
  std::vector<Index> many_face;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Index cell = sides.cell[side_of[i]];
    const bool hidden = options.ghosts == GhostCells::hide && mesh.ghosts.extent(0) > 0 && mesh.ghosts(cell) != 0;
    const auto face = static_cast<std::size_t>(group(i));
    if (hidden) continue;
    if (count(face) == 1) alone.push_back(side_of[i]);
    if (count(face) < 3) continue;
    many.push_back(side_of[i]);
    if (face_number[face] < 0) face_number[face] = report.nonmanifold_faces++;
    many_face.push_back(face_number[face]);
  }
  result.external = listed(space, sides, alone);
  result.nonmanifold = listed(space, sides, many);
  result.nonmanifold_face = on_device(space, many_face);
  report.external = result.external.size();
  report.nonmanifold_sides = result.nonmanifold.size();
  return result;
}

}  // namespace heddle::search

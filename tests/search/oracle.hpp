// Reference searches by std::map, one key at a time.
#pragma once

#include <heddle/search/faces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace heddle::search {

template <class View> auto host_vector(const View& view) {
  using Value = typename View::non_const_value_type;
  std::vector<Value> values(view.extent(0));
  Kokkos::deep_copy(Kokkos::View<Value*, Kokkos::HostSpace>(values.data(), values.size()), view);
  return values;
}
template <class T> Kokkos::View<const T*, MemorySpace> device_view(const std::vector<T>& values) {
  const Kokkos::View<T*, MemorySpace> view("heddle::test", values.size());
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  return view;
}

/// Algorithms, hash functions and sorts, which all give the same result.
inline std::vector<SearchOptions> all_searches() {
  std::vector<SearchOptions> all = {
      {.algorithm = Algorithm::automatic}, {.algorithm = Algorithm::partition}, {.algorithm = Algorithm::sort_by_id}};
  for (const Algorithm algorithm : {Algorithm::hash_fight, Algorithm::sort}) {
    for (const HashFunction hash :
         {HashFunction::exclusive_or, HashFunction::fnv1a, HashFunction::morton, HashFunction::mixer}) {
      all.push_back({.algorithm = algorithm, .hash = hash});
    }
  }
  all.push_back({.algorithm = Algorithm::sort_by_id, .sorting = Sorting::merge});
  all.push_back({.algorithm = Algorithm::sort, .hash = HashFunction::fnv1a, .sorting = Sorting::merge});
  return all;
}
inline std::string name_of(const SearchOptions& options) {
  return message_of(to_string(options.algorithm), ' ', to_string(options.hash), ' ', to_string(options.sorting));
}

/// A mesh on the host, cell by cell.
struct Cell {
  CellKind kind;
  std::vector<Index> points;
};
using Cells = std::vector<Cell>;

template <PointId Id = Index> Mesh<Id> mixed_mesh(const Cells& cells) {
  std::vector<Id> points;
  std::vector<CellKind> kinds;
  std::vector<Index> offsets = {0};
  for (const Cell& cell : cells) {
    for (const Index point : cell.points) points.push_back(static_cast<Id>(point));
    kinds.push_back(cell.kind);
    offsets.push_back(static_cast<Index>(points.size()));
  }
  Mesh<Id> mesh;
  mesh.points = device_view(points);
  mesh.kinds = device_view(kinds);
  mesh.offsets = device_view(offsets);
  return mesh;
}
template <PointId Id = Index> Mesh<Id> uniform_mesh(const Cells& cells) {
  std::vector<Id> points;
  for (const Cell& cell : cells) {
    for (const Index point : cell.points) points.push_back(static_cast<Id>(point));
  }
  Mesh<Id> mesh;
  mesh.kind = cells.empty() ? CellKind::tetrahedron : cells.front().kind;
  mesh.points = device_view(points);
  return mesh;
}

/// Corners of sides in VTK's order, as its documentation draws the cells.
inline std::vector<std::vector<int>> sides_in_vtk(CellKind kind) {
  switch (kind) {
    case CellKind::tetrahedron:
      return {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {0, 2, 1}};
    case CellKind::hexahedron:
      return {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};
    case CellKind::voxel:  // Those of the hexahedron, with 2 for 3, 3 for 2, 6 for 7 and 7 for 6.
      return {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    case CellKind::wedge:
      return {{0, 1, 2}, {3, 5, 4}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}};
    case CellKind::pyramid:
      return {{0, 3, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    default:
      return {};
  }
}

struct Face {
  Index cell;
  int side;
  std::vector<Index> points;
  auto operator<=>(const Face&) const = default;
};
inline void PrintTo(const Face& face, std::ostream* out) {
  *out << "cell " << face.cell << ", side " << face.side << ":";
  for (const Index point : face.points) *out << ' ' << point;
}

template <PointId Id> std::vector<Face> listed(const FaceList<Id>& list) {
  const auto cell = host_vector(list.cell);
  const auto side = host_vector(list.side);
  const auto offsets = host_vector(list.offsets);
  const auto points = host_vector(list.points);
  EXPECT_EQ(offsets.size(), cell.size() + 1);
  EXPECT_EQ(offsets.empty() ? -1 : offsets.front(), 0);
  EXPECT_EQ(offsets.empty() ? -1 : offsets.back(), static_cast<Index>(points.size()));
  std::vector<Face> faces;
  for (std::size_t f = 0; f < cell.size(); ++f) {
    faces.push_back({cell[f], side[f], {points.begin() + offsets[f], points.begin() + offsets[f + 1]}});
  }
  return faces;
}

struct Expected {
  std::vector<Face> external;
  std::vector<Face> nonmanifold;
  std::vector<Index> nonmanifold_face;
  Index cells = 0;
  Index sides = 0;
  Index flat = 0;
};
/// `skip` lists cells that are ignored; `hide` lists cells whose faces are left out of the result.
inline Expected expected_faces(const Cells& cells, const std::set<Index>& skip = {}, const std::set<Index>& hide = {}) {
  Expected expected;
  std::map<std::set<Index>, std::vector<Face>> by_points;
  for (Index c = 0; c < static_cast<Index>(cells.size()); ++c) {
    const Cell& cell = cells[static_cast<std::size_t>(c)];
    const auto sides = sides_in_vtk(cell.kind);
    if (sides.empty() || skip.count(c) != 0) continue;
    ++expected.cells;
    expected.sides += static_cast<Index>(sides.size());
    for (int s = 0; s < static_cast<int>(sides.size()); ++s) {
      Face face{c, s, {}};
      for (const int corner : sides[static_cast<std::size_t>(s)]) {
        face.points.push_back(cell.points[static_cast<std::size_t>(corner)]);
      }
      const std::set<Index> points(face.points.begin(), face.points.end());
      if (points.size() < 3) {
        ++expected.flat;
      } else {
        by_points[points].push_back(face);
      }
    }
  }
  for (const auto& [points, faces] : by_points) {
    for (const Face& face : faces) {
      if (hide.count(face.cell) != 0) continue;
      if (faces.size() == 1) expected.external.push_back(face);
      if (faces.size() > 2) expected.nonmanifold.push_back(face);
    }
  }
  std::sort(expected.external.begin(), expected.external.end());
  std::sort(expected.nonmanifold.begin(), expected.nonmanifold.end());
  std::map<std::set<Index>, Index> numbers;
  for (const Face& face : expected.nonmanifold) {
    const std::set<Index> points(face.points.begin(), face.points.end());
    expected.nonmanifold_face.push_back(numbers.try_emplace(points, static_cast<Index>(numbers.size())).first->second);
  }
  return expected;
}

template <PointId Id> void expect_faces(const ExternalFaces<Id>& found, const Expected& expected) {
  EXPECT_EQ(listed(found.external), expected.external);
  EXPECT_EQ(listed(found.nonmanifold), expected.nonmanifold);
  EXPECT_EQ(host_vector(found.nonmanifold_face), expected.nonmanifold_face);
  EXPECT_EQ(found.report.cells, expected.cells);
  EXPECT_EQ(found.report.faces, expected.sides);
  EXPECT_EQ(found.report.degenerate_sides, expected.flat);
  EXPECT_EQ(found.report.external, static_cast<Index>(expected.external.size()));
  EXPECT_EQ(found.report.nonmanifold_sides, static_cast<Index>(expected.nonmanifold.size()));
  EXPECT_EQ(found.report.nonmanifold_faces,
            expected.nonmanifold_face.empty()
                ? 0
                : 1 + *std::max_element(expected.nonmanifold_face.begin(), expected.nonmanifold_face.end()));
}

}  // namespace heddle::search

// External faces of meshes with polyhedra, beside those of the same cells as VTK's hexahedra.
#include "search/oracle.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace heddle::search::polyhedra_test {
namespace {

using Polyhedron = std::vector<std::vector<Index>>;

template <class T> Kokkos::View<T*, Kokkos::HostSpace> host_list(const std::vector<T>& values) {
  const Kokkos::View<T*, Kokkos::HostSpace> view("heddle::test::list", values.size());
  std::copy(values.begin(), values.end(), view.data());
  return view;
}

struct Built {
  Mesh<Index, Kokkos::HostSpace> mesh;
  PolyhedronFaces faces;
};
// Polyhedra, then hexahedra.
Built built(const std::vector<Polyhedron>& polyhedra, const std::vector<std::vector<Index>>& hexahedra) {
  std::vector<CellKind> kinds;
  std::vector<Index> offsets = {0};
  std::vector<Index> corners;
  std::vector<Index> cells = {0};
  std::vector<Index> ends = {0};
  std::vector<Index> points;
  for (const Polyhedron& polyhedron : polyhedra) {
    for (const auto& face : polyhedron) {
      points.insert(points.end(), face.begin(), face.end());
      ends.push_back(static_cast<Index>(points.size()));
      corners.insert(corners.end(), face.begin(), face.end());
    }
    kinds.push_back(CellKind::polyhedron);
    offsets.push_back(static_cast<Index>(corners.size()));
    cells.push_back(static_cast<Index>(ends.size()) - 1);
  }
  for (const auto& hexahedron : hexahedra) {
    kinds.push_back(CellKind::hexahedron);
    corners.insert(corners.end(), hexahedron.begin(), hexahedron.end());
    offsets.push_back(static_cast<Index>(corners.size()));
    cells.push_back(cells.back());
  }
  Built result;
  result.mesh.kinds = host_list(kinds);
  result.mesh.offsets = host_list(offsets);
  result.mesh.points = host_list(corners);
  result.faces = {host_list(cells), host_list(ends), host_list(points)};
  return result;
}

// The sides of a cube in a row along x; point p + 4 of a cube is point p of the next.
Polyhedron cube(Index first) {
  Polyhedron faces = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
  for (auto& face : faces) {
    for (Index& point : face) point += first;
  }
  return faces;
}

TEST(ExternalFacesOfPolyhedra, BesideHexahedra) {
  const Built row = built({cube(0), cube(4)}, {{8, 12, 14, 10, 9, 13, 15, 11}});
  for (const Algorithm algorithm : {Algorithm::partition, Algorithm::sort, Algorithm::hash_fight}) {
    ExternalFacesOptions options;
    options.search.algorithm = algorithm;
    const auto found = external_faces(ExecutionSpace(), row.mesh, row.faces, options);
    EXPECT_EQ(found.report.cells, 3);
    EXPECT_EQ(found.report.faces, 18);
    EXPECT_EQ(found.report.external, 14);
    EXPECT_EQ(found.report.nonmanifold_sides, 0);
    const auto faces = listed(found.external);
    ASSERT_EQ(faces.size(), 14U);
    EXPECT_EQ(faces.front().points, (std::vector<Index>{0, 1, 3, 2}));
    EXPECT_EQ(faces.back().cell, 2);
  }
}

TEST(ExternalFacesOfPolyhedra, LongFacesThatShareTheirBeginning) {
  // Bases of 8, 12 and 20 points with the same lowest eight: only the two of 20 points are equal.
  std::vector<Index> base(20);
  for (std::size_t k = 0; k < base.size(); ++k) base[k] = static_cast<Index>(k);
  const auto part = [&](std::size_t count) {
    return std::vector<Index>(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::vector<Index> turned(base.rbegin(), base.rend());
  const Built mesh =
      built({{part(8), {0, 1, 30}}, {part(12), {0, 1, 31}}, {part(20), {0, 1, 32}}, {turned, {0, 1, 33}}}, {});
  const auto faces = listed(external_faces(ExecutionSpace(), mesh.mesh, mesh.faces).external);
  ASSERT_EQ(faces.size(), 6U);
  EXPECT_EQ(faces[0].points.size(), 8U);
  EXPECT_EQ(faces[2].points.size(), 12U);
  for (const std::size_t alone : {1, 3, 4, 5}) EXPECT_EQ(faces[alone].points.size(), 3U);
}

TEST(ExternalFacesOfPolyhedra, SharedByThreeDegenerateAndGhosts) {
  Built mesh = built({cube(0), cube(0), cube(0), {{0, 1, 1}, {0, 5, 9}}}, {});
  auto found = external_faces(ExecutionSpace(), mesh.mesh, mesh.faces);
  EXPECT_EQ(found.report.external, 1);
  EXPECT_EQ(found.report.nonmanifold_sides, 18);
  EXPECT_EQ(found.report.nonmanifold_faces, 6);
  EXPECT_EQ(found.report.degenerate_sides, 1);
  mesh.mesh.ghosts = host_list<std::uint8_t>({0, 1, 1, 0});
  EXPECT_EQ(external_faces(ExecutionSpace(), mesh.mesh, mesh.faces).report.nonmanifold_sides, 6);
  ExternalFacesOptions drop;
  drop.ghosts = GhostCells::drop;
  EXPECT_EQ(external_faces(ExecutionSpace(), mesh.mesh, mesh.faces, drop).report.external, 7);
}

TEST(ExternalFacesOfPolyhedra, AreRefusedWhereTheyDoNotFit) {
  Built mesh = built({cube(0)}, {{0, 1, 2, 3, 4, 5, 6, 7}});
  mesh.faces.cells = host_list<Index>({0, 6, 7});
  test::expect_refusal(ErrorKind::argument, "cell 1 has 1 faces of its own",
                       [&] { static_cast<void>(external_faces(ExecutionSpace(), mesh.mesh, mesh.faces)); });
  test::expect_refusal(ErrorKind::argument, "cell 0 is a polyhedron, whose sides a Mesh does not say",
                       [&] { static_cast<void>(external_faces(ExecutionSpace(), mesh.mesh)); });
}

}  // namespace
}  // namespace heddle::search::polyhedra_test

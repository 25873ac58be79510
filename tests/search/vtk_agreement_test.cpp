// External faces beside those of VTK's own filter, face for face, of meshes from files and of grids.
#include "search/oracle.hpp"
#include <heddle/io/mesh_file.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkGeometryFilter.h>
#include <vtkIdList.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>

#include <filesystem>
#include <random>

namespace heddle::search {
namespace {

using Polygons = std::multiset<std::vector<Index>>;

// A polygon from its lowest point on, in the same sense.
std::vector<Index> turned(std::vector<Index> points) {
  std::rotate(points.begin(), std::min_element(points.begin(), points.end()), points.end());
  return points;
}

vtkSmartPointer<vtkUnstructuredGrid> as_vtk(const Cells& cells, const MeshFile::Points& points) {
  const auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  vtkNew<vtkPoints> coordinates;
  for (std::size_t p = 0; p < points.extent(0); ++p)
    coordinates->InsertNextPoint(points(p, 0), points(p, 1), points(p, 2));
  grid->SetPoints(coordinates);
  // Travels with the points that the filter keeps.
  vtkNew<vtkIdTypeArray> numbers;
  numbers->SetName("number");
  for (std::size_t p = 0; p < points.extent(0); ++p) numbers->InsertNextValue(static_cast<vtkIdType>(p));
  grid->GetPointData()->AddArray(numbers);
  for (const Cell& cell : cells) {
    const std::vector<vtkIdType> corners(cell.points.begin(), cell.points.end());
    grid->InsertNextCell(static_cast<int>(cell.kind), static_cast<vtkIdType>(corners.size()), corners.data());
  }
  return grid;
}
Polygons by_vtk(vtkUnstructuredGrid* grid) {
  vtkNew<vtkGeometryFilter> filter;
  filter->SetInputData(grid);
  filter->MergingOff();
  filter->Update();
  vtkPolyData* const surface = filter->GetOutput();
  vtkDataArray* const numbers = surface->GetPointData()->GetArray("number");
  Polygons polygons;
  vtkNew<vtkIdList> corners;
  for (vtkIdType f = 0; f < surface->GetNumberOfCells(); ++f) {
    surface->GetCellPoints(f, corners);
    std::vector<Index> points;
    for (vtkIdType k = 0; k < corners->GetNumberOfIds(); ++k) {
      points.push_back(static_cast<Index>(numbers->GetComponent(corners->GetId(k), 0)));
    }
    polygons.insert(turned(points));
  }
  return polygons;
}
Polygons by_us(const Cells& cells) {
  Polygons polygons;
  const auto found = external_faces(ExecutionSpace(), mixed_mesh(cells));
  EXPECT_EQ(found.report.nonmanifold_sides, 0);
  for (const Face& face : listed(found.external)) polygons.insert(turned(face.points));
  return polygons;
}

// Cells of three dimensions: VTK's filter passes others on, which have no faces.
Cells solid_cells(const MeshFile::HostMesh& mesh) {
  Cells cells;
  for (Index c = 0; c < mesh.cells(); ++c) {
    const CellKind kind = mesh.mixed() ? mesh.kinds(c) : mesh.kind;
    const Index begin = mesh.mixed() ? mesh.offsets(c) : c * corners_of(kind);
    if (kind < CellKind::tetrahedron) continue;
    cells.push_back({kind, {&mesh.points(begin), &mesh.points(begin) + corners_of(kind)}});
  }
  return cells;
}

TEST(FacesBesideVtk, OfRealMeshesAreTheSame) {
  const std::filesystem::path folder = HEDDLE_MESH_DATA;
  for (const char* name :
       {"block-4.1.msh", "block.vtk", "mixed-2.2.msh", "mixed-4.1-binary.msh", "mixed-parts-4.1.msh"}) {
    SCOPED_TRACE(name);
    const MeshFile file = MeshFile::read(folder / name);
    const Cells cells = solid_cells(file.mesh());
    const Polygons ours = by_us(cells);
    EXPECT_GT(ours.size(), 4U);
    EXPECT_EQ(ours, by_vtk(as_vtk(cells, file.points())));
  }
}

TEST(FacesBesideVtk, OfGridsOfEachKindAreTheSame) {
  const StructuredGrid grid{9, 7, 8};
  for (const bool randomised : {false, true}) {
    for (const int per_cube : {5, 6, 0}) {
      const TetrahedraOptions options{.per_cube = per_cube, .randomised = randomised, .seed = 4};
      const auto mesh = per_cube > 0 ? tetrahedra_of<Index>(ExecutionSpace(), grid, options)
                                     : hexahedra_of<Index>(ExecutionSpace(), grid, options);
      const auto points =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), points_of(ExecutionSpace(), grid, options));
      const auto corners = host_vector(mesh.points);
      const auto each = static_cast<std::size_t>(corners_of(mesh.kind));
      Cells cells;
      std::mt19937_64 random(8);
      for (std::size_t c = 0; c < corners.size(); c += each) {
        // Some cells are missing, so that there is an inside surface, too.
        if (random() % 5 == 0) continue;
        cells.push_back({mesh.kind, {&corners[c], &corners[c] + each}});
      }
      EXPECT_EQ(by_us(cells), by_vtk(as_vtk(cells, points)));
    }
  }
}

}  // namespace
}  // namespace heddle::search

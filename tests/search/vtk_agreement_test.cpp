// External faces beside those of VTK's own filter, face for face, of meshes from files and of grids; and VTK's datasets
// of every kind as files of its own writer.
#include "search/oracle.hpp"
#include <heddle/io/mesh_file.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetWriter.h>
#include <vtkDoubleArray.h>
#include <vtkGeometryFilter.h>
#include <vtkIdList.h>
#include <vtkIdTypeArray.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUnstructuredGrid.h>

#include <array>
#include <filesystem>
#include <random>

namespace heddle::search::vtk_agreement_test {
namespace {

using Polygons = std::multiset<std::vector<Index>>;

// Rotates a polygon to begin with its lowest point, in the same sense.
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
  // The filter copies this array for the points that it keeps.
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
  for (const char* name : {"gmsh/block-4.1.msh", "vtk/block.vtk", "gmsh/mixed-2.2.msh", "gmsh/mixed-4.1-binary.msh",
                           "gmsh/mixed-parts-4.1.msh"}) {
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

// Returns the corners of a VTK cell in order, pixels as quads.
std::vector<Index> corners_by_vtk(vtkDataSet* data, vtkIdType cell) {
  vtkNew<vtkIdList> ids;
  data->GetCellPoints(cell, ids);
  std::vector<Index> corners(ids->begin(), ids->end());
  if (data->GetCellType(cell) == VTK_PIXEL) std::swap(corners[2], corners[3]);
  return corners;
}

// Gives points and cells a number each, writes the dataset as VTK does, and reads it.
void expect_same(vtkDataSet* data, const std::string& name) {
  for (const bool of_points : {true, false}) {
    vtkNew<vtkDoubleArray> numbers;
    numbers->SetName("numbers");
    const vtkIdType size = of_points ? data->GetNumberOfPoints() : data->GetNumberOfCells();
    for (vtkIdType i = 0; i < size; ++i) numbers->InsertNextValue(0.5 * static_cast<double>(i));
    if (of_points) {
      data->GetPointData()->AddArray(numbers);
    } else {
      data->GetCellData()->AddArray(numbers);
    }
  }
  for (const int version : {42, 51}) {
    for (const bool binary : {false, true}) {
      const auto path = std::filesystem::temp_directory_path() /
                        message_of("heddle-", name, "-", version, binary ? "-binary" : "", ".vtk");
      SCOPED_TRACE(path.string());
      vtkNew<vtkDataSetWriter> writer;
      writer->SetInputData(data);
      writer->SetFileName(path.c_str());
      writer->SetFileVersion(version);
      writer->SetFileType(binary ? VTK_BINARY : VTK_ASCII);
      ASSERT_EQ(writer->Write(), 1);
      const MeshFile file = MeshFile::read(path);
      std::filesystem::remove(path);
      ASSERT_EQ(static_cast<vtkIdType>(file.points().extent(0)), data->GetNumberOfPoints());
      for (vtkIdType p = 0; p < data->GetNumberOfPoints(); ++p) {
        double place[3];
        data->GetPoint(p, place);
        for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(file.points()(p, axis), place[axis]) << p;
      }
      const auto& mesh = file.mesh();
      ASSERT_EQ(mesh.cells(), data->GetNumberOfCells());
      for (vtkIdType c = 0; c < data->GetNumberOfCells(); ++c) {
        const CellKind kind = mesh.mixed() ? mesh.kinds(c) : mesh.kind;
        const int type = data->GetCellType(c);
        EXPECT_EQ(static_cast<int>(kind), type == VTK_PIXEL ? VTK_QUAD : type);
        const Index begin = mesh.mixed() ? mesh.offsets(c) : c * corners_of(kind);
        const Index end = mesh.mixed() ? mesh.offsets(c + 1) : begin + corners_of(kind);
        EXPECT_EQ(std::vector<Index>(mesh.points.data() + begin, mesh.points.data() + end), corners_by_vtk(data, c))
            << c;
      }
      ASSERT_EQ(file.point_arrays().size(), data->GetNumberOfPoints() > 0 ? 1U : 0U);
      ASSERT_EQ(file.cell_arrays().size(), data->GetNumberOfCells() > 0 ? 1U : 0U);
      if (data->GetNumberOfCells() == 0) continue;
      const auto& numbers = std::get<ArrayValues<double>>(file.cell_arrays()[0].values);
      for (std::size_t c = 0; c < numbers.extent(0); ++c) EXPECT_EQ(numbers(c, 0), 0.5 * static_cast<double>(c));
      const Cells cells = solid_cells(mesh);
      if (!cells.empty()) EXPECT_EQ(by_us(cells), by_vtk(as_vtk(cells, file.points())));
    }
  }
}

using Dimensions = std::array<int, 3>;
constexpr std::array<Dimensions, 8> all_dimensions = {
    {{4, 3, 5}, {2, 2, 2}, {3, 4, 1}, {3, 1, 4}, {1, 3, 2}, {5, 1, 1}, {1, 1, 3}, {1, 1, 1}}};

TEST(FilesBesideVtk, StructuredPointsAreTheSame) {
  for (const Dimensions& dimensions : all_dimensions) {
    vtkNew<vtkImageData> image;
    image->SetDimensions(dimensions.data());
    image->SetOrigin(1.5, -2, 0.25);
    image->SetSpacing(0.5, 0.25, 3);
    expect_same(image, message_of("image-", dimensions[0], dimensions[1], dimensions[2]));
  }
}

TEST(FilesBesideVtk, StructuredAndRectilinearGridsAreTheSame) {
  std::mt19937_64 random(3);
  for (const Dimensions& dimensions : all_dimensions) {
    vtkNew<vtkStructuredGrid> grid;
    vtkNew<vtkPoints> points;
    points->SetDataTypeToDouble();
    for (int k = 0; k < dimensions[2]; ++k) {
      for (int j = 0; j < dimensions[1]; ++j) {
        for (int i = 0; i < dimensions[0]; ++i) {
          points->InsertNextPoint(i + 0.125 * static_cast<double>(random() % 3), j + 0.25 * i, 2.0 * k + 0.5 * j);
        }
      }
    }
    grid->SetDimensions(dimensions.data());
    grid->SetPoints(points);
    expect_same(grid, message_of("grid-", dimensions[0], dimensions[1], dimensions[2]));
    vtkNew<vtkRectilinearGrid> rectilinear;
    rectilinear->SetDimensions(dimensions.data());
    for (int axis = 0; axis < 3; ++axis) {
      vtkNew<vtkDoubleArray> along;
      for (int i = 0; i < dimensions[static_cast<std::size_t>(axis)]; ++i) along->InsertNextValue(i * i + 0.5 * axis);
      axis == 0   ? rectilinear->SetXCoordinates(along)
      : axis == 1 ? rectilinear->SetYCoordinates(along)
                  : rectilinear->SetZCoordinates(along);
    }
    expect_same(rectilinear, message_of("rectilinear-", dimensions[0], dimensions[1], dimensions[2]));
  }
}

TEST(FilesBesideVtk, PolygonalDataAreTheSame) {
  // By bits: vertices, lines, polygons.
  for (unsigned lists = 0; lists < 8; ++lists) {
    vtkNew<vtkPolyData> data;
    vtkNew<vtkPoints> points;
    points->SetDataTypeToDouble();
    for (int p = 0; p < 9; ++p) points->InsertNextPoint(p % 3, p / 3, 0.5 * p);
    data->SetPoints(points);
    const auto listed = [](const std::vector<std::vector<vtkIdType>>& cells) {
      const auto array = vtkSmartPointer<vtkCellArray>::New();
      for (const auto& cell : cells) array->InsertNextCell(static_cast<vtkIdType>(cell.size()), cell.data());
      return array;
    };
    if ((lists & 1U) != 0) data->SetVerts(listed({{3}, {8}}));
    if ((lists & 2U) != 0) data->SetLines(listed({{0, 4}}));
    if ((lists & 4U) != 0) data->SetPolys(listed({{0, 1, 3}, {1, 4, 3}, {4, 5, 8, 7}, {0, 1, 2, 5, 8, 6}}));
    expect_same(data, message_of("polydata-", lists));
  }
}

}  // namespace
}  // namespace heddle::search::vtk_agreement_test

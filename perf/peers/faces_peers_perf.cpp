// Benchmarks of external faces of 24.6 million tetrahedra against vtkGeometryFilter and vtkDataSetSurfaceFilter, in
// turn.
#include "support/measure.hpp"
#include <heddle/search/faces.hpp>
#include <heddle/search/grid.hpp>

#include <vtkCellArray.h>
#include <vtkDataSetSurfaceFilter.h>
#include <vtkGeometryFilter.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>

#include <string>

namespace heddle::perf {
namespace {

// Converts the tetrahedra to VTK's form, with coordinates, which its filters pass on.
void as_vtk(const StructuredGrid& grid, const search::TetrahedraOptions& options, const Mesh<std::int32_t>& mesh,
            vtkUnstructuredGrid* made) {
  const auto points = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mesh.points);
  const auto at =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), search::points_of(world().space(), grid, options));
  vtkNew<vtkPoints> coordinates;
  coordinates->SetDataTypeToFloat();
  coordinates->SetNumberOfPoints(static_cast<vtkIdType>(at.extent(0)));
  for (std::size_t p = 0; p < at.extent(0); ++p) {
    coordinates->SetPoint(static_cast<vtkIdType>(p), at(p, 0), at(p, 1), at(p, 2));
  }
  vtkNew<vtkIdTypeArray> offsets;
  vtkNew<vtkIdTypeArray> corners;
  offsets->SetNumberOfValues(mesh.cells() + 1);
  corners->SetNumberOfValues(4 * mesh.cells());
  for (Index c = 0; c <= mesh.cells(); ++c) offsets->SetValue(c, 4 * c);
  for (Index k = 0; k < 4 * mesh.cells(); ++k) corners->SetValue(k, points(static_cast<std::size_t>(k)));
  vtkNew<vtkCellArray> cells;
  cells->SetData(offsets, corners);
  made->SetPoints(coordinates);
  made->SetCells(static_cast<int>(CellKind::tetrahedron), cells);
}

template <class Filter>
void beside(benchmark::State& state, const StructuredGrid& wanted, bool randomised, const char* name) {
  const Index n = is_dry_run() ? 6 : wanted.x;
  const StructuredGrid grid{n, n, n};
  const search::TetrahedraOptions options{.per_cube = 6, .randomised = randomised};
  const auto mesh = search::tetrahedra_of<std::int32_t>(world().space(), grid, options);
  vtkNew<vtkUnstructuredGrid> theirs;
  if (world().rank() == 0) as_vtk(grid, options, mesh, theirs);
  Index ours_found = 0;
  Index theirs_found = 0;
  compare(
      state, static_cast<double>(mesh.cells()),
      {"ours",
       [&] {
         return seconds_of_rank_0([&] { ours_found = search::external_faces(world().space(), mesh).report.external; });
       }},
      {name,
       [&] {
         return seconds_of_rank_0([&] {
           vtkNew<Filter> filter;
           filter->SetInputData(theirs);
           filter->Update();
           theirs_found = static_cast<Index>(filter->GetOutput()->GetNumberOfCells());
         });
       }},
      "gcells");
  if (world().rank() == 0 && (ours_found != 12 * n * n || theirs_found != ours_found)) {
    fail(state, "not 12 n^2 external faces");
  }
}

[[maybe_unused]] const bool added = [] {
  for (const bool randomised : {false, true}) {
    const std::string kind = randomised ? "randomised" : "regular";
    const StructuredGrid grid{160, 160, 160};
    benchmark::RegisterBenchmark(
        ("faces/vtkGeometryFilter/" + kind).c_str(),
        [=](benchmark::State& state) { beside<vtkGeometryFilter>(state, grid, randomised, "vtkGeometryFilter"); })
        ->Iterations(2)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("faces/vtkDataSetSurfaceFilter/" + kind).c_str(),
                                 [=](benchmark::State& state) {
                                   beside<vtkDataSetSurfaceFilter>(state, grid, randomised, "vtkDataSetSurfaceFilter");
                                 })
        ->Iterations(2)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf

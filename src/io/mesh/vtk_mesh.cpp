#include "io/mesh/vtk_mesh.hpp"

#include "io/mesh/vtk_quiet.hpp"
#include <heddle/core/error.hpp>

#include <vtkAOSDataArrayTemplate.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkErrorCode.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <cstdint>

namespace heddle::impl {

namespace {

using ArrayPointer = vtkSmartPointer<vtkDataArray>;

template <class Type>
vtkSmartPointer<vtkAOSDataArrayTemplate<Type>> shared_array(const void* values, std::int64_t tuples,
                                                            std::int64_t components) {
  auto array = vtkSmartPointer<vtkAOSDataArrayTemplate<Type>>::New();
  array->SetNumberOfComponents(static_cast<int>(components));
  // 1: VTK neither frees it nor, in a writer, changes it.
  array->SetArray(static_cast<Type*>(const_cast<void*>(values)), tuples * components, 1);
  return array;
}

ArrayPointer shared_array(const VtkOutput::Array& array) {
  return with_type(array.type, [&](auto number) -> ArrayPointer {
    return shared_array<decltype(number)>(array.values, array.tuples, array.components);
  });
}

void add_arrays(vtkFieldData& data, const std::vector<VtkOutput::Array>& arrays) {
  for (const auto& array : arrays) {
    const ArrayPointer shared = shared_array(array);
    shared->SetName(array.name.c_str());
    data.AddArray(shared);
  }
}

template <class Writer, class Grid>
void write(const std::filesystem::path& path, const std::filesystem::path& target, const VtkOutput& output,
           Grid& grid) {
  const vtkNew<vtkPoints> points;
  points->SetData(shared_array<double>(output.coordinates, output.points, 3));
  grid.SetPoints(points);
  add_arrays(*grid.GetPointData(), output.point_arrays);
  add_arrays(*grid.GetCellData(), output.cell_arrays);

  const VtkQuiet quiet;
  const vtkNew<Writer> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(&grid);
  writer->SetHeaderTypeToUInt64();
  if (output.text) {
    writer->SetDataModeToAscii();
  } else {
    writer->SetDataModeToAppended();
    writer->EncodeAppendedDataOff();
  }
  if (!output.compressed) writer->SetCompressorTypeToNone();
  const bool done = writer->Write() == 1 && writer->GetErrorCode() == vtkErrorCode::NoError && quiet.reason().empty();
  if (done) return;
  std::string reason = quiet.reason();
  if (reason.empty()) reason = vtkErrorCode::GetStringFromErrorCode(writer->GetErrorCode());
  throw Error(ErrorKind::output, message_of(target.string(), ": can't be written: ", reason));
}

}  // namespace

void write_vtk(const std::filesystem::path& path, const std::filesystem::path& target, const VtkOutput& output) {
  const vtkNew<vtkCellArray> cells;
  cells->SetData(shared_array<std::int64_t>(output.offsets, output.cells + 1, 1),
                 shared_array<std::int64_t>(output.connectivity, output.corners, 1));
  if (output.polygons) {
    const vtkNew<vtkPolyData> surface;
    surface->SetPolys(cells);
    write<vtkXMLPolyDataWriter>(path, target, output, *surface);
  } else {
    const vtkNew<vtkUnstructuredGrid> grid;
    const vtkNew<vtkUnsignedCharArray> kinds;
    kinds->SetArray(const_cast<unsigned char*>(output.kinds), output.cells, 1);
    grid->SetCells(kinds, cells);
    write<vtkXMLUnstructuredGridWriter>(path, target, output, *grid);
  }
}

}  // namespace heddle::impl

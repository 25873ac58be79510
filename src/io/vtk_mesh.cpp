#include "vtk_mesh.hpp"

#include <heddle/core/error.hpp>

#include <vtkAOSDataArrayTemplate.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCommand.h>
#include <vtkDataArray.h>
#include <vtkDataArraySelection.h>
#include <vtkDataObject.h>
#include <vtkErrorCode.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkUnstructuredGridReader.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkXMLUnstructuredGridReader.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <istream>
#include <type_traits>
#include <utility>

namespace heddle::impl {

namespace {

// VTK's text without "ERROR: In FILE, line N\nCLASS (0xADDRESS): " before it, on one line.
std::string reason_in(const std::string& text) {
  std::size_t begin = 0;
  if (const auto line = text.find('\n'); text.substr(0, line).find(": In ") != std::string::npos) {
    begin = line == std::string::npos ? 0 : line + 1;
  }
  if (const auto address = text.find(" (0x", begin); address != std::string::npos) {
    if (const auto close = text.find("): ", address); close != std::string::npos) begin = close + 3;
  }
  std::string reason;
  for (const char character : text.substr(begin)) {
    const auto byte = static_cast<unsigned char>(character);
    const bool space = byte <= ' ';
    if (!space) reason += byte < 0x7f ? character : '?';
    if (space && !reason.empty() && reason.back() != ' ') reason += ' ';
  }
  while (!reason.empty() && (reason.back() == ' ' || reason.back() == '.' || reason.back() == '!')) reason.pop_back();
  return reason;
}

// Takes the place of VTK's output window, which prints, and keeps the first message: those after it follow from it, but
// for one that names the array. Of warnings, those about data that can't be read are as good as errors.
class Listener : public vtkOutputWindow {
 public:
  static Listener* New();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void DisplayText(const char* text) override {
    const std::string reason = reason_in(text);
    if (first_.empty()) first_ = reason + (place_ ? place_() : "");
    if (array_.empty() && reason.rfind("Cannot read", 0) == 0) array_ = reason;
  }
  void DisplayErrorText(const char* text) override { DisplayText(text); }
  void DisplayWarningText(const char* text) override {
    if (reason_in(text).rfind("Error", 0) == 0) DisplayText(text);
  }
  void DisplayGenericWarningText(const char* text) override { DisplayWarningText(text); }
  void DisplayDebugText(const char*) override {}

  [[nodiscard]] std::string reason() const {
    return array_.empty() || first_.rfind("Cannot read", 0) == 0 ? first_ : array_ + " (" + first_ + ")";
  }
  // What to add to a message: where the reader is.
  void set_place(std::function<std::string()> place) { place_ = std::move(place); }

 protected:
  Listener() = default;
  ~Listener() override = default;

 private:
  std::string first_;
  std::string array_;
  std::function<std::string()> place_;
};

vtkStandardNewMacro(Listener);

// While it lives, VTK prints nothing, and its first error is kept.
class Quiet {
 public:
  Quiet()
      : before_(vtkOutputWindow::GetInstance()),
        display_(vtkObject::GetGlobalWarningDisplay()),
        verbosity_(vtkLogger::GetCurrentVerbosityCutoff()) {
    vtkOutputWindow::SetInstance(listener_);
    vtkObject::SetGlobalWarningDisplay(1);  // Else VTK tells nobody.
    vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
    // What is left is that of log files. Where they hide stderr's, it gets VTK's default again.
    const auto files = vtkLogger::GetCurrentVerbosityCutoff();
    if (verbosity_ <= files) verbosity_ = std::min(files, vtkLogger::VERBOSITY_INFO);
  }
  ~Quiet() {
    vtkLogger::SetStderrVerbosity(verbosity_);
    vtkObject::SetGlobalWarningDisplay(display_);
    vtkOutputWindow::SetInstance(before_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  [[nodiscard]] std::string reason() const { return listener_->reason(); }
  void set_place(std::function<std::string()> place) { listener_->set_place(std::move(place)); }

 private:
  vtkNew<Listener> listener_;
  vtkSmartPointer<vtkOutputWindow> before_;
  int display_;
  vtkLogger::Verbosity verbosity_;
};

[[noreturn]] void refuse(const std::filesystem::path& path, std::string reason) {
  const std::string named = " for file: " + path.string();
  if (const auto begin = reason.find(named); begin != std::string::npos) reason.erase(begin, named.size());
  throw Error(ErrorKind::input, message_of(path.string(), ": can't be read: ", reason));
}

// Strings are not kept, and where a file ends within them, VTK crashes.
void read_no_strings(vtkXMLUnstructuredGridReader& reader) {
  const auto skip = [&](vtkInformationVector* arrays, vtkDataArraySelection* selection) {
    for (int i = 0; arrays != nullptr && i < arrays->GetNumberOfInformationObjects(); ++i) {
      vtkInformation* const array = arrays->GetInformationObject(i);
      if (array->Get(vtkDataObject::FIELD_ARRAY_TYPE()) == VTK_STRING) {
        selection->DisableArray(array->Get(vtkDataObject::FIELD_NAME()));
      }
    }
  };
  vtkInformation* const output = reader.GetOutputInformation(0);
  skip(output->Get(vtkDataObject::POINT_DATA_VECTOR()), reader.GetPointDataArraySelection());
  skip(output->Get(vtkDataObject::CELL_DATA_VECTOR()), reader.GetCellDataArraySelection());
}
void read_no_strings(vtkUnstructuredGridReader&) {}

void find_place(Quiet&, vtkXMLUnstructuredGridReader&) {}  // Its messages have one.
void find_place(Quiet& quiet, vtkUnstructuredGridReader& reader) {
  quiet.set_place([&reader]() -> std::string {
    std::istream* const stream = reader.GetIStream();
    if (stream == nullptr) return "";
    const auto state = stream->rdstate();
    stream->clear();
    const auto byte = static_cast<long long>(stream->tellg());
    stream->clear(state);
    return byte < 0 ? "" : message_of(", before byte ", byte);
  });
}

template <class Reader> vtkSmartPointer<vtkUnstructuredGrid> read(const std::filesystem::path& path) {
  Quiet quiet;
  vtkSmartPointer<vtkUnstructuredGrid> grid;
  unsigned long code = 0;
  try {
    const vtkNew<Reader> reader;
    find_place(quiet, *reader);
    reader->SetFileName(path.c_str());
    reader->UpdateInformation();
    code = reader->GetErrorCode();
    // Where that went wrong, VTK would read on, and crash.
    if (code == vtkErrorCode::NoError && quiet.reason().empty()) {
      read_no_strings(*reader);
      reader->Update();
      code = reader->GetErrorCode();
      grid = reader->GetOutput();
    }
  } catch (const std::exception& error) {
    // VTK has none of its own: this is memory, or a vector, that can't be as large as the file announces.
    refuse(path, message_of("it announces what there is no room for (", error.what(), ")"));
  }
  quiet.set_place({});
  if (!quiet.reason().empty()) refuse(path, quiet.reason());
  if (code != vtkErrorCode::NoError) refuse(path, vtkErrorCode::GetStringFromErrorCode(code));
  if (grid == nullptr) refuse(path, "VTK gives no reason");
  return grid;
}

template <class Type> constexpr ElementType element_type() {
  constexpr bool is_signed = std::is_signed_v<Type>;
  if constexpr (std::is_floating_point_v<Type>) {
    return sizeof(Type) == 4 ? ElementType::float32 : ElementType::float64;
  } else {
    switch (sizeof(Type)) {
      case 1:
        return is_signed ? ElementType::int8 : ElementType::uint8;
      case 2:
        return is_signed ? ElementType::int16 : ElementType::uint16;
      case 4:
        return is_signed ? ElementType::int32 : ElementType::uint32;
      default:
        return is_signed ? ElementType::int64 : ElementType::uint64;
    }
  }
}

// False for what is no array of numbers with a C++ type, as arrays of bits are.
template <class Work> bool visit_values(vtkDataArray& array, const Work& work) {
  switch (array.GetDataType()) {
    vtkTemplateMacro(work(static_cast<const VTK_TT*>(array.GetVoidPointer(0))); return true);
    default:
      return false;
  }
}

template <class To> void copy_values(vtkDataArray& array, To* to) {
  visit_values(array, [&](const auto* from) {
    std::transform(from, from + array.GetNumberOfValues(), to, [](auto value) { return static_cast<To>(value); });
  });
}

void copy_bytes(vtkDataArray& array, void* to) {
  visit_values(array, [&](const auto* from) {
    const auto* bytes = reinterpret_cast<const char*>(from);
    std::copy_n(bytes, static_cast<std::size_t>(array.GetNumberOfValues()) * sizeof(*from), static_cast<char*>(to));
  });
}

using ArrayPointer = vtkSmartPointer<vtkDataArray>;

struct Arrays {
  std::vector<VtkGrid::Array> infos;
  std::vector<ArrayPointer> values;

  explicit Arrays(vtkFieldData& data) {
    for (int i = 0; i < data.GetNumberOfArrays(); ++i) {
      vtkDataArray* const array = data.GetArray(i);  // Null for strings.
      if (array == nullptr || array->GetName() == nullptr) continue;
      VtkGrid::Array info;
      info.name = array->GetName();
      info.tuples = array->GetNumberOfTuples();
      info.components = array->GetNumberOfComponents();
      const bool numbers = visit_values(
          *array, [&](const auto* from) { info.type = element_type<std::remove_cvref_t<decltype(*from)>>(); });
      if (!numbers) continue;
      infos.push_back(std::move(info));
      values.emplace_back(array);
    }
  }
  void take(std::size_t which, void* to) {
    copy_bytes(*values[which], to);
    values[which] = nullptr;
  }
};

template <class Type, class... Arguments>
vtkSmartPointer<vtkAOSDataArrayTemplate<Type>> shared_array(const void* values, std::int64_t tuples,
                                                            std::int64_t components) {
  auto array = vtkSmartPointer<vtkAOSDataArrayTemplate<Type>>::New();
  array->SetNumberOfComponents(static_cast<int>(components));
  // 1: VTK neither frees it nor, in a writer, changes it.
  array->SetArray(static_cast<Type*>(const_cast<void*>(values)), tuples * components, 1);
  return array;
}

ArrayPointer shared_array(const VtkOutput::Array& array) {
  const auto make = [&]<class Type>(Type) -> ArrayPointer {
    return shared_array<Type>(array.values, array.tuples, array.components);
  };
  switch (array.type) {
    case ElementType::int8:
      return make(static_cast<signed char>(0));
    case ElementType::uint8:
      return make(std::uint8_t{});
    case ElementType::int16:
      return make(std::int16_t{});
    case ElementType::uint16:
      return make(std::uint16_t{});
    case ElementType::int32:
      return make(std::int32_t{});
    case ElementType::uint32:
      return make(std::uint32_t{});
    case ElementType::int64:
      return make(std::int64_t{});
    case ElementType::uint64:
      return make(std::uint64_t{});
    case ElementType::float32:
      return make(float{});
    default:
      return make(double{});
  }
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

  const Quiet quiet;
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

struct VtkGrid::Contents {
  explicit Contents(vtkUnstructuredGrid& grid)
      : points(grid.GetNumberOfPoints()),
        cells(grid.GetNumberOfCells()),
        point_arrays(*grid.GetPointData()),
        cell_arrays(*grid.GetCellData()) {
    if (grid.GetPoints() != nullptr) coordinates = grid.GetPoints()->GetData();
    if (grid.GetCellTypesArray() != nullptr) kinds = grid.GetCellTypesArray();
    if (vtkCellArray* const array = grid.GetCells(); array != nullptr) {
      offsets = array->GetOffsetsArray();
      connectivity = array->GetConnectivityArray();
    }
  }

  std::int64_t points;
  std::int64_t cells;
  Arrays point_arrays;
  Arrays cell_arrays;
  ArrayPointer coordinates;
  ArrayPointer kinds;
  ArrayPointer offsets;
  ArrayPointer connectivity;
};

VtkGrid::VtkGrid(const std::filesystem::path& path) {
  const bool xml = path.extension() == ".vtu";
  const auto grid = xml ? read<vtkXMLUnstructuredGridReader>(path) : read<vtkUnstructuredGridReader>(path);
  contents_ = std::make_unique<Contents>(*grid);
  const auto expect = [&](const ArrayPointer& array, std::int64_t tuples, const char* what) {
    const std::int64_t found = array == nullptr ? 0 : array->GetNumberOfTuples();
    if (found != tuples) refuse(path, message_of("it has ", found, " ", what, ", where ", tuples, " are expected"));
  };
  expect(contents_->coordinates, points(), "points");
  expect(contents_->kinds, cells(), "types of cells");
  if (cells() > 0) expect(contents_->offsets, cells() + 1, "offsets of cells");
}

VtkGrid::~VtkGrid() = default;

std::int64_t VtkGrid::points() const {
  return contents_->points;
}

std::int64_t VtkGrid::cells() const {
  return contents_->cells;
}

std::int64_t VtkGrid::corners() const {
  return contents_->connectivity == nullptr ? 0 : contents_->connectivity->GetNumberOfValues();
}

const std::vector<VtkGrid::Array>& VtkGrid::point_arrays() const {
  return contents_->point_arrays.infos;
}

const std::vector<VtkGrid::Array>& VtkGrid::cell_arrays() const {
  return contents_->cell_arrays.infos;
}

void VtkGrid::take_points(double* to) {
  if (points() > 0) copy_values(*contents_->coordinates, to);
  contents_->coordinates = nullptr;
}

void VtkGrid::take_kinds(std::uint8_t* to) {
  if (cells() > 0) copy_values(*contents_->kinds, to);
  contents_->kinds = nullptr;
}

void VtkGrid::take_offsets(std::int64_t* to) {
  if (cells() > 0) {
    copy_values(*contents_->offsets, to);
  } else {
    *to = 0;
  }
  contents_->offsets = nullptr;
}

void VtkGrid::take_corners(std::int64_t* to) {
  if (corners() > 0) copy_values(*contents_->connectivity, to);
  contents_->connectivity = nullptr;
}

void VtkGrid::take_point_array(std::size_t which, void* to) {
  contents_->point_arrays.take(which, to);
}

void VtkGrid::take_cell_array(std::size_t which, void* to) {
  contents_->cell_arrays.take(which, to);
}

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

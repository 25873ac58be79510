// Reader of VTK's XML polygon files (.vtp).
#include "io/mesh/vtk/vtu_mesh.hpp"
#include "io/mesh/vtk/xml_reader.hpp"

#include <algorithm>
#include <array>

namespace heddle::impl {

namespace {

// Lists of a piece, in the order of its cells: the element, the attribute with their number, and the kind of cells with
// `corners` corners; polygons may have more.
struct Form {
  const char* list;
  const char* number;
  Index corners;
  CellKind kind;
};
constexpr std::array<Form, 4> forms = {{{"Verts", "NumberOfVerts", 1, CellKind::vertex},
                                        {"Lines", "NumberOfLines", 2, CellKind::line},
                                        {"Strips", "NumberOfStrips", 0, CellKind::triangle},
                                        {"Polys", "NumberOfPolys", 3, CellKind::triangle}}};

class VtpReader {
 public:
  explicit VtpReader(const std::filesystem::path& path) : file_(path, "PolyData") { offsets_.push_back(0); }

  MeshParts read() {
    std::vector<Index> points;
    std::vector<Index> cells;
    for (std::size_t piece = 0; piece < file_.pieces().size(); ++piece) {
      points.push_back(file_.count_of(file_.pieces()[piece], "NumberOfPoints"));
      const std::size_t before = kinds_.size();
      for (const Form& form : forms) read_form(piece, form, points.back(), sum_of(points, piece));
      cells.push_back(static_cast<Index>(kinds_.size() - before));
    }
    MeshParts parts;
    parts.point_arrays = file_.read_arrays("point", "PointData", points);
    parts.cell_arrays = file_.read_arrays("cell", "CellData", cells);
    parts.points = file_.read_points(points);
    const auto listed = [](const auto& values) {
      using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
      auto list = host_list<Value>("heddle::io::cells", static_cast<Index>(values.size()));
      std::copy(values.begin(), values.end(), list.data());
      return list;
    };
    file_.require_right(set_cells(parts, {listed(kinds_), listed(offsets_), listed(corners_)}));
    return parts;
  }

 private:
  void read_form(std::size_t piece, const Form& form, Index points, Index first) {
    if (file_.pieces()[piece].element.find(form.number) == nullptr) return;
    const Index count = file_.count_of(file_.pieces()[piece], form.number);
    if (count == 0) return;
    if (form.corners == 0) file_.require_right("has triangle strips, which are not taken");
    const auto ends = file_.read_ends(piece, form.list, "offsets", count);
    const auto corners = file_.read_list(piece, form.list, "connectivity", ends(count));
    for (Index cell = 0; cell < count; ++cell) {
      const auto number = static_cast<Index>(kinds_.size());
      const Index size = ends(cell + 1) - ends(cell);
      if (form.corners < 3 ? size != form.corners : size < 3) {
        file_.require_right(message_of("cell ", number, ", of ", form.list, ", has ", size, " points, where ",
                                       form.corners, form.corners < 3 ? "" : " or more", " are expected"));
      }
      for (Index k = ends(cell); k < ends(cell + 1); ++k) {
        if (corners(k) < 0 || corners(k) >= points) file_.require_right(wrong_corner(number, corners(k), points));
        corners_.push_back(first + corners(k));
      }
      kinds_.push_back(form.corners < 3 ? form.kind : polygon_of(size));
      offsets_.push_back(static_cast<Index>(corners_.size()));
    }
  }

  XmlReader file_;
  std::vector<CellKind> kinds_;
  std::vector<Index> offsets_, corners_;
};

}  // namespace

MeshParts read_vtp(const std::filesystem::path& path) {
  return read_with_room(path, [&] { return VtpReader(path).read(); });
}

}  // namespace heddle::impl

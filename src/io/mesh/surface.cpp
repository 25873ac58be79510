// Surfaces of meshes, as surface files hold them.
#include "io/mesh/surface.hpp"

#include "core/cell_sides.hpp"
#include "io/matrix/chunks.hpp"
#include "io/mesh/second_order.hpp"

#include <algorithm>
#include <span>

namespace heddle {

namespace impl {

namespace {

using HostFaces = FaceList<Index, Kokkos::HostSpace>;

template <class View> MeshArray list_array(const std::string& name, const View& list) {
  using Value = typename View::non_const_value_type;
  constexpr ElementType type = sizeof(Value) == 1 ? ElementType::uint8 : ElementType::int64;
  void* data = nullptr;
  MeshArray array = new_array(name, type, static_cast<Index>(list.extent(0)), 1, data);
  std::copy_n(list.data(), list.extent(0), static_cast<Value*>(data));
  return array;
}

template <class T> Kokkos::View<T*, Kokkos::HostSpace> moved(const char* label, Chunks<T>& chunks) {
  const auto list = host_list<T>(label, static_cast<Index>(chunks.size()));
  chunks.move_to(list.data());
  return list;
}

using Vector = std::array<double, 3>;

// one + factor other.
Vector sum(const Vector& one, const Vector& other, double factor) {
  return {one[0] + factor * other[0], one[1] + factor * other[1], one[2] + factor * other[2]};
}

// Cells of the surface, and which face each is or belongs to.
class SurfaceCells {
 public:
  SurfaceCells(const MeshFile& from, CurvedFaces curved) : from_(from), curved_(curved) {
    offsets_.append(0);
    turns_wedges_ = has_wedges_inside_out();
  }

  void append(const HostFaces& faces, Index face) {
    const auto size = static_cast<std::size_t>(faces.offsets(face + 1) - faces.offsets(face));
    const std::span<const Index> corners(faces.points.data() + faces.offsets(face), size);
    const CellNodes& nodes = from_.nodes();
    const Index cell = faces.cell(face);
    const SecondOrderType* const type = nodes.empty() ? nullptr : second_order(nodes.types(cell));
    // Faces to be turned over are of three or four corners.
    const bool turned = turns_wedges_ && is_wedge(cell) && size <= 4;
    if (curved_ == CurvedFaces::corners || type == nullptr || !has_side(*type, faces.side(face))) {
      if (!turned) return end_cell(face, corners, polygon_of(static_cast<Index>(size)));
      std::array<Index, 4> points{};
      std::copy(corners.begin(), corners.end(), points.begin());
      turn_over({points.data(), size}, size == 3 ? 5 : 9);
      return end_cell(face, {points.data(), size}, polygon_of(static_cast<Index>(size)));
    }
    const CurvedSide side = curved_side(*type, faces.side(face));
    const Index* const own = nodes.points.data() + nodes.offsets(cell);
    std::array<Index, 9> points{};
    const auto count = static_cast<std::size_t>(side.count);
    for (std::size_t k = 0; k < count; ++k) points[k] = own[side.nodes[k]];
    if (turned) turn_over({points.data(), count}, side.type);
    if (curved_ == CurvedFaces::cells) {
      return end_cell(face, {points.data(), count}, static_cast<CellKind>(side.type));
    }
    const auto places = triangles_of(side.type);
    for (std::size_t k = 0; k < places.size(); k += 3) {
      const std::array<Index, 3> triangle = {points[places[k]], points[places[k + 1]], points[places[k + 2]]};
      end_cell(face, triangle, CellKind::triangle);
    }
  }

  // Which face each cell is of.
  HostIndices take(Surface& surface) {
    surface.kinds = moved("heddle::io::kinds", kinds_);
    surface.offsets = moved("heddle::io::offsets", offsets_);
    surface.corners = moved("heddle::io::corners", corners_);
    return moved("heddle::io::faces", face_);
  }

 private:
  static bool has_side(const SecondOrderType& type, int side) {
    return side == whole_cell ? dimensions_of(type.linear) == 2 : side < sides_of(type.linear);
  }
  // VTK orders the first three corners of a wedge as seen from outside in 9.4, and as seen from inside in 9.7. Files
  // have both; the coordinates of most of a file's wedges decide.
  [[nodiscard]] bool has_wedges_inside_out() const {
    Index wedges = 0;
    Index turned = 0;
    for (Index cell = 0; cell < from_.mesh().cells(); ++cell) {
      if (!is_wedge(cell)) continue;
      ++wedges;
      if (is_inside_out(cell)) ++turned;
    }
    return turned > wedges / 2;
  }
  [[nodiscard]] bool is_wedge(Index cell) const {
    const MeshFile::HostMesh& mesh = from_.mesh();
    return (mesh.mixed() ? mesh.kinds(cell) : mesh.kind) == CellKind::wedge;
  }
  [[nodiscard]] bool is_inside_out(Index cell) const {
    const MeshFile::HostMesh& mesh = from_.mesh();
    constexpr int corners = 6;
    const Index begin = mesh.mixed() ? mesh.offsets(cell) : cell * corners;
    const auto at = [&](int number) {
      const double* const place = &from_.points()(mesh.points(begin + number), 0);
      return Vector{place[0], place[1], place[2]};
    };
    Vector middle{};
    for (int k = 0; k < corners; ++k) middle = sum(middle, at(k), 1.0 / corners);
    for (int side = 0; side < sides_of(CellKind::wedge); ++side) {
      const unsigned digits = side_corners(CellKind::wedge, side);
      const int count = corner_count(digits);
      Vector out = sum({}, middle, -1);
      for (int k = 0; k < count; ++k) out = sum(out, at(corner(digits, k)), 1.0 / count);
      // Two edges, or the diagonals of a quadrilateral.
      const Vector one = sum(at(corner(digits, 2)), at(corner(digits, 0)), -1);
      const Vector other = sum(at(corner(digits, count - 1)), at(corner(digits, 1)), -1);
      double product = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t next = (k + 1) % 3;
        const std::size_t last = (k + 2) % 3;
        product += out[k] * (one[next] * other[last] - one[last] * other[next]);
      }
      if (!(product < 0)) return false;
    }
    return true;
  }
  void end_cell(Index face, std::span<const Index> points, CellKind kind) {
    for (const Index point : points) corners_.append(point);
    offsets_.append(static_cast<Index>(corners_.size()));
    kinds_.append(kind);
    face_.append(face);
  }

  const MeshFile& from_;
  CurvedFaces curved_;
  bool turns_wedges_ = false;
  Chunks<CellKind> kinds_;
  Chunks<Index> offsets_, corners_, face_;
};

// New numbers of points, in the order of their old ones, which come back.
HostIndices renumber(Surface& surface, Index points) {
  const auto number = host_list<Index>("heddle::io::numbers", points);
  std::fill_n(number.data(), points, Index{-1});
  const std::size_t corners = surface.corners.extent(0);
  for (std::size_t corner = 0; corner < corners; ++corner) number(surface.corners(corner)) = 0;
  Index used = 0;
  for (Index point = 0; point < points; ++point) {
    if (number(point) >= 0) number(point) = used++;
  }
  const auto original = host_list<Index>("heddle::io::used_points", used);
  for (Index point = 0; point < points; ++point) {
    if (number(point) >= 0) original(number(point)) = point;
  }
  const auto renumbered = host_list<Index>("heddle::io::corners", static_cast<Index>(corners));
  for (std::size_t corner = 0; corner < corners; ++corner) renumbered(corner) = number(surface.corners(corner));
  surface.corners = renumbered;
  return original;
}

template <class View> auto at_faces(const char* label, const View& values, const HostIndices& face) {
  auto found = host_list<typename View::non_const_value_type>(label, static_cast<Index>(face.extent(0)));
  for (std::size_t i = 0; i < face.extent(0); ++i) found(i) = values(face(i));
  return found;
}

}  // namespace

Surface surface_of(const MeshFile& from, const HostFaces& faces, CurvedFaces curved,
                   const std::vector<MeshArray>& arrays) {
  Surface surface;
  SurfaceCells cells(from, curved);
  for (Index face = 0; face < faces.size(); ++face) cells.append(faces, face);
  const HostIndices face = cells.take(surface);
  const HostIndices original = renumber(surface, static_cast<Index>(from.points().extent(0)));
  const auto used = static_cast<Index>(original.extent(0));
  const auto coordinates = host_points(used);
  for (Index point = 0; point < used; ++point) {
    for (int axis = 0; axis < 3; ++axis) coordinates(point, axis) = from.points()(original(point), axis);
  }
  surface.points = coordinates;

  const auto cell = at_faces("heddle::io::cells", faces.cell, face);
  for (const MeshArray& array : from.point_arrays()) surface.point_arrays.push_back(gathered(array, original));
  put_array(surface.point_arrays, list_array("OriginalPointIds", original));
  for (const MeshArray& array : from.cell_arrays()) surface.cell_arrays.push_back(gathered(array, cell));
  put_array(surface.cell_arrays, list_array("OriginalCellIds", cell));
  put_array(surface.cell_arrays, list_array("OriginalCellSides", at_faces("heddle::io::sides", faces.side, face)));
  for (const MeshArray& array : arrays) put_array(surface.cell_arrays, gathered(array, face));
  return surface;
}

void require_faces(const MeshFile& from, const HostFaces& faces) {
  const Index cells = from.mesh().cells();
  const auto points = static_cast<Index>(from.points().extent(0));
  const auto corners = static_cast<Index>(faces.points.extent(0));
  const auto count = static_cast<std::size_t>(faces.size());
  require(faces.side.extent(0) == count, "expected as many sides as faces, ", count, ", got ", faces.side.extent(0));
  // An empty list may do without its one offset.
  require(faces.offsets.extent(0) == count + 1 || (count == 0 && faces.offsets.extent(0) == 0), "expected ", count + 1,
          " offsets of faces, got ", faces.offsets.extent(0));
  for (std::size_t face = 0; face < count; ++face) {
    require(faces.cell(face) >= 0 && faces.cell(face) < cells, "face ", face, " is of cell ", faces.cell(face),
            ", where there are ", cells, " cells");
    const Index begin = faces.offsets(face);
    const Index end = faces.offsets(face + 1);
    require(begin >= 0 && end >= begin && end <= corners, "face ", face, " has the points from ", begin, " to ", end,
            ", where there are ", corners, " in all");
    require(end - begin >= 3, "face ", face, " has ", end - begin, " points, where three or more are expected");
    for (Index corner = begin; corner < end; ++corner) {
      require(faces.points(corner) >= 0 && faces.points(corner) < points, "face ", face, " has the point ",
              faces.points(corner), ", where there are ", points, " points, numbered from 0");
    }
  }
}

}  // namespace impl
}  // namespace heddle

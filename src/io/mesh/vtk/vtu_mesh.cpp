// Reader of VTK's XML files of unstructured grids (.vtu).
#include "io/mesh/vtk/vtu_mesh.hpp"

#include "io/mesh/polyhedra.hpp"
#include "io/mesh/vtk/xml_reader.hpp"

#include <algorithm>

namespace heddle::impl {

namespace {

class VtuReader {
 public:
  explicit VtuReader(const std::filesystem::path& path) : file_(path, "UnstructuredGrid") {}

  MeshParts read() {
    for (const XmlPiece& piece : file_.pieces()) {
      points_.push_back(file_.count_of(piece, "NumberOfPoints"));
      cells_.push_back(file_.count_of(piece, "NumberOfCells"));
    }
    MeshParts parts;
    parts.point_arrays = file_.read_arrays("point", "PointData", points_);
    parts.cell_arrays = file_.read_arrays("cell", "CellData", cells_);
    parts.points = file_.read_points(points_);
    read_all_cells(parts);
    return parts;
  }

 private:
  FileCells read_cells(std::size_t piece) {
    FileCells cells;
    const Index count = cells_[piece];
    cells.offsets = file_.read_ends(piece, "Cells", "offsets", count);
    cells.points = file_.read_list(piece, "Cells", "connectivity", cells.offsets(count));
    const auto kinds = file_.read_list(piece, "Cells", "types", count);
    cells.kinds = host_list<CellKind>("heddle::io::kinds", count);
    for (Index cell = 0; cell < count; ++cell) {
      // A number that is not a byte is not a kind.
      cells.kinds(cell) = static_cast<CellKind>(kinds(cell) >= 0 && kinds(cell) < 256 ? kinds(cell) : 0);
    }
    return cells;
  }

  // Refuse wrong cells of a piece; their corners count its own points.
  void require_right(const FileCells& cells, std::size_t piece) const {
    const auto corners = static_cast<Index>(cells.points.extent(0));
    std::string wrong = wrong_kinds(cells.kinds, cells.offsets, corners, KindsOf::file);
    if (wrong.empty()) {
      HostMesh mesh;
      mesh.kinds = cells.kinds;
      mesh.offsets = cells.offsets;
      mesh.points = cells.points;
      wrong = wrong_corners(mesh, points_[piece]);
    }
    if (!wrong.empty()) file_.require_right(wrong + place_of(piece));
  }
  [[nodiscard]] std::string place_of(std::size_t piece) const {
    return cells_.size() > 1 ? message_of(" (in piece ", piece, ")") : "";
  }

  // The faces of a piece's polyhedra: since VTK 9.4, lists of faces and of their points; before, one list for each.
  void read_polyhedra(const FileCells& cells, std::size_t piece) {
    const CellKind* const kinds = cells.kinds.data();
    const Index count = cells_[piece];
    const bool any = std::find(kinds, kinds + count, CellKind::polyhedron) != kinds + count;
    if (any && file_.has(piece, "Cells", "polyhedron_offsets")) {
      read_face_lists(count, piece);
    } else if (any) {
      read_streams(cells, piece);
    } else {
      for (Index cell = 0; cell < count; ++cell) polyhedra_.end_cell();
    }
  }

  // Numbers of points in this piece, of which all are.
  std::span<const Index> faces_points(std::span<const Index> points, Index cell, std::size_t piece) const {
    for (const Index point : points) {
      if (point < 0 || point >= points_[piece]) {
        file_.require_right(wrong_corner(cell, point, points_[piece]) + place_of(piece));
      }
    }
    return points;
  }

  void read_face_lists(Index count, std::size_t piece) {
    const auto ends = file_.read_ends(piece, "Cells", "polyhedron_offsets", count);
    const auto faces = file_.read_list(piece, "Cells", "polyhedron_to_faces", ends(count));
    Index all = 0;
    for (std::size_t i = 0; i < faces.extent(0); ++i) {
      if (faces(i) < 0 || faces(i) >= most_faces) file_.refuse("polyhedron_to_faces has the face ", faces(i));
      all = std::max(all, faces(i) + 1);
    }
    const auto offsets = file_.read_ends(piece, "Cells", "face_offsets", all);
    const auto points = file_.read_list(piece, "Cells", "face_connectivity", offsets(all));
    std::vector<std::uint8_t> uses(static_cast<std::size_t>(all), 0);
    for (Index cell = 0; cell < count; ++cell) {
      for (Index k = ends(cell); k < ends(cell + 1); ++k) {
        // Each use takes room of its own, which the file has not.
        if (++uses[static_cast<std::size_t>(faces(k))] > most_uses) {
          file_.refuse("the face ", faces(k), " is of more than ", most_uses, " polyhedra");
        }
        const Index begin = offsets(faces(k));
        const auto size = static_cast<std::size_t>(offsets(faces(k) + 1) - begin);
        polyhedra_.add_face(faces_points({points.data() + begin, size}, cell, piece), sum_of(points_, piece));
      }
      polyhedra_.end_cell();
    }
  }

  void read_streams(const FileCells& cells, std::size_t piece) {
    const Index count = cells_[piece];
    const auto ends = file_.read_list(piece, "Cells", "faceoffsets", count);
    Index all = 0;
    for (Index cell = 0; cell < count; ++cell) all = std::max(all, ends(cell));
    const auto numbers = file_.read_list(piece, "Cells", "faces", all);
    Index begin = 0;
    for (Index cell = 0; cell < count; ++cell) {
      if (cells.kinds(cell) == CellKind::polyhedron) {
        const bool right =
            ends(cell) >= begin &&
            add_stream({numbers.data() + begin, numbers.data() + std::max(begin, ends(cell))}, cell, piece);
        if (!right) file_.refuse("the faces of cell ", cell, ", a polyhedron, are no list of faces");
        begin = ends(cell);
      }
      polyhedra_.end_cell();
    }
  }
  bool add_stream(std::span<const Index> stream, Index cell, std::size_t piece) {
    for (std::size_t at = 1; at < stream.size();) {
      const Index size = stream[at];
      if (size < 0 || static_cast<std::size_t>(size) >= stream.size() - at) return false;
      static_cast<void>(faces_points(stream.subspan(at + 1, static_cast<std::size_t>(size)), cell, piece));
      at += 1 + static_cast<std::size_t>(size);
    }
    return polyhedra_.add_stream(stream, sum_of(points_, piece));
  }

  void read_all_cells(MeshParts& parts) {
    std::vector<FileCells> all(cells_.size());
    Index corners = 0;
    for (std::size_t piece = 0; piece < all.size(); ++piece) {
      if (cells_[piece] == 0) continue;
      all[piece] = read_cells(piece);
      require_right(all[piece], piece);
      read_polyhedra(all[piece], piece);
      corners += static_cast<Index>(all[piece].points.extent(0));
    }
    FileCells whole;
    if (all.size() == 1 && cells_[0] > 0) {
      whole = std::move(all[0]);
    } else {
      whole.kinds = host_list<CellKind>("heddle::io::kinds", sum_of(cells_));
      whole.offsets = host_list<Index>("heddle::io::offsets", sum_of(cells_) + 1);
      whole.points = host_list<Index>("heddle::io::corners", corners);
      whole.offsets(0) = 0;
      join(all, whole);
    }
    parts.polyhedra = polyhedra_.take();
    file_.require_right(set_cells(parts, whole));
  }

  // One piece after the other, and gives them back.
  void join(std::vector<FileCells>& all, const FileCells& whole) const {
    Index cell = 0;
    Index corner = 0;
    Index point = 0;
    for (std::size_t piece = 0; piece < all.size(); ++piece) {
      const FileCells cells = std::exchange(all[piece], {});
      for (Index i = 0; i < static_cast<Index>(cells.kinds.extent(0)); ++i) {
        whole.kinds(cell) = cells.kinds(i);
        whole.offsets(++cell) = corner + cells.offsets(i + 1);
      }
      for (Index i = 0; i < static_cast<Index>(cells.points.extent(0)); ++i) {
        whole.points(corner++) = cells.points(i) + point;
      }
      point += points_[piece];
    }
  }

  // Offsets of so many are beyond any file, and one more than them is no overflow.
  static constexpr Index most_faces = Index{1} << 60;

  static constexpr int most_uses = 8;

  XmlReader file_;
  std::vector<Index> points_, cells_;  // Of each piece.
  PolyhedraBuilder polyhedra_;
};

}  // namespace

MeshParts read_vtu(const std::filesystem::path& path) {
  return read_with_room(path, [&] { return VtuReader(path).read(); });
}

}  // namespace heddle::impl

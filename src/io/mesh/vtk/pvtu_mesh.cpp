// Reader of VTK's parallel files, which name the files of the pieces.
#include "io/mesh/vtk/vtu_mesh.hpp"
#include "io/mesh/vtk/xml_reader.hpp"

#include <algorithm>

namespace heddle::impl {

namespace {

const MeshArray* named(const std::vector<MeshArray>& arrays, const std::string& name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const MeshArray& one) { return one.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

// The arrays that all pieces have alike, one piece after the other.
std::vector<MeshArray> joined(const std::vector<const std::vector<MeshArray>*>& pieces, Index tuples) {
  std::vector<MeshArray> arrays;
  if (pieces.empty()) return arrays;
  for (const MeshArray& first : *pieces.front()) {
    const Index components = first.components();
    const bool alike = std::all_of(pieces.begin(), pieces.end(), [&](const auto* piece) {
      const MeshArray* const own = named(*piece, first.name);
      return own != nullptr && own->values.index() == first.values.index() && own->components() == components;
    });
    if (!alike) continue;
    void* data = nullptr;
    MeshArray array = new_array(first.name, static_cast<ElementType>(first.values.index()), tuples, components, data);
    std::visit(
        [&](const auto& view) {
          using View = std::remove_cvref_t<decltype(view)>;
          auto* to = static_cast<typename View::non_const_value_type*>(data);
          for (const auto* const piece : pieces) {
            const auto& own = std::get<View>(named(*piece, first.name)->values);
            to = std::copy_n(own.data(), own.size(), to);
          }
        },
        first.values);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

// Cells as files have them: kinds by VTK's numbers, with all nodes.
struct PieceCells {
  const MeshParts& parts;

  [[nodiscard]] Index cells() const { return parts.mesh.cells(); }
  [[nodiscard]] CellKind kind(Index cell) const {
    if (!parts.nodes.empty()) return static_cast<CellKind>(parts.nodes.types(cell));
    return parts.mesh.mixed() ? parts.mesh.kinds(cell) : parts.mesh.kind;
  }
  [[nodiscard]] Index begin(Index cell) const {
    if (!parts.nodes.empty()) return parts.nodes.offsets(cell);
    return parts.mesh.mixed() ? parts.mesh.offsets(cell) : cell * corners_of(parts.mesh.kind);
  }
  [[nodiscard]] const HostIndices& points() const {
    return parts.nodes.empty() ? parts.mesh.points : parts.nodes.points;
  }
};

// Appended lists of what every piece has of its polyhedra.
PolyhedronFaces joined_polyhedra(const std::vector<MeshParts>& pieces, Index cells) {
  Index faces = 0;
  Index points = 0;
  for (const MeshParts& piece : pieces) {
    faces += std::max<Index>(0, static_cast<Index>(piece.polyhedra.offsets.extent(0)) - 1);
    points += static_cast<Index>(piece.polyhedra.points.extent(0));
  }
  if (faces == 0) return {};
  const auto all_cells = host_list<Index>("heddle::io::polyhedra", cells + 1);
  const auto all_faces = host_list<Index>("heddle::io::polyhedra", faces + 1);
  const auto all_points = host_list<Index>("heddle::io::polyhedra", points);
  Index cell = 0;
  Index face = 0;
  Index at = 0;
  Index first = 0;
  all_cells(0) = all_faces(0) = 0;
  for (const MeshParts& piece : pieces) {
    const PolyhedronFaces& own = piece.polyhedra;
    const Index faces_before = face;
    const Index points_before = at;
    for (std::size_t i = 1; i < own.offsets.extent(0); ++i) all_faces(++face) = points_before + own.offsets(i);
    for (std::size_t i = 0; i < own.points.extent(0); ++i) all_points(at++) = first + own.points(i);
    for (Index i = 1; i <= piece.mesh.cells(); ++i) {
      all_cells(++cell) = faces_before + (own.empty() ? 0 : own.cells(i));
    }
    first += static_cast<Index>(piece.points.extent(0));
  }
  return {all_cells, all_faces, all_points};
}

MeshParts joined(const std::vector<MeshParts>& pieces) {
  Index points = 0;
  Index cells = 0;
  Index corners = 0;
  std::vector<const std::vector<MeshArray>*> of_points;
  std::vector<const std::vector<MeshArray>*> of_cells;
  for (const MeshParts& piece : pieces) {
    const auto own = static_cast<Index>(piece.points.extent(0));
    points += own;
    cells += piece.mesh.cells();
    corners += static_cast<Index>(PieceCells{piece}.points().extent(0));
    // Pieces that have nothing may say nothing of arrays.
    if (own > 0) of_points.push_back(&piece.point_arrays);
    if (piece.mesh.cells() > 0) of_cells.push_back(&piece.cell_arrays);
  }
  MeshParts parts;
  parts.point_arrays = joined(of_points, points);
  parts.cell_arrays = joined(of_cells, cells);
  parts.polyhedra = joined_polyhedra(pieces, cells);
  const NewPoints places = host_points(points);
  const FileCells all = {host_list<CellKind>("heddle::io::kinds", cells),
                         host_list<Index>("heddle::io::offsets", cells + 1),
                         host_list<Index>("heddle::io::corners", corners)};
  Index first = 0;
  Index cell = 0;
  Index corner = 0;
  all.offsets(0) = 0;
  for (const MeshParts& piece : pieces) {
    std::copy_n(piece.points.data(), piece.points.size(), places.data() + 3 * first);
    const PieceCells own = {piece};
    for (Index i = 0; i < own.cells(); ++i) {
      all.kinds(cell) = own.kind(i);
      for (Index k = own.begin(i); k < own.begin(i + 1); ++k) all.points(corner++) = first + own.points()(k);
      all.offsets(++cell) = corner;
    }
    first += static_cast<Index>(piece.points.extent(0));
  }
  parts.points = places;
  if (const std::string wrong = set_cells(parts, all); !wrong.empty()) throw Error(ErrorKind::input, wrong);
  return parts;
}

}  // namespace

MeshParts read_pvtu(const std::filesystem::path& path) {
  return read_with_room(path, [&] {
    const XmlReader file(path, "PUnstructuredGrid");
    std::vector<MeshParts> pieces;
    for (const XmlPiece& piece : file.pieces()) {
      const std::string* const source = piece.element.find("Source");
      if (source == nullptr) file.refuse("Piece ", pieces.size(), " is missing its Source attribute");
      const auto own = path.parent_path() / *source;
      // A file that names itself, or any but a grid, would have no end.
      if (own.extension() != ".vtu")
        file.refuse("piece ", pieces.size(), " is ", impl::quoted(*source), ", which is no .vtu file");
      std::error_code none;
      if (!std::filesystem::is_regular_file(own, none)) {
        file.refuse("piece ", pieces.size(), ", ", impl::quoted(*source), ", is no file beside this one");
      }
      pieces.push_back(read_vtu(own));
    }
    return joined(pieces);
  });
}

}  // namespace heddle::impl

// Checks of a mesh's parts that readers and writers share.
#include "io/mesh/mesh_parts.hpp"

#include "io/matrix/text_reader.hpp"
#include "io/mesh/second_order.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace heddle {

Index MeshArray::size() const {
  return std::visit([](const auto& view) { return static_cast<Index>(view.extent(0)); }, values);
}

Index MeshArray::components() const {
  return std::visit([](const auto& view) { return static_cast<Index>(view.extent(1)); }, values);
}

namespace impl {

namespace {

// VTK's other cells that are met in practice.
std::string name_of(int type) {
  constexpr std::array<std::pair<int, std::string_view>, 37> names = {{{0, "an empty cell"},
                                                                       {2, "a poly-vertex"},
                                                                       {4, "a poly-line"},
                                                                       {6, "a triangle strip"},
                                                                       {7, "a polygon"},
                                                                       {8, "a pixel"},
                                                                       {15, "a pentagonal prism"},
                                                                       {16, "a hexagonal prism"},
                                                                       {21, "a quadratic edge"},
                                                                       {22, "a quadratic triangle"},
                                                                       {23, "a quadratic quad"},
                                                                       {24, "a quadratic tetrahedron"},
                                                                       {25, "a quadratic hexahedron"},
                                                                       {26, "a quadratic wedge"},
                                                                       {27, "a quadratic pyramid"},
                                                                       {28, "a biquadratic quad"},
                                                                       {29, "a triquadratic hexahedron"},
                                                                       {30, "a quadratic-linear quad"},
                                                                       {31, "a quadratic-linear wedge"},
                                                                       {32, "a biquadratic-quadratic wedge"},
                                                                       {33, "a biquadratic-quadratic hexahedron"},
                                                                       {34, "a biquadratic triangle"},
                                                                       {35, "a cubic line"},
                                                                       {36, "a quadratic polygon"},
                                                                       {37, "a triquadratic pyramid"},
                                                                       {41, "a convex point set"},
                                                                       {42, "a polyhedron"},
                                                                       {68, "a Lagrange curve"},
                                                                       {69, "a Lagrange triangle"},
                                                                       {70, "a Lagrange quad"},
                                                                       {71, "a Lagrange tetrahedron"},
                                                                       {72, "a Lagrange hexahedron"},
                                                                       {73, "a Lagrange wedge"},
                                                                       {74, "a Lagrange pyramid"},
                                                                       {76, "a Bezier triangle"},
                                                                       {78, "a Bezier tetrahedron"},
                                                                       {79, "a Bezier hexahedron"}}};
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == type; });
  if (found == names.end()) return message_of("of VTK type ", type);
  return message_of(found->second, " (VTK type ", type, ")");
}

}  // namespace

std::string wrong_kind(Index cell, int type) {
  return message_of("cell ", cell, " is ", name_of(type),
                    "; taken are vertices, lines, triangles, quads, pixels, polygons, tetrahedra, voxels, hexahedra, "
                    "wedges, pyramids, those of second order, and polyhedra");
}

std::string wrong_corner(Index cell, Index corner, Index points) {
  return message_of("cell ", cell, " has the corner ", corner, ", where there are ", points,
                    " points, numbered from 0");
}

namespace {

constexpr auto pixel = static_cast<CellKind>(8);

// Corners or nodes that a cell has; 0: any number, or no kind.
int points_each(CellKind kind, KindsOf of) {
  if (const int corners = corners_of(kind); corners > 0 || of == KindsOf::mesh) return corners;
  if (kind == pixel) return 4;
  const SecondOrderType* const second = second_order(static_cast<int>(kind));
  return second == nullptr ? 0 : second->nodes;
}

std::string name_of(CellKind kind) {
  const std::string_view name = to_string(kind);
  return name.empty() ? name_of(static_cast<int>(kind)) : message_of("a ", name);
}

bool is_second_order(CellKind kind) {
  return second_order(static_cast<int>(kind)) != nullptr;
}

}  // namespace

bool is_kind(int type, KindsOf of) {
  const auto kind = static_cast<CellKind>(type);
  return type >= 0 && type < 256 && (dimensions_of(kind) >= 0 || points_each(kind, of) > 0);
}

std::string wrong_kinds(const HostKinds& kinds, const HostIndices& offsets, Index corners, KindsOf of) {
  const auto cells = static_cast<Index>(kinds.extent(0));
  if (static_cast<Index>(offsets.extent(0)) != cells + 1) {
    return message_of("has ", offsets.extent(0), " offsets for ", cells,
                      " cells, where one more than cells is expected");
  }
  if (offsets(0) != 0) return message_of("the offset of cell 0 is ", offsets(0), ", where 0 is expected");
  for (Index cell = 0; cell < cells; ++cell) {
    const CellKind kind = kinds(cell);
    if (!is_kind(static_cast<int>(kind), of)) return wrong_kind(cell, static_cast<int>(kind));
    const Index end = offsets(cell + 1);
    if (end < 0 || end > corners) {
      return message_of("the corners of cell ", cell, " end at ", end, ", where there are ", corners, " in all");
    }
    const Index found = end - offsets(cell);
    const int expected = points_each(kind, of);
    if (expected == 0 && found < 3) {
      return message_of("cell ", cell, ", ", name_of(kind), ", has ", found, " corners, where 3 or more are expected");
    }
    if (expected != 0 && found != expected) {
      return message_of("cell ", cell, ", ", name_of(kind), ", has ", found,
                        is_second_order(kind) ? " nodes, where " : " corners, where ", expected, " are expected");
    }
  }
  if (offsets(cells) != corners) {
    return message_of("the cells have ", offsets(cells), " corners, where there are ", corners, " in all");
  }
  return "";
}

std::string wrong_polyhedra(const HostMesh& mesh, const PolyhedronFaces& faces, Index points) {
  const Index cells = mesh.cells();
  const auto is_polyhedron = [&](Index cell) { return mesh.mixed() && mesh.kinds(cell) == CellKind::polyhedron; };
  if (faces.empty()) {
    for (Index cell = 0; mesh.mixed() && cell < cells; ++cell) {
      if (is_polyhedron(cell)) return message_of("cell ", cell, " is a polyhedron, of which no faces are given");
    }
    return "";
  }
  const auto all_faces = static_cast<Index>(faces.offsets.extent(0)) - 1;
  const auto all_points = static_cast<Index>(faces.points.extent(0));
  if (static_cast<Index>(faces.cells.extent(0)) != cells + 1 || faces.cells(0) != 0 ||
      faces.cells(cells) != all_faces || faces.offsets(0) != 0 || faces.offsets(all_faces) != all_points) {
    return "the faces of polyhedra don't fit the cells";
  }
  for (Index cell = 0; cell < cells; ++cell) {
    const Index count = faces.cells(cell + 1) - faces.cells(cell);
    if (count < 0 || faces.cells(cell + 1) > all_faces || (count > 0) != is_polyhedron(cell)) {
      return message_of("cell ", cell, " has ", count, " faces of its own, where polyhedra alone have some");
    }
    if (count > most_polyhedron_faces) {
      return message_of("cell ", cell, ", a polyhedron, has ", count, " faces, where at most ", most_polyhedron_faces,
                        " are taken");
    }
    for (Index face = faces.cells(cell); face < faces.cells(cell + 1); ++face) {
      const Index size = faces.offsets(face + 1) - faces.offsets(face);
      if (size < 3 || faces.offsets(face + 1) > all_points) {
        return message_of("a face of cell ", cell, ", a polyhedron, has ", size,
                          " points, where 3 or more are expected");
      }
      for (Index k = faces.offsets(face); k < faces.offsets(face + 1); ++k) {
        if (faces.points(k) < 0 || faces.points(k) >= points) return wrong_corner(cell, faces.points(k), points);
      }
    }
  }
  return "";
}

std::string wrong_corners(const HostMesh& mesh, Index points) {
  const auto corners = static_cast<Index>(mesh.points.extent(0));
  const Index* const ids = mesh.points.data();
  const Index* const bad = std::find_if(ids, ids + corners, [=](Index id) { return id < 0 || id >= points; });
  if (bad == ids + corners) return "";
  const Index place = bad - ids;
  Index cell = place / std::max(1, corners_of(mesh.kind));
  if (mesh.mixed()) {
    const Index* const offsets = mesh.offsets.data();
    cell = std::upper_bound(offsets, offsets + mesh.offsets.extent(0), place) - offsets - 1;
  }
  return wrong_corner(cell, *bad, points);
}

std::string wrong_nodes(const HostMesh& mesh, const CellNodes& nodes, Index points) {
  if (nodes.empty()) return "";
  const auto cells = static_cast<Index>(nodes.types.extent(0));
  if (cells != mesh.cells()) return message_of("has nodes of ", cells, " cells, where there are ", mesh.cells());
  const auto kinds = host_list<CellKind>("heddle::io::kinds", cells);
  for (Index cell = 0; cell < cells; ++cell) {
    kinds(cell) = static_cast<CellKind>(nodes.types(cell));
    const SecondOrderType* const second = second_order(nodes.types(cell));
    const CellKind linear = second == nullptr ? kinds(cell) : second->linear;
    if (linear != (mesh.mixed() ? mesh.kinds(cell) : mesh.kind)) {
      return message_of("cell ", cell, " has the nodes of another kind of cell");
    }
  }
  std::string wrong = wrong_kinds(kinds, nodes.offsets, static_cast<Index>(nodes.points.extent(0)), KindsOf::file);
  if (!wrong.empty()) return wrong;
  HostMesh whole;
  whole.kinds = kinds;
  whole.offsets = nodes.offsets;
  whole.points = nodes.points;
  return wrong_corners(whole, points);
}

std::string wrong_arrays(const std::vector<MeshArray>& arrays, Index size, const char* what) {
  for (const MeshArray& array : arrays) {
    if (array.size() != size) {
      return message_of("the ", what, " array ", impl::quoted(array.name), " has ", array.size(),
                        " tuples, where there are ", size, " ", what, "s");
    }
    if (array.components() == 0)
      return message_of("the ", what, " array ", impl::quoted(array.name), " has no components");
  }
  return "";
}

namespace {

// The uniform form where all kinds are the same and have one number of corners, else the mixed one.
HostMesh mesh_of(const HostKinds& kinds, const HostIndices& offsets) {
  HostMesh mesh;
  const CellKind* const first = kinds.data();
  const CellKind* const last = first + kinds.extent(0);
  if (first == last) return mesh;
  if (corners_of(*first) > 0 && std::all_of(first, last, [=](CellKind kind) { return kind == *first; })) {
    mesh.kind = *first;
  } else {
    mesh.kinds = kinds;
    mesh.offsets = offsets;
  }
  return mesh;
}

// Linear cells with the corners of these.
FileCells corners_alone(const FileCells& cells) {
  const std::size_t count = cells.kinds.extent(0);
  FileCells linear = {host_list<CellKind>("heddle::io::kinds", static_cast<Index>(count)),
                      host_list<Index>("heddle::io::offsets", static_cast<Index>(count) + 1),
                      {}};
  linear.offsets(0) = 0;
  for (std::size_t cell = 0; cell < count; ++cell) {
    const SecondOrderType* const second = second_order(static_cast<int>(cells.kinds(cell)));
    linear.kinds(cell) = second == nullptr ? cells.kinds(cell) : second->linear;
    linear.offsets(cell + 1) = linear.offsets(cell) + (second == nullptr ? cells.offsets(cell + 1) - cells.offsets(cell)
                                                                         : corners_of(second->linear));
  }
  linear.points = host_list<Index>("heddle::io::corners", linear.offsets(count));
  for (std::size_t cell = 0; cell < count; ++cell) {
    std::copy_n(cells.points.data() + cells.offsets(cell), linear.offsets(cell + 1) - linear.offsets(cell),
                linear.points.data() + linear.offsets(cell));
  }
  return linear;
}

}  // namespace

std::string set_cells(MeshParts& parts, const FileCells& cells) {
  std::string wrong =
      wrong_kinds(cells.kinds, cells.offsets, static_cast<Index>(cells.points.extent(0)), KindsOf::file);
  if (!wrong.empty()) return wrong;
  CellKind* const begin = cells.kinds.data();
  CellKind* const end = begin + cells.kinds.extent(0);
  for (std::size_t cell = 0; cell < cells.kinds.extent(0); ++cell) {
    if (cells.kinds(cell) != pixel) continue;
    cells.kinds(cell) = CellKind::quad;
    std::swap(cells.points(cells.offsets(cell) + 2), cells.points(cells.offsets(cell) + 3));
  }
  FileCells linear = cells;
  if (std::any_of(begin, end, is_second_order)) {
    const auto types = host_list<std::uint8_t>("heddle::io::types", static_cast<Index>(cells.kinds.extent(0)));
    std::transform(begin, end, types.data(), [](CellKind kind) { return static_cast<std::uint8_t>(kind); });
    parts.nodes = {types, cells.offsets, cells.points};
    linear = corners_alone(cells);
  }
  parts.mesh = mesh_of(linear.kinds, linear.offsets);
  parts.mesh.points = linear.points;
  return wrong_polyhedra(parts.mesh, parts.polyhedra, static_cast<Index>(parts.points.extent(0)));
}

namespace {

// The alternative with this number.
template <std::size_t candidate = 0>
MeshArray::Values new_values(std::size_t type, Index size, Index components, void*& data) {
  using View = std::variant_alternative_t<candidate, MeshArray::Values>;
  if constexpr (candidate + 1 < std::variant_size_v<MeshArray::Values>) {
    if (candidate != type) return new_values<candidate + 1>(type, size, components, data);
  }
  const typename View::non_const_type view(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::io::array"), size,
                                           components);
  data = view.data();
  return View(view);
}

}  // namespace

MeshArray new_array(const std::string& name, ElementType type, Index size, Index components, void*& data) {
  return {name, new_values(static_cast<std::size_t>(type), size, components, data)};
}

MeshArray gathered(const MeshArray& array, const HostIndices& which) {
  const auto tuples = static_cast<Index>(which.extent(0));
  const Index components = array.components();
  void* data = nullptr;
  MeshArray result = new_array(array.name, static_cast<ElementType>(array.values.index()), tuples, components, data);
  std::visit(
      [&](const auto& from) {
        auto* to = static_cast<typename std::remove_cvref_t<decltype(from)>::non_const_value_type*>(data);
        for (Index tuple = 0; tuple < tuples; ++tuple) {
          to = std::copy_n(from.data() + which(tuple) * components, components, to);
        }
      },
      array.values);
  return result;
}

void put_array(std::vector<MeshArray>& arrays, MeshArray array) {
  const auto same =
      std::find_if(arrays.begin(), arrays.end(), [&](const MeshArray& other) { return other.name == array.name; });
  if (same == arrays.end()) {
    arrays.push_back(std::move(array));
  } else {
    *same = std::move(array);
  }
}

void mark_ghosts(MeshArray& array, void* values) {
  const bool bytes = std::holds_alternative<ArrayValues<std::uint8_t>>(array.values);
  if (array.name != "vtkGhostLevels" || !bytes || array.components() != 1) return;
  auto* const levels = static_cast<std::uint8_t*>(values);
  std::transform(levels, levels + array.size(), levels, [](std::uint8_t level) { return level > 0 ? 1 : 0; });
  array.name = "vtkGhostType";
}

}  // namespace impl
}  // namespace heddle

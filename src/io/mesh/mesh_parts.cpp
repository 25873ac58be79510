#include "io/mesh/mesh_parts.hpp"

#include "io/matrix/text_reader.hpp"

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

// VTK's other cells, as far as people meet them.
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
  return message_of(
      "cell ", cell, " is ", name_of(type),
      "; linear cells alone are taken: vertex, line, triangle, quad, tetrahedron, voxel, hexahedron, wedge "
      "and pyramid");
}

std::string wrong_corner(Index cell, Index corner, Index points) {
  return message_of("cell ", cell, " has the corner ", corner, ", where there are ", points,
                    " points, numbered from 0");
}

std::string wrong_kinds(const HostKinds& kinds, const HostIndices& offsets, Index corners) {
  const auto cells = static_cast<Index>(kinds.extent(0));
  if (static_cast<Index>(offsets.extent(0)) != cells + 1) {
    return message_of("has ", offsets.extent(0), " offsets for ", cells,
                      " cells, where one more than cells is expected");
  }
  if (offsets(0) != 0) return message_of("the offset of cell 0 is ", offsets(0), ", where 0 is expected");
  for (Index cell = 0; cell < cells; ++cell) {
    const CellKind kind = kinds(cell);
    const int expected = corners_of(kind);
    if (expected == 0) return wrong_kind(cell, static_cast<int>(kind));
    const Index end = offsets(cell + 1);
    if (end < 0 || end > corners) {
      return message_of("the corners of cell ", cell, " end at ", end, ", where there are ", corners, " in all");
    }
    if (end - offsets(cell) != expected) {
      return message_of("cell ", cell, ", a ", to_string(kind), ", has ", end - offsets(cell), " corners, where ",
                        expected, " are expected");
    }
  }
  if (offsets(cells) != corners) {
    return message_of("the cells have ", offsets(cells), " corners, where there are ", corners, " in all");
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

HostMesh mesh_of(const HostKinds& kinds, const HostIndices& offsets) {
  HostMesh mesh;
  const CellKind* const first = kinds.data();
  const CellKind* const last = first + kinds.extent(0);
  if (first == last) return mesh;
  if (std::all_of(first, last, [=](CellKind kind) { return kind == *first; })) {
    mesh.kind = *first;
  } else {
    mesh.kinds = kinds;
    mesh.offsets = offsets;
  }
  return mesh;
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

VtkOutput::Array vtk_array(const MeshArray& array) {
  const void* const data =
      std::visit([](const auto& view) { return static_cast<const void*>(view.data()); }, array.values);
  return {array.name, static_cast<ElementType>(array.values.index()), array.size(), array.components(), data};
}

}  // namespace impl
}  // namespace heddle

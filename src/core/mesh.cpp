// Names of the kinds of cells.
#include <heddle/core/mesh.hpp>

namespace heddle {

std::string_view to_string(CellKind kind) {
  switch (kind) {
    case CellKind::vertex:
      return "vertex";
    case CellKind::line:
      return "line";
    case CellKind::triangle:
      return "triangle";
    case CellKind::polygon:
      return "polygon";
    case CellKind::quad:
      return "quad";
    case CellKind::tetrahedron:
      return "tetrahedron";
    case CellKind::voxel:
      return "voxel";
    case CellKind::hexahedron:
      return "hexahedron";
    case CellKind::wedge:
      return "wedge";
    case CellKind::pyramid:
      return "pyramid";
    case CellKind::polyhedron:
      return "polyhedron";
  }
  return "";
}

}  // namespace heddle

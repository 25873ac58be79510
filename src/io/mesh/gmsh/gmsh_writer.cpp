// Writer of surfaces as Gmsh files of version 2.2.
#include "io/mesh/mesh_output.hpp"
#include "io/mesh/surface.hpp"

#include <algorithm>

namespace heddle::impl {

namespace {

// Gmsh's number for a kind of faces, and how many nodes of them it takes: none has 7.
struct ElementForm {
  std::int32_t type = 0;
  Index nodes = 0;
};
ElementForm form_of(CellKind kind) {
  switch (static_cast<int>(kind)) {
    case 5:
      return {2, 3};
    case 9:
      return {3, 4};
    case 22:
    case 34:
      return {9, 6};
    case 23:
      return {16, 8};
    default:
      return {10, 9};
  }
}

// Polygons of more than four corners as triangles.
Surface without_polygons(const Surface& surface) {
  const CellKind* const kinds = surface.kinds.data();
  if (std::find(kinds, kinds + surface.size(), CellKind::polygon) == kinds + surface.size()) return surface;
  std::vector<CellKind> new_kinds;
  std::vector<Index> offsets = {0};
  std::vector<Index> corners;
  std::vector<Index> face_of;
  const auto end_face = [&](CellKind kind, Index face) {
    new_kinds.push_back(kind);
    offsets.push_back(static_cast<Index>(corners.size()));
    face_of.push_back(face);
  };
  for (Index face = 0; face < surface.size(); ++face) {
    const Index* const own = surface.corners.data() + surface.offsets(face);
    if (kinds[face] == CellKind::polygon) {
      each_triangle(surface, face, [&](Index a, Index b, Index c) {
        corners.insert(corners.end(), {own[a], own[b], own[c]});
        end_face(CellKind::triangle, face);
      });
    } else {
      corners.insert(corners.end(), own, surface.corners.data() + surface.offsets(face + 1));
      end_face(kinds[face], face);
    }
  }
  const auto listed = [](const auto& values) {
    using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
    auto list = host_list<Value>("heddle::io::faces", static_cast<Index>(values.size()));
    std::copy(values.begin(), values.end(), list.data());
    return list;
  };
  Surface result = {surface.points, listed(new_kinds), listed(offsets), listed(corners), surface.point_arrays, {}};
  const HostIndices which = listed(face_of);
  for (const MeshArray& array : surface.cell_arrays) result.cell_arrays.push_back(gathered(array, which));
  return result;
}

// The group of each face; null: none has one.
const ArrayValues<std::int32_t>* groups_of(const Surface& surface) {
  for (const MeshArray& array : surface.cell_arrays) {
    const auto* const values = std::get_if<ArrayValues<std::int32_t>>(&array.values);
    if (array.name == "PhysicalGroup" && values != nullptr && array.components() == 1) return values;
  }
  return nullptr;
}

void put_nodes(MeshOutput& out, const MeshPoints& points) {
  out.put(message_of("$Nodes\n", points.extent(0), "\n"));
  for (std::size_t point = 0; point < points.extent(0); ++point) {
    out.number(static_cast<std::int32_t>(point + 1));
    for (std::size_t axis = 0; axis < 3; ++axis) out.number(points(point, axis));
    out.end_record();
  }
  out.put(out.text() ? "$EndNodes\n" : "\n$EndNodes\n");
}

void put_elements(MeshOutput& out, const Surface& surface) {
  const auto* const groups = groups_of(surface);
  out.put(message_of("$Elements\n", surface.size(), "\n"));
  for (Index face = 0; face < surface.size(); ++face) {
    const ElementForm form = form_of(surface.kinds(face));
    const auto tag = static_cast<std::int32_t>(face + 1);
    // As text a line each; as bytes a block of one: type, elements in it and tags come first.
    if (out.text()) out.number(tag);
    out.number(form.type);
    out.number(std::int32_t{out.text() ? 2 : 1});
    if (!out.text()) {
      out.number(std::int32_t{2});
      out.number(tag);
    }
    const std::int32_t group = groups == nullptr ? 0 : (*groups)(face, 0);
    out.number(group);
    out.number(std::max(group, std::int32_t{1}));
    for (Index k = 0; k < form.nodes; ++k) {
      out.number(static_cast<std::int32_t>(surface.corners(surface.offsets(face) + k) + 1));
    }
    out.end_record();
  }
  out.put(out.text() ? "$EndElements\n" : "\n$EndElements\n");
}

// Fields have 1, 3 or 9 components: others are given one by one.
void put_field(MeshOutput& out, const std::string& section, const MeshArray& array, std::string name, Index component) {
  const Index all = array.components();
  const Index components = component < 0 ? all : 1;
  if (component >= 0) name += "_" + std::to_string(component);
  for (char& character : name) {
    if (character == '"' || static_cast<unsigned char>(character) < ' ') character = '\'';
  }
  out.put(message_of("$", section, "\n1\n\"", name, "\"\n1\n0\n3\n0\n", components, "\n", array.size(), "\n"));
  std::visit(
      [&](const auto& view) {
        for (Index i = 0; i < array.size(); ++i) {
          out.number(static_cast<std::int32_t>(i + 1));
          for (Index k = 0; k < components; ++k)
            out.number(static_cast<double>(view(i, std::max<Index>(component, 0) + k)));
          out.end_record();
        }
      },
      array.values);
  out.put(message_of(out.text() ? "$End" : "\n$End", section, "\n"));
}

void put_fields(MeshOutput& out, const std::string& section, const std::vector<MeshArray>& arrays) {
  for (const MeshArray& array : arrays) {
    if (array.name == "PhysicalGroup") continue;
    const Index components = array.components();
    if (components == 1 || components == 3 || components == 9) {
      put_field(out, section, array, array.name, -1);
    } else {
      for (Index k = 0; k < components; ++k) put_field(out, section, array, array.name, k);
    }
  }
}

}  // namespace

void write_gmsh(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding) {
  const bool text = encoding == MeshEncoding::ascii;
  const Surface cut = without_polygons(surface);
  MeshOutput out(path, text ? NumberForm::text : NumberForm::native);
  if (cut.size() > largest_int32 || static_cast<Index>(cut.points.extent(0)) > largest_int32) {
    out.refuse("there are more faces or points than the 32-bit numbers of .msh files count");
  }
  out.put(message_of("$MeshFormat\n2.2 ", text ? 0 : 1, " 8\n"));
  if (!text) {
    out.number(std::int32_t{1});
    out.put("\n");
  }
  out.put("$EndMeshFormat\n");
  put_nodes(out, cut.points);
  put_elements(out, cut);
  put_fields(out, "NodeData", cut.point_arrays);
  put_fields(out, "ElementData", cut.cell_arrays);
  out.close();
}

}  // namespace heddle::impl

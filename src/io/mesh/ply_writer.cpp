// Writer of polygon files (.ply).
#include "io/mesh/mesh_output.hpp"
#include "io/mesh/surface.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

namespace heddle::impl {

namespace {

constexpr std::array<const char*, 10> written_types = {"char", "uchar",  "short",  "ushort", "int",
                                                       "uint", "double", "double", "float",  "double"};

// One component of an array; whole numbers of 64 bits stand as 32 where all of them fit.
struct Column {
  std::string name;
  const MeshArray* array = nullptr;
  Index component = 0;
  bool narrow = false;

  [[nodiscard]] const char* type() const { return narrow ? "int" : written_types[array->values.index()]; }
};

bool fits_32_bits(const MeshArray& array) {
  return std::visit(
      [](const auto& view) {
        using Number = typename std::remove_cvref_t<decltype(view)>::non_const_value_type;
        if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
          return std::all_of(view.data(), view.data() + view.size(),
                             [](Number value) { return std::in_range<std::int32_t>(value); });
        } else {
          return false;
        }
      },
      array.values);
}

// Names of properties are words of which none is there twice.
std::vector<Column> columns_of(const std::vector<MeshArray>& arrays, std::vector<std::string> taken) {
  std::vector<Column> columns;
  for (const MeshArray& array : arrays) {
    const bool narrow = fits_32_bits(array);
    for (Index component = 0; component < array.components(); ++component) {
      std::string name = array.name;
      if (array.components() > 1) name += "_" + std::to_string(component);
      if (name.empty()) name = "_";
      std::replace_if(
          name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
      while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += "_";
      taken.push_back(name);
      columns.push_back({name, &array, component, narrow});
    }
  }
  return columns;
}

void put_value(MeshOutput& out, const Column& column, Index row) {
  std::visit(
      [&](const auto& view) {
        using Number = typename std::remove_cvref_t<decltype(view)>::non_const_value_type;
        const Number value = view(row, column.component);
        if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
          if (column.narrow) {
            out.number(static_cast<std::int32_t>(value));
          } else {
            out.number(static_cast<double>(value));
          }
        } else {
          out.number(value);
        }
      },
      column.array->values);
}

void put_properties(MeshOutput& out, const std::vector<Column>& columns) {
  for (const Column& column : columns) out.put(message_of("property ", column.type(), " ", column.name, "\n"));
}

}  // namespace

void write_ply(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding) {
  const bool text = encoding == MeshEncoding::ascii;
  MeshOutput out(path, text ? NumberForm::text : NumberForm::little_endian);
  const auto points = static_cast<Index>(surface.points.extent(0));
  if (points > largest_int32)
    out.refuse(message_of(points, " points are more than the 32-bit numbers of .ply files count"));
  Index most = 0;
  for (Index face = 0; face < surface.size(); ++face) {
    most = std::max(most, surface.offsets(face + 1) - surface.offsets(face));
  }
  const bool short_lists = most <= std::numeric_limits<std::uint8_t>::max();
  const auto of_points = columns_of(surface.point_arrays, {"x", "y", "z"});
  const auto of_faces = columns_of(surface.cell_arrays, {"vertex_indices", "vertex_index"});
  out.put(message_of("ply\nformat ", text ? "ascii" : "binary_little_endian", " 1.0\nelement vertex ", points,
                     "\nproperty double x\nproperty double y\nproperty double z\n"));
  put_properties(out, of_points);
  out.put(message_of("element face ", surface.size(), "\nproperty list ", short_lists ? "uchar" : "uint",
                     " int vertex_indices\n"));
  put_properties(out, of_faces);
  out.put("end_header\n");
  for (Index point = 0; point < points; ++point) {
    for (int axis = 0; axis < 3; ++axis) out.number(surface.points(point, axis));
    for (const Column& column : of_points) put_value(out, column, point);
    out.end_record();
  }
  for (Index face = 0; face < surface.size(); ++face) {
    const Index size = surface.offsets(face + 1) - surface.offsets(face);
    if (short_lists) {
      out.number(static_cast<std::uint8_t>(size));
    } else {
      out.number(static_cast<std::uint32_t>(size));
    }
    for (Index k = surface.offsets(face); k < surface.offsets(face + 1); ++k) {
      out.number(static_cast<std::int32_t>(surface.corners(k)));
    }
    for (const Column& column : of_faces) put_value(out, column, face);
    out.end_record();
  }
  out.close();
}

}  // namespace heddle::impl

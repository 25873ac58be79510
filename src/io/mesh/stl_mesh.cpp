// Reader and writer of stereolithography files (.stl), ASCII and binary.
#include "io/mesh/stl_mesh.hpp"

#include "io/matrix/chunks.hpp"
#include "io/matrix/text_reader.hpp"
#include "io/mesh/mesh_output.hpp"
#include "io/mesh/surface.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

namespace heddle::impl {

namespace {

constexpr std::size_t header_bytes = 80;
constexpr std::size_t triangle_bytes = 50;
using Corner = std::array<double, 3>;

template <class Number> Number from_little_endian(const unsigned char* bytes) {
  std::array<unsigned char, sizeof(Number)> own{};
  std::copy_n(bytes, sizeof(Number), own.begin());
  if constexpr (std::endian::native == std::endian::big) std::reverse(own.begin(), own.end());
  return std::bit_cast<Number>(own);
}

// The triangles that the head of a binary file announces.
std::uintmax_t triangles_in(const std::filesystem::path& path) {
  std::array<unsigned char, header_bytes + 4> head{};
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(head.data()), head.size());
  return static_cast<std::size_t>(stream.gcount()) < head.size()
             ? 0
             : from_little_endian<std::uint32_t>(&head[header_bytes]);
}

// Whether the first word, white space and a byte order mark aside, begins with solid.
bool begins_with_solid(const std::filesystem::path& path) {
  std::string head(4096, ' ');
  std::ifstream stream(path, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head.starts_with(byte_order_mark)) head.erase(0, byte_order_mark.size());
  head.erase(0, head.find_first_not_of(" \t\r\n"));
  return lower(std::string_view(head).substr(0, 5)) == "solid";
}

void read_binary(TextReader& reader, std::uintmax_t triangles, Chunks<double>& corners) {
  std::array<unsigned char, header_bytes + 4> head{};
  if (!reader.next_bytes(head.data(), head.size())) reader.refuse("the file ends within its header");
  for (std::uintmax_t triangle = 0; triangle < triangles; ++triangle) {
    std::array<unsigned char, triangle_bytes> bytes{};
    if (!reader.next_bytes(bytes.data(), bytes.size())) reader.refuse("the file ends within triangle ", triangle);
    // A normal comes first.
    for (std::size_t k = 3; k < 12; ++k) {
      const double value = from_little_endian<float>(&bytes[4 * k]);
      if (!std::isfinite(value)) reader.refuse("a coordinate of triangle ", triangle, " is not finite");
      corners.append(value);
    }
  }
}

// Solids of facets, a keyword at the beginning of each line.
class StlLines {
 public:
  explicit StlLines(TextReader& reader) : reader_(reader) {}

  void read(Chunks<double>& corners) {
    std::string_view line;
    bool in_solid = false;
    while (reader_.next_filled_line(line)) {
      const std::string word = lower(next_word(line));
      if (!in_solid) {
        if (word != "solid") reader_.refuse("expected solid, found ", impl::quoted(word));
        in_solid = true;
      } else if (word == "endsolid") {
        in_solid = false;
      } else if (word == "facet") {
        read_facet(corners);
      } else {
        reader_.refuse("expected facet or endsolid, found ", impl::quoted(word));
      }
    }
    if (in_solid) reader_.refuse("the file ends without endsolid");
  }

 private:
  void read_facet(Chunks<double>& corners) {
    std::string_view rest;
    begin("outer", rest);
    if (lower(next_word(rest)) != "loop") reader_.refuse("expected outer loop");
    for (int corner = 0; corner < 3; ++corner) {
      begin("vertex", rest);
      for (const char* const axis : {"x", "y", "z"}) corners.append(next_number<double>(reader_, rest, axis));
      require_end_of_line(reader_, rest);
    }
    begin("endloop", rest);
    begin("endfacet", rest);
  }
  void begin(const char* keyword, std::string_view& rest) {
    if (!reader_.next_filled_line(rest)) reader_.refuse("the file ends where ", keyword, " is expected");
    const std::string word = lower(next_word(rest));
    if (word != keyword) reader_.refuse("expected ", keyword, ", found ", impl::quoted(word));
  }

  TextReader& reader_;
};

// Points that are the same number for number become one, numbered by first occurrence.
MeshParts merged(Chunks<double>& coordinates) {
  const auto corners = static_cast<Index>(coordinates.size() / 3);
  const auto all = host_list<double>("heddle::io::corners", 3 * corners);
  coordinates.move_to(all.data());
  // -0 is 0.
  std::for_each(all.data(), all.data() + all.extent(0), [](double& value) { value += 0.0; });
  const auto compare = [&](Index one, Index other) {
    for (int axis = 0; axis < 3; ++axis) {
      const double a = all(3 * one + axis);
      const double b = all(3 * other + axis);
      if (a != b) return a < b ? -1 : 1;
    }
    return 0;
  };
  std::vector<Index> order(static_cast<std::size_t>(corners));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index one, Index other) {
    const int way = compare(one, other);
    return way != 0 ? way < 0 : one < other;
  });
  FileCells cells = {host_list<CellKind>("heddle::io::kinds", corners / 3),
                     host_list<Index>("heddle::io::offsets", corners / 3 + 1),
                     host_list<Index>("heddle::io::corners", corners)};
  // The first corner at the same place, then the number of its point.
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && compare(order[i - 1], order[i]) == 0;
    cells.points(order[i]) = same ? cells.points(order[i - 1]) : order[i];
  }
  Index points = 0;
  for (Index corner = 0; corner < corners; ++corner) {
    const Index first = cells.points(corner);
    // From here on, `order` holds numbers of points.
    order[static_cast<std::size_t>(corner)] = first == corner ? points++ : order[static_cast<std::size_t>(first)];
  }
  const NewPoints places = host_points(points);
  for (Index corner = 0; corner < corners; ++corner) {
    const Index point = order[static_cast<std::size_t>(corner)];
    cells.points(corner) = point;
    for (int axis = 0; axis < 3; ++axis) places(point, axis) = all(3 * corner + axis);
  }
  std::fill_n(cells.kinds.data(), corners / 3, CellKind::triangle);
  for (Index cell = 0; cell <= corners / 3; ++cell) cells.offsets(cell) = 3 * cell;
  MeshParts parts;
  parts.points = places;
  static_cast<void>(set_cells(parts, cells));
  return parts;
}

// Unit normal by the right-hand rule; 0 if the area is 0.
std::array<float, 3> normal_of(const std::array<Corner, 3>& corners) {
  Corner u{};
  Corner v{};
  // Scaled, so that no product of lengths overflows or vanishes.
  double scale = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    u[axis] = corners[1][axis] - corners[0][axis];
    v[axis] = corners[2][axis] - corners[0][axis];
    scale = std::max({scale, std::abs(u[axis]), std::abs(v[axis])});
  }
  if (scale == 0) return {};
  Corner normal{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t next = (axis + 1) % 3;
    const std::size_t last = (axis + 2) % 3;
    normal[axis] = u[next] / scale * (v[last] / scale) - u[last] / scale * (v[next] / scale);
  }
  const double length = std::hypot(normal[0], normal[1], normal[2]);
  if (length == 0) return {};
  return {static_cast<float>(normal[0] / length), static_cast<float>(normal[1] / length),
          static_cast<float>(normal[2] / length)};
}

float narrow(const Surface& surface, const MeshOutput& out, Index point, int axis) {
  const double value = surface.points(point, axis);
  // As far as rounding goes to a finite float.
  const auto narrowed = std::abs(value) < 0x1.ffffffp127 ? static_cast<float>(value) : INFINITY;
  if (!std::isfinite(narrowed)) {
    out.refuse(message_of("the coordinate ", value, " is beyond the 32-bit numbers of .stl files"));
  }
  return narrowed;
}

}  // namespace

MeshParts read_stl(const std::filesystem::path& path) {
  TextReader reader(path);
  const std::uintmax_t triangles = triangles_in(path);
  const std::uintmax_t expected = header_bytes + 4 + triangle_bytes * triangles;
  Chunks<double> corners;
  // Some binary files begin with "solid", too.
  if (reader.size() == expected && reader.size() >= header_bytes + 4) {
    read_binary(reader, triangles, corners);
    return merged(corners);
  }
  if (!begins_with_solid(path)) {
    throw Error(ErrorKind::input,
                message_of(path.string(), ": is no .stl file: it does not begin with solid, and has ", reader.size(),
                           " bytes, where ", expected, " are expected of a binary file of ", triangles, " triangles"));
  }
  StlLines(reader).read(corners);
  return merged(corners);
}

void write_stl(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding) {
  const bool text = encoding == MeshEncoding::ascii;
  MeshOutput out(path, text ? NumberForm::text : NumberForm::little_endian);
  Index triangles = 0;
  for (Index face = 0; face < surface.size(); ++face)
    triangles += surface.offsets(face + 1) - surface.offsets(face) - 2;
  if (triangles > std::numeric_limits<std::uint32_t>::max()) {
    out.refuse(message_of(triangles, " triangles are more than the count of a .stl file holds"));
  }
  std::string head = "heddle";
  head.resize(header_bytes, ' ');
  out.put(text ? "solid heddle\n" : head);
  if (!text) out.number(static_cast<std::uint32_t>(triangles));
  const auto vector = [&](const char* words, const std::array<float, 3>& values) {
    if (text) out.put(words);
    for (const float value : values) out.number(value);
    out.end_record();
  };
  for (Index face = 0; face < surface.size(); ++face) {
    each_triangle(surface, face, [&](Index a, Index b, Index c) {
      std::array<std::array<float, 3>, 3> corners{};
      std::array<Corner, 3> exact{};
      const std::array<Index, 3> places = {a, b, c};
      for (std::size_t k = 0; k < 3; ++k) {
        const Index point = surface.corners(surface.offsets(face) + places[k]);
        for (int axis = 0; axis < 3; ++axis) {
          exact[k][static_cast<std::size_t>(axis)] = surface.points(point, axis);
          corners[k][static_cast<std::size_t>(axis)] = narrow(surface, out, point, axis);
        }
      }
      vector("facet normal ", normal_of(exact));
      if (text) out.put("outer loop\n");
      for (const auto& corner : corners) vector("vertex ", corner);
      if (text) out.put("endloop\nendfacet\n");
      if (!text) out.number(std::uint16_t{0});
    });
  }
  if (text) out.put("endsolid heddle\n");
  out.close();
}

}  // namespace heddle::impl

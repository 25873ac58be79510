// Reader of polygon files (.ply).
#include "io/mesh/ply_mesh.hpp"

#include "io/matrix/chunks.hpp"
#include "io/matrix/text_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace heddle::impl {

namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 16> ply_types = {{{"char", ElementType::int8},
                                                                                 {"uchar", ElementType::uint8},
                                                                                 {"short", ElementType::int16},
                                                                                 {"ushort", ElementType::uint16},
                                                                                 {"int", ElementType::int32},
                                                                                 {"uint", ElementType::uint32},
                                                                                 {"float", ElementType::float32},
                                                                                 {"double", ElementType::float64},
                                                                                 {"int8", ElementType::int8},
                                                                                 {"uint8", ElementType::uint8},
                                                                                 {"int16", ElementType::int16},
                                                                                 {"uint16", ElementType::uint16},
                                                                                 {"int32", ElementType::int32},
                                                                                 {"uint32", ElementType::uint32},
                                                                                 {"float32", ElementType::float32},
                                                                                 {"float64", ElementType::float64}}};

struct Property {
  std::string name;
  ElementType type = ElementType::int8;
  std::optional<ElementType> count = {};  // Of a list: the type of its length.
  int axis = -1;                          // Of a vertex: 0 to 2 for x, y and z.
  void* values = nullptr;                 // Where an array's values go; null: nowhere.
};

struct Element {
  std::string name;
  Index count = 0;
  std::vector<Property> properties;
};

class PlyReader {
 public:
  explicit PlyReader(const std::filesystem::path& path) : reader_(path) {}

  MeshParts read() {
    read_header();
    for (Element& element : elements_) {
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_faces(element);
      } else {
        for (Index i = 0; i < element.count; ++i) read_scalars(element, i, [](const Property&, double) {});
      }
    }
    if (!has_vertices_) refuse_file("has no element vertex");
    if (!has_faces_) refuse_file("has no element face, where a surface is expected");
    return finish();
  }

 private:
  template <class... Parts> [[noreturn]] void refuse_file(const Parts&... parts) const {
    throw Error(ErrorKind::input, message_of(reader_.name(), ": ", parts...));
  }

  // Lines up to end_header.
  void read_header() {
    std::string_view line;
    if (!reader_.next_line(line) || next_word(line) != "ply")
      reader_.refuse("expected ply, with which .ply files begin");
    bool has_format = false;
    while (true) {
      if (!reader_.next_line(line)) reader_.refuse("the file ends where end_header is expected");
      const std::string word(next_word(line));
      if (word.empty() || word == "comment" || word == "obj_info") continue;
      if (word == "end_header") break;
      if (word == "format") {
        read_format(line);
        has_format = true;
      } else if (word == "element") {
        read_element(line);
      } else if (word == "property") {
        read_property(line);
      } else {
        reader_.refuse("expected format, element, property or end_header, found ", impl::quoted(word));
      }
    }
    if (!has_format) reader_.refuse("expected format before end_header");
    for (const Element& element : elements_) require_room(element);
  }

  void read_format(std::string_view& line) {
    const std::string_view form = next_word(line);
    const bool big = form == "binary_big_endian";
    binary_ = big || form == "binary_little_endian";
    if (!binary_ && form != "ascii") {
      reader_.refuse("expected ascii, binary_little_endian or binary_big_endian, found ", impl::quoted(form));
    }
    swapped_ = binary_ && big != (std::endian::native == std::endian::big);
    if (const std::string_view version = next_word(line); version != "1.0") {
      reader_.refuse("expected version 1.0, found ", impl::quoted(version));
    }
  }

  void read_element(std::string_view& line) {
    Element element;
    element.name = next_word(line);
    element.count = next_number<Index>(reader_, line, "the number of elements");
    if (element.count < 0) reader_.refuse("the number of elements is ", element.count, ", where 0 or more is expected");
    const bool twice =
        std::any_of(elements_.begin(), elements_.end(), [&](const Element& one) { return one.name == element.name; });
    if (twice) reader_.refuse("a second element ", impl::quoted(element.name));
    elements_.push_back(std::move(element));
  }

  ElementType next_type(std::string_view& line) {
    const std::string_view name = next_word(line);
    for (const auto& [known, type] : ply_types) {
      if (name == known) return type;
    }
    reader_.refuse("expected a type, as float, found ", impl::quoted(name));
  }

  void read_property(std::string_view& line) {
    if (elements_.empty()) reader_.refuse("a property comes before the first element");
    Property property;
    std::string_view rest = line;
    if (next_word(rest) == "list") {
      line = rest;
      property.count = next_type(line);
      if (*property.count >= ElementType::float32) reader_.refuse("the length of a list is no whole number");
    }
    property.type = next_type(line);
    property.name = next_word(line);
    if (property.name.empty()) reader_.refuse("expected the name of a property, found the end of the line");
    elements_.back().properties.push_back(std::move(property));
  }

  // A number is at least a digit and what parts it from the next.
  void require_room(const Element& element) const {
    std::uintmax_t bytes = 0;
    for (const Property& property : element.properties) {
      bytes += binary_ ? bytes_of(property.count.value_or(property.type)) : 2;
    }
    const std::uintmax_t most = bytes == 0 ? 0 : (reader_.size() + 1) / bytes;
    if (static_cast<std::uintmax_t>(element.count) > most) {
      refuse_file(element.count, " elements ", impl::quoted(element.name), " are announced, more than the file's ",
                  reader_.size(), " bytes can hold");
    }
  }

  template <class Number> Number next(const char* what) {
    Number value{};
    if (binary_) {
      if (!reader_.next_bytes(&value, sizeof(value))) reader_.refuse("the file ends where ", what, " is expected");
      auto* const bytes = reinterpret_cast<unsigned char*>(&value);
      if (swapped_) std::reverse(bytes, bytes + sizeof(value));
      return value;
    }
    std::string_view word = next_word(rest_);
    while (word.empty()) {
      if (!reader_.next_line(rest_)) reader_.refuse("the file ends where ", what, " is expected");
      word = next_word(rest_);
    }
    const NumberFault fault = number_from(word, value);
    if (fault == NumberFault::out_of_range) reader_.refuse(what, " ", impl::quoted(word), " is out of range");
    if (fault == NumberFault::malformed) reader_.refuse("expected ", what, ", found ", impl::quoted(word));
    return value;
  }
  template <class Take> void next_of(ElementType type, const char* what, const Take& take) {
    with_type(type, [&](auto number) { take(next<decltype(number)>(what)); });
  }

  Index next_length(const Property& list) {
    Index length = 0;
    next_of(*list.count, "the length of a list", [&](auto value) { length = static_cast<Index>(value); });
    if (length < 0 || static_cast<std::uintmax_t>(length) > reader_.size()) {
      reader_.refuse("a list of ", length, " numbers, where the file has ", reader_.size(), " bytes");
    }
    return length;
  }

  // Properties of one element; numbers that are part of no array are handed to `take`, lists' numbers each.
  template <class Take> void read_scalars(const Element& element, Index i, const Take& take) {
    for (const Property& property : element.properties) {
      const Index length = property.count ? next_length(property) : 1;
      for (Index k = 0; k < length; ++k) {
        next_of(property.type, property.name.c_str(), [&](auto value) {
          if (property.values != nullptr)
            static_cast<decltype(value)*>(property.values)[i] = value;
          else
            take(property, static_cast<double>(value));
        });
      }
    }
  }

  // Room for the scalar properties that are neither coordinates nor given before.
  static void make_arrays(Element& element, std::vector<MeshArray>& arrays) {
    for (Property& property : element.properties) {
      const bool taken = std::any_of(arrays.begin(), arrays.end(),
                                     [&](const MeshArray& array) { return array.name == property.name; });
      if (property.count || property.axis >= 0 || taken) continue;
      arrays.push_back(new_array(property.name, property.type, element.count, 1, property.values));
    }
  }

  void read_vertices(Element& vertices) {
    has_vertices_ = true;
    constexpr std::array<std::string_view, 3> axes = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis) {
      const auto found =
          std::find_if(vertices.properties.begin(), vertices.properties.end(), [&](const Property& property) {
            return property.name == axes[static_cast<std::size_t>(axis)] && !property.count;
          });
      if (found == vertices.properties.end())
        refuse_file("the element vertex has no ", axes[static_cast<std::size_t>(axis)]);
      found->axis = axis;
    }
    make_arrays(vertices, parts_.point_arrays);
    const NewPoints points = host_points(vertices.count);
    for (Index i = 0; i < vertices.count; ++i) {
      read_scalars(vertices, i, [&](const Property& property, double value) {
        if (property.axis < 0) return;
        if (!std::isfinite(value)) reader_.refuse(property.name, " of vertex ", i, " is not finite");
        points(i, property.axis) = value;
      });
    }
    parts_.points = points;
  }

  void read_faces(Element& faces) {
    has_faces_ = true;
    const auto indices = std::find_if(faces.properties.begin(), faces.properties.end(), [](const Property& property) {
      return property.count && (property.name == "vertex_indices" || property.name == "vertex_index");
    });
    if (indices == faces.properties.end()) refuse_file("the element face has no list vertex_indices");
    indices->axis = 0;
    make_arrays(faces, parts_.cell_arrays);
    offsets_.append(0);
    for (Index face = 0; face < faces.count; ++face) {
      const std::size_t before = corners_.size();
      read_scalars(faces, face, [&](const Property& property, double value) {
        if (property.axis != 0) return;
        if (!(value >= 0 && value < 0x1p62) || value != std::floor(value)) {
          reader_.refuse("face ", face, " has the vertex ", value, ", where a number from 0 on is expected");
        }
        corners_.append(static_cast<Index>(value));
      });
      const std::size_t corners = corners_.size() - before;
      if (corners < 3) {
        reader_.refuse("face ", face, " has ", corners, corners == 1 ? " vertex" : " vertices",
                       ", where 3 or more are expected");
      }
      kinds_.append(corners == 3 ? CellKind::triangle : corners == 4 ? CellKind::quad : CellKind::polygon);
      offsets_.append(static_cast<Index>(corners_.size()));
    }
  }

  MeshParts finish() {
    const FileCells cells = {host_list<CellKind>("heddle::io::kinds", static_cast<Index>(kinds_.size())),
                             host_list<Index>("heddle::io::offsets", static_cast<Index>(offsets_.size())),
                             host_list<Index>("heddle::io::corners", static_cast<Index>(corners_.size()))};
    kinds_.move_to(cells.kinds.data());
    offsets_.move_to(cells.offsets.data());
    corners_.move_to(cells.points.data());
    std::string wrong = set_cells(parts_, cells);
    if (wrong.empty()) wrong = wrong_corners(parts_.mesh, static_cast<Index>(parts_.points.extent(0)));
    if (!wrong.empty()) refuse_file(wrong);
    return std::move(parts_);
  }

  TextReader reader_;
  std::string_view rest_;
  bool binary_ = false;
  bool swapped_ = false;
  std::vector<Element> elements_;
  bool has_vertices_ = false;
  bool has_faces_ = false;
  MeshParts parts_;
  Chunks<CellKind> kinds_;
  Chunks<Index> offsets_, corners_;
};

}  // namespace

MeshParts read_ply(const std::filesystem::path& path) {
  return PlyReader(path).read();
}

}  // namespace heddle::impl

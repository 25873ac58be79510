// Pieces, arrays and points that readers of VTK's XML files share.
#include "io/mesh/vtk/xml_reader.hpp"

#include <algorithm>
#include <limits>

namespace heddle::impl {

namespace {

constexpr Index most_components = std::numeric_limits<int>::max();

const XmlElement* named(const std::vector<XmlElement>& arrays, const std::string& name) {
  for (const XmlElement& array : arrays) {
    if (const std::string* const found = array.find("Name"); found != nullptr && *found == name) return &array;
  }
  return nullptr;
}

}  // namespace

Index sum_of(const std::vector<Index>& counts, std::size_t end) {
  Index total = 0;
  for (std::size_t i = 0; i < end; ++i) total += counts[i];
  return total;
}

Index XmlReader::count_of(const XmlPiece& piece, const char* name) const {
  const std::string* const text = piece.element.find(name);
  if (text == nullptr) refuse("Piece ", &piece - pieces().data(), " is missing its ", name, " attribute");
  std::string_view rest = *text;
  Index count = 0;
  const bool right = number_from(next_word(rest), count) == NumberFault::none && next_word(rest).empty();
  if (!right || count < 0) refuse(name, " is ", impl::quoted(*text), ", where a number is expected, 0 or more");
  return count;
}

Index XmlReader::components_of(const XmlElement& array, const std::string& what) const {
  const std::string* const text = array.find("NumberOfComponents");
  if (text == nullptr) return 1;
  std::string_view rest = *text;
  Index components = 0;
  const bool right = number_from(next_word(rest), components) == NumberFault::none;
  if (!right || components < 1 || components > most_components) {
    refuse("it announces what there is no room for (", what, " has ", impl::quoted(*text), " components)");
  }
  return components;
}

ElementType XmlReader::type_of(const XmlElement& array, const std::string& what) const {
  const std::string* const text = array.find("type");
  const auto type = text == nullptr ? std::nullopt : element_type_from(*text);
  if (!type) {
    refuse(what, " has the type ", impl::quoted(text == nullptr ? "" : *text),
           ", which is none of numbers, as Float64");
  }
  return *type;
}

bool XmlReader::may_hold(const Found& found, Index tuples, Index components) {
  return tuples <= std::numeric_limits<Index>::max() / components &&
         VtuData::may_hold(found.place, found.type, static_cast<std::uint64_t>(tuples * components));
}

bool XmlReader::before_version_2() const {
  const std::string* const version = grid_.file.find("version");
  double number = 0;
  return version == nullptr || number_from(*version, number) != NumberFault::none || number < 2;
}

std::vector<MeshArray> XmlReader::read_arrays(const char* of, const char* list, const std::vector<Index>& tuples) {
  std::vector<MeshArray> arrays;
  // Pieces that have nothing may say nothing of arrays.
  const auto any = std::find_if(tuples.begin(), tuples.end(), [](Index count) { return count > 0; });
  const std::size_t first = any == tuples.end() ? 0 : static_cast<std::size_t>(any - tuples.begin());
  if (first >= pieces().size()) return arrays;
  for (const XmlElement& array : pieces()[first].list(list)) {
    const std::string* const name = array.find("Name");
    const std::string* const type = array.find("type");
    if (name == nullptr) continue;
    const bool taken =
        std::any_of(arrays.begin(), arrays.end(), [&](const MeshArray& one) { return one.name == *name; });
    // Later time steps have the name of the first, and are skipped.
    if (taken || (type != nullptr && (*type == "String" || *type == "Bit"))) continue;
    arrays.push_back(read_array(array, of, list, tuples));
  }
  return arrays;
}

MeshArray XmlReader::read_array(const XmlElement& first, const char* of, const char* list,
                                const std::vector<Index>& tuples) {
  const std::string& name = *first.find("Name");
  const std::string what = message_of("the ", of, " array ", impl::quoted(name));
  const Index components = components_of(first, what);
  std::vector<Found> found(tuples.size());
  const auto too_short = [&](std::size_t piece) {
    refuse("Cannot read ", of, " data array \"", printable(name), "\" from ", list, " in piece ", piece,
           ". The data array in the element may be too short");
  };
  const ElementType type = type_of(first, what);
  for (std::size_t piece = 0; piece < tuples.size(); ++piece) {
    if (tuples[piece] == 0) continue;
    const XmlElement* const array = named(pieces()[piece].list(list), name);
    if (array == nullptr) refuse("piece ", piece, " has no array of the name of ", what);
    if (type_of(*array, what) != type || components_of(*array, what) != components) {
      refuse(what, " has another type or other components in piece ", piece);
    }
    found[piece] = {type, data_.find(*array)};
    if (!may_hold(found[piece], tuples[piece], components)) too_short(piece);
  }
  void* data = nullptr;
  MeshArray result = new_array(name, type, sum_of(tuples), components, data);
  auto* to = static_cast<unsigned char*>(data);
  for (std::size_t piece = 0; piece < tuples.size(); ++piece) {
    const Index numbers = tuples[piece] * components;
    if (numbers == 0) continue;
    if (!data_.read(found[piece].place, type, static_cast<std::uint64_t>(numbers), to)) too_short(piece);
    to += static_cast<std::size_t>(numbers) * bytes_of(type);
  }
  if (before_version_2()) mark_ghosts(result, data);
  return result;
}

NewPoints XmlReader::read_points(const std::vector<Index>& counts) {
  std::vector<Found> found(counts.size());
  const auto too_short = [&](std::size_t piece) {
    refuse("Cannot read points array from Points in piece ", piece, ". The data array in the element may be too short");
  };
  for (std::size_t piece = 0; piece < counts.size(); ++piece) {
    const auto& arrays = pieces()[piece].list("Points");
    if (counts[piece] == 0) continue;
    if (arrays.empty()) refuse("A piece is missing its Points element or element does not have exactly 1 array");
    const XmlElement& array = arrays.front();
    if (const Index components = components_of(array, "the array of points"); components != 3) {
      refuse("the points of piece ", piece, " have ", components, " coordinates, where 3 are expected");
    }
    found[piece] = {type_of(array, "the array of points"), data_.find(array)};
    if (!may_hold(found[piece], counts[piece], 3)) too_short(piece);
  }
  const NewPoints points = host_points(sum_of(counts));
  double* to = points.data();
  for (std::size_t piece = 0; piece < counts.size(); ++piece) {
    const Index numbers = 3 * counts[piece];
    if (numbers == 0) continue;
    const bool whole =
        found[piece].type == ElementType::float64
            ? data_.read(found[piece].place, ElementType::float64, static_cast<std::uint64_t>(numbers), to)
            : read_as(found[piece], numbers, [&](std::size_t i, auto value) { to[i] = static_cast<double>(value); });
    if (!whole) too_short(piece);
    to += numbers;
  }
  return points;
}

bool XmlReader::has(std::size_t piece, const char* list, const char* name) const {
  return named(pieces()[piece].list(list), name) != nullptr;
}

XmlReader::Found XmlReader::find_numbers(std::size_t piece, const char* list, const char* name) {
  const XmlElement* const array = named(pieces()[piece].list(list), name);
  if (array == nullptr) {
    refuse("Cannot read cell ", name, " from ", list, " in piece ", piece, " because the \"", name,
           "\" array could not be found");
  }
  const std::string called = message_of("the array ", name);
  if (components_of(*array, called) != 1) {
    refuse("Cannot read cell ", name, " from ", list, " in piece ", piece, " because the \"", name,
           "\" array could not be created with one component");
  }
  return {type_of(*array, called), data_.find(*array)};
}

Kokkos::View<Index*, Kokkos::HostSpace> XmlReader::read_list(std::size_t piece, const char* list, const char* name,
                                                             Index count, Index room_before) {
  const Found found = find_numbers(piece, list, name);
  const auto too_short = [&] {
    refuse("Cannot read cell ", name, " from ", list, " in piece ", piece, " because the \"", name,
           "\" array is not long enough");
  };
  // All that has room made for it is in the file.
  if (!may_hold(found, count, 1)) too_short();
  const auto values = host_list<Index>("heddle::io::cells", room_before + count);
  Index* const to = values.data() + room_before;
  if (!read_as(found, count, [&](std::size_t i, auto value) { to[i] = index_from(value); })) too_short();
  return values;
}

Kokkos::View<Index*, Kokkos::HostSpace> XmlReader::read_ends(std::size_t piece, const char* list, const char* name,
                                                             Index count) {
  const auto ends = read_list(piece, list, name, count, 1);
  ends(0) = 0;
  for (Index i = 0; i < count; ++i) {
    if (ends(i + 1) < ends(i)) {
      refuse("Cannot read cell connectivity from ", list, " in piece ", piece, " because the \"", name,
             "\" array is not monotonically increasing or starts with a value other than 0");
    }
  }
  return ends;
}

}  // namespace heddle::impl

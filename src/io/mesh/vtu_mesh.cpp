#include "io/mesh/vtu_mesh.hpp"

#include "io/matrix/text_reader.hpp"
#include "io/mesh/vtu_data.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <new>
#include <utility>

namespace heddle::impl {

namespace {

constexpr Index largest = std::numeric_limits<int>::max();

// As another type; what that can't hold becomes -1, which is no point, offset or kind.
template <class Number> Index index_from(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return value >= 0 && value < Number(0x1p62) && value == std::floor(value) ? static_cast<Index>(value) : -1;
  } else {
    return std::in_range<Index>(value) ? static_cast<Index>(value) : -1;
  }
}

class VtuReader {
 public:
  explicit VtuReader(const std::filesystem::path& path) : path_(path), grid_(read_xml_grid(path)), data_(path, grid_) {}

  MeshParts read() {
    for (const XmlPiece& piece : grid_.pieces) {
      points_.push_back(count_of(piece, "NumberOfPoints"));
      cells_.push_back(count_of(piece, "NumberOfCells"));
    }
    MeshParts parts;
    parts.point_arrays = read_arrays("point", "PointData", points_, &XmlPiece::point_data);
    parts.cell_arrays = read_arrays("cell", "CellData", cells_, &XmlPiece::cell_data);
    parts.points = read_points();
    read_all_cells(parts);
    return parts;
  }

 private:
  using Lists = std::vector<XmlElement> XmlPiece::*;

  // One array of one piece.
  struct Found {
    ElementType type = ElementType::int8;
    VtuData::Place place;
  };

  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    throw Error(ErrorKind::input, message_of(path_.string(), ": can't be read: ", parts...));
  }

  Index count_of(const XmlPiece& piece, const char* name) const {
    const std::string* const text = piece.element.find(name);
    if (text == nullptr) refuse("Piece ", &piece - grid_.pieces.data(), " is missing its ", name, " attribute");
    std::string_view rest = *text;
    Index count = 0;
    const bool right = number_from(next_word(rest), count) == NumberFault::none && next_word(rest).empty();
    if (!right || count < 0) refuse(name, " is ", impl::quoted(*text), ", where a number is expected, 0 or more");
    return count;
  }
  static Index sum(const std::vector<Index>& counts, std::size_t end) {
    Index total = 0;
    for (std::size_t i = 0; i < end; ++i) total += counts[i];
    return total;
  }
  // Of sizes that the file can hold, none overflows.
  Index sum(const std::vector<Index>& counts) const { return sum(counts, counts.size()); }

  // Numbers in a tuple.
  Index components_of(const XmlElement& array, const std::string& what) const {
    const std::string* const text = array.find("NumberOfComponents");
    if (text == nullptr) return 1;
    std::string_view rest = *text;
    Index components = 0;
    const bool right = number_from(next_word(rest), components) == NumberFault::none;
    if (!right || components < 1 || components > largest) {
      refuse("it announces what there is no room for (", what, " has ", impl::quoted(*text), " components)");
    }
    return components;
  }

  static const XmlElement* named(const std::vector<XmlElement>& arrays, const std::string& name) {
    for (const XmlElement& array : arrays) {
      if (const std::string* const found = array.find("Name"); found != nullptr && *found == name) return &array;
    }
    return nullptr;
  }

  // The arrays that all pieces have, each read piece after piece.
  std::vector<MeshArray> read_arrays(const char* of, const char* element, const std::vector<Index>& tuples,
                                     Lists lists) {
    std::vector<MeshArray> arrays;
    // Pieces that have nothing may say nothing of arrays.
    const auto any = std::find_if(tuples.begin(), tuples.end(), [](Index count) { return count > 0; });
    const std::size_t first = any == tuples.end() ? 0 : static_cast<std::size_t>(any - tuples.begin());
    if (first >= grid_.pieces.size()) return arrays;
    for (const XmlElement& array : grid_.pieces[first].*lists) {
      const std::string* const name = array.find("Name");
      const std::string* const type = array.find("type");
      if (name == nullptr) continue;
      const bool taken =
          std::any_of(arrays.begin(), arrays.end(), [&](const MeshArray& one) { return one.name == *name; });
      // Of several time steps, the first.
      if (taken || (type != nullptr && (*type == "String" || *type == "Bit"))) continue;
      arrays.push_back(read_array(array, *name, of, element, tuples, lists));
    }
    return arrays;
  }

  MeshArray read_array(const XmlElement& first, const std::string& name, const char* of, const char* element,
                       const std::vector<Index>& tuples, Lists lists) {
    const std::string what = message_of("the ", of, " array ", impl::quoted(name));
    const Index components = components_of(first, what);
    std::vector<Found> found(tuples.size());
    const auto too_short = [&](std::size_t piece) {
      refuse("Cannot read ", of, " data array \"", printable(name), "\" from ", element, " in piece ", piece,
             ". The data array in the element may be too short");
    };
    const ElementType type = type_of(first, what);
    for (std::size_t piece = 0; piece < tuples.size(); ++piece) {
      if (tuples[piece] == 0) continue;
      const XmlElement* const array = named(grid_.pieces[piece].*lists, name);
      if (array == nullptr) refuse("piece ", piece, " has no array of the name of ", what);
      if (type_of(*array, what) != type || components_of(*array, what) != components) {
        refuse(what, " has another type or other components in piece ", piece);
      }
      found[piece] = {type, data_.find(*array)};
      if (!may_hold(found[piece], tuples[piece], components)) too_short(piece);
    }
    void* data = nullptr;
    MeshArray result = new_array(name, type, sum(tuples), components, data);
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
  [[nodiscard]] bool before_version_2() const {
    const std::string* const version = grid_.file.find("version");
    double number = 0;
    return version == nullptr || number_from(*version, number) != NumberFault::none || number < 2;
  }

  ElementType type_of(const XmlElement& array, const std::string& what) const {
    const std::string* const text = array.find("type");
    const auto type = text == nullptr ? std::nullopt : element_type_from(*text);
    if (!type) {
      refuse(what, " has the type ", impl::quoted(text == nullptr ? "" : *text),
             ", which is none of numbers, as Float64");
    }
    return *type;
  }

  static bool may_hold(const Found& found, Index tuples, Index components) {
    return tuples <= std::numeric_limits<Index>::max() / components &&
           VtuData::may_hold(found.place, found.type, static_cast<std::uint64_t>(tuples * components));
  }

  // Numbers of any type, each handed to `take` with its place.
  template <class Take> bool read_as(const Found& found, Index count, const Take& take) {
    return with_type(found.type, [&](auto number) {
      std::vector<decltype(number)> values(static_cast<std::size_t>(count));
      if (!data_.read(found.place, found.type, static_cast<std::uint64_t>(count), values.data())) return false;
      for (std::size_t i = 0; i < values.size(); ++i) take(i, values[i]);
      return true;
    });
  }

  NewPoints read_points() {
    std::vector<Found> found(points_.size());
    const auto too_short = [&](std::size_t piece) {
      refuse("Cannot read points array from Points in piece ", piece,
             ". The data array in the element may be too short");
    };
    for (std::size_t piece = 0; piece < points_.size(); ++piece) {
      const auto& arrays = grid_.pieces[piece].points;
      if (points_[piece] == 0) continue;
      if (arrays.empty()) refuse("A piece is missing its Points element or element does not have exactly 1 array");
      const XmlElement& array = arrays.front();
      if (const Index components = components_of(array, "the array of points"); components != 3) {
        refuse("the points of piece ", piece, " have ", components, " coordinates, where 3 are expected");
      }
      found[piece] = {type_of(array, "the array of points"), data_.find(array)};
      if (!may_hold(found[piece], points_[piece], 3)) too_short(piece);
    }
    const NewPoints points = host_points(sum(points_));
    double* to = points.data();
    for (std::size_t piece = 0; piece < points_.size(); ++piece) {
      const Index numbers = 3 * points_[piece];
      if (numbers == 0) continue;
      const bool whole =
          found[piece].type == ElementType::float64
              ? data_.read(found[piece].place, ElementType::float64, numbers, to)
              : read_as(found[piece], numbers, [&](std::size_t i, auto value) { to[i] = static_cast<double>(value); });
      if (!whole) too_short(piece);
      to += numbers;
    }
    return points;
  }

  // An array of the element Cells: its place, and that it has one number a tuple.
  Found cells_array(std::size_t piece, const char* name) {
    const XmlElement* const array = named(grid_.pieces[piece].cells, name);
    if (array == nullptr) {
      refuse("Cannot read cell ", name, " from Cells in piece ", piece, " because the \"", name,
             "\" array could not be found");
    }
    const std::string called = message_of("the array ", name);
    if (components_of(*array, called) != 1) {
      refuse("Cannot read cell ", name, " from Cells in piece ", piece, " because the \"", name,
             "\" array could not be created with one component");
    }
    return {type_of(*array, called), data_.find(*array)};
  }
  [[noreturn]] void refuse_short(std::size_t piece, const char* name) const {
    refuse("Cannot read cell ", name, " from Cells in piece ", piece, " because the \"", name,
           "\" array is not long enough");
  }
  // All that has room made for it is in the file.
  template <class T>
  Kokkos::View<T*, Kokkos::HostSpace> room_for(std::size_t piece, const char* name, const Found& found, Index count,
                                               Index more) {
    if (!may_hold(found, count, 1)) refuse_short(piece, name);
    return host_list<T>("heddle::io::cells", count + more);
  }
  template <class Take>
  void read_cells_array(std::size_t piece, const char* name, Index count, const Found& found, const Take& take) {
    if (!read_as(found, count, take)) refuse_short(piece, name);
  }

  struct Cells {
    Kokkos::View<CellKind*, Kokkos::HostSpace> kinds;
    Kokkos::View<Index*, Kokkos::HostSpace> offsets, corners;
  };

  Cells read_cells(std::size_t piece) {
    Cells cells;
    const Index count = cells_[piece];
    const Found offsets = cells_array(piece, "offsets");
    const Found kinds = cells_array(piece, "types");
    const Found corners = cells_array(piece, "connectivity");
    cells.offsets = room_for<Index>(piece, "offsets", offsets, count, 1);
    cells.offsets(0) = 0;
    read_cells_array(piece, "offsets", count, offsets,
                     [&](std::size_t i, auto value) { cells.offsets(i + 1) = index_from(value); });
    for (Index cell = 0; cell < count; ++cell) {
      if (cells.offsets(cell + 1) < cells.offsets(cell)) {
        refuse("Cannot read cell connectivity from Cells in piece ", piece,
               " because the \"offsets\" array is not monotonically increasing or starts with a value other than 0");
      }
    }
    const Index all = cells.offsets(count);
    cells.corners = room_for<Index>(piece, "connectivity", corners, all, 0);
    read_cells_array(piece, "connectivity", all, corners,
                     [&](std::size_t i, auto value) { cells.corners(i) = index_from(value); });
    cells.kinds = room_for<CellKind>(piece, "types", kinds, count, 0);
    read_cells_array(piece, "types", count, kinds, [&](std::size_t i, auto value) {
      const Index kind = index_from(value);
      // What is no byte is no kind either.
      cells.kinds(i) = static_cast<CellKind>(kind >= 0 && kind < 256 ? kind : 0);
    });
    return cells;
  }

  // What is wrong with the cells of a piece, whose corners count its own points.
  void require_right(const Cells& cells, std::size_t piece) const {
    std::string wrong = wrong_kinds(cells.kinds, cells.offsets, static_cast<Index>(cells.corners.extent(0)));
    if (wrong.empty()) {
      HostMesh mesh;
      mesh.kinds = cells.kinds;
      mesh.offsets = cells.offsets;
      mesh.points = cells.corners;
      wrong = wrong_corners(mesh, points_[piece]);
    }
    if (wrong.empty()) return;
    const std::string place = grid_.pieces.size() > 1 ? message_of(" (in piece ", piece, ")") : "";
    throw Error(ErrorKind::input, message_of(path_.string(), ": ", wrong, place));
  }

  void read_all_cells(MeshParts& parts) {
    std::vector<Cells> all(cells_.size());
    Index corners = 0;
    for (std::size_t piece = 0; piece < all.size(); ++piece) {
      if (cells_[piece] == 0) continue;
      all[piece] = read_cells(piece);
      require_right(all[piece], piece);
      corners += static_cast<Index>(all[piece].corners.extent(0));
    }
    Cells whole;
    if (all.size() == 1 && cells_[0] > 0) {
      whole = std::move(all[0]);
    } else {
      whole.kinds = host_list<CellKind>("heddle::io::kinds", sum(cells_));
      whole.offsets = host_list<Index>("heddle::io::offsets", sum(cells_) + 1);
      whole.corners = host_list<Index>("heddle::io::corners", corners);
      whole.offsets(0) = 0;
      join(all, whole);
    }
    parts.mesh = mesh_of(whole.kinds, whole.offsets);
    parts.mesh.points = whole.corners;
  }

  // One piece after the other, and gives them back.
  void join(std::vector<Cells>& all, const Cells& whole) const {
    Index cell = 0;
    Index corner = 0;
    Index point = 0;
    for (std::size_t piece = 0; piece < all.size(); ++piece) {
      const Cells cells = std::exchange(all[piece], {});
      for (Index i = 0; i < static_cast<Index>(cells.kinds.extent(0)); ++i) {
        whole.kinds(cell) = cells.kinds(i);
        whole.offsets(++cell) = corner + cells.offsets(i + 1);
      }
      for (Index i = 0; i < static_cast<Index>(cells.corners.extent(0)); ++i) {
        whole.corners(corner++) = cells.corners(i) + point;
      }
      point += points_[piece];
    }
  }

  std::filesystem::path path_;
  XmlGrid grid_;
  VtuData data_;
  std::vector<Index> points_, cells_;  // Of each piece.
};

// Refuses a file that was cut short.
void require_end(const std::filesystem::path& path) {
  constexpr std::string_view end = "</VTKFile>";
  std::ifstream stream(path, std::ios::binary);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  const auto read = [&](std::streamoff from, std::streamoff bytes) {
    std::string text(static_cast<std::size_t>(std::min(bytes, size - from)), ' ');
    stream.seekg(from);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
  };
  // What is no XML of VTK's is left to its parser, which says what it found.
  if (read(0, 1024).find("<VTKFile") == std::string::npos) return;
  if (read(std::max<std::streamoff>(0, size - 1024), 1024).rfind(end) != std::string::npos) return;
  throw Error(ErrorKind::input, message_of(path.string(), ": is cut short: it ends at byte ", size, " without ", end));
}

}  // namespace

MeshParts read_vtu(const std::filesystem::path& path) {
  require_end(path);
  try {
    return VtuReader(path).read();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    // All the file says that it holds may still be more than this machine does.
    throw Error(ErrorKind::input, message_of(path.string(), ": can't be read: it announces what there is no room for (",
                                             printable(error.what()), ")"));
  }
}

}  // namespace heddle::impl

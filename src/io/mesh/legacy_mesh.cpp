#include "io/mesh/legacy_mesh.hpp"

#include "io/matrix/chunks.hpp"
#include "io/mesh/legacy_source.hpp"
#include "io/mesh/polyhedra.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::impl {

namespace {

using Arrays = std::vector<MeshArray>;

class LegacyReader {
 public:
  explicit LegacyReader(const std::filesystem::path& path) : source_(path) {}

  MeshParts read() {
    bool more = source_.next_keyword();
    for (; more && read_geometry(); more = source_.next_keyword()) {
    }
    if (!has_cells_) source_.refuse("expected CELLS, found ", source_.found_keyword());
    if (!has_types_ && !bad_corner_.empty()) throw Error(ErrorKind::input, bad_corner_);
    if (!has_types_) source_.refuse("expected CELL_TYPES, found ", source_.found_keyword());
    Arrays* arrays = nullptr;
    for (; more; more = source_.next_keyword()) {
      if (source_.keyword() == "point_data") {
        arrays = &parts_.point_arrays;
        begin_data("points", points_);
      } else if (source_.keyword() == "cell_data") {
        arrays = &parts_.cell_arrays;
        begin_data("cells", cells_);
      } else if (arrays != nullptr) {
        read_attribute(*arrays, arrays == &parts_.point_arrays ? points_ : cells_);
      } else {
        source_.refuse("expected POINT_DATA or CELL_DATA, found ", source_.found_keyword());
      }
    }
    return finish();
  }

 private:
  // False for what is no part of it.
  bool read_geometry() {
    const std::string& keyword = source_.keyword();
    if (keyword == "field") {
      read_field(nullptr);
    } else if (keyword == "points") {
      read_points();
    } else if (keyword == "cells") {
      read_cells();
    } else if (keyword == "cell_types") {
      read_types();
    } else {
      return false;
    }
    return true;
  }

  void read_points() {
    if (has_points_) source_.refuse("a second POINTS");
    has_points_ = true;
    points_ = source_.count("the number of points");
    const ElementType type = source_.type("the points");
    source_.end_line();
    if (!source_.has_room(points_, 3, type)) {
      source_.refuse(points_, " points are announced, more than the file's ", source_.size(), " bytes can hold");
    }
    const NewPoints points = host_points(points_);
    double* const to = points.data();
    with_type(type, [&](auto number) {
      source_.read_each<decltype(number)>(3 * points_, "a coordinate", [&](Index i, auto value) {
        to[i] = static_cast<double>(value);
        if (!source_.binary() && !std::isfinite(to[i])) source_.refuse("a coordinate '", value, "' is not finite");
      });
    });
    parts_.points = points;
  }

  // The numbers of a polyhedron are not all corners, and types come later: what is wrong is said there.
  void look_at_corner(Index cell, Index corner) {
    if ((corner >= 0 && corner < points_) || bad_cell_ >= 0) return;
    bad_cell_ = cell;
    bad_corner_ = source_.described(wrong_corner(cell, corner, points_));
  }

  void read_cells() {
    if (has_cells_) source_.refuse("a second CELLS");
    has_cells_ = true;
    const Index count = source_.count("the number of cells");
    const Index size = source_.count("the size of the cells");
    source_.end_line();
    if (source_.version() >= 5) {
      read_offsets(count, size);
      return;
    }
    // A number of corners, and so many corners, cell after cell.
    cells_ = count;
    offsets_.append(0);
    Index left = 0;
    const auto require_more = [&](Index read) {
      if (left > 0 || static_cast<Index>(offsets_.size()) <= cells_ || read == size) return;
      source_.refuse("the cells have ", read, " numbers, where ", size, " are announced");
    };
    require_more(0);
    source_.read_each<std::int32_t>(size, "a cell's corner", [&](Index i, std::int32_t number) {
      const auto cell = static_cast<Index>(offsets_.size()) - 1;
      if (left > 0) {
        look_at_corner(cell - 1, number);
        corners_.append(number);
        --left;
        return require_more(i + 1);
      }
      if (number < 0 || number >= size - i) {
        source_.refuse("cell ", cell, " has ", number, " corners, where ", size - i, " of the ", size,
                       " numbers of all cells are left");
      }
      left = number;
      offsets_.append(static_cast<Index>(corners_.size()) + number);
      require_more(i + 1);
    });
    if (const auto cell = static_cast<Index>(offsets_.size()) - 1; cell < cells_) {
      source_.refuse("cell ", cell, " is missing, where all the ", size, " numbers of cells are read");
    }
  }

  ElementType part(const char* name) {
    if (!source_.next_keyword() || source_.keyword() != lower(name)) {
      source_.refuse("expected ", name, ", found ", source_.found_keyword());
    }
    const std::string word = lower(source_.word());
    const auto type = legacy_type_from(word);
    if (!type || bytes_of(*type) < 4 || *type == ElementType::float32 || *type == ElementType::float64) {
      source_.refuse("expected the type of the ", name, ", as vtktypeint64, found ", impl::quoted(word));
    }
    return *type;
  }
  // A list of whole numbers of any type.
  template <class Take> void read_numbers(ElementType type, Index count, const char* what, const Take& take) {
    with_type(type, [&](auto number) {
      source_.read_each<decltype(number)>(count, what,
                                          [&](Index i, auto value) { take(i, static_cast<Index>(value)); });
    });
  }
  void read_offsets(Index count, Index corners) {
    cells_ = std::max<Index>(0, count - 1);
    if (count == 0) return;
    Index last = 0;
    read_numbers(part("OFFSETS"), count, "an offset", [&](Index i, Index offset) {
      if (offset < last || offset > corners) {
        source_.refuse("offset ", i, " is ", offset, ", where ", last, " to ", corners, " is expected");
      }
      last = offset;
      offsets_.append(offset);
    });
    read_numbers(part("CONNECTIVITY"), corners, "a cell's corner", [&](Index i, Index corner) {
      if (bad_place_ < 0 && (corner < 0 || corner >= points_)) {
        bad_place_ = i;
        bad_corner_ = source_.described(
            message_of("corner ", i, " of all is ", corner, ", where there are ", points_, " points, numbered from 0"));
      }
      corners_.append(corner);
    });
  }

  void read_types() {
    if (has_types_) source_.refuse("a second CELL_TYPES");
    has_types_ = true;
    const Index count = source_.count("the number of types");
    source_.end_line();
    if (count != cells_) source_.refuse("there are ", count, " types, where there are ", cells_, " cells");
    source_.read_each<std::int32_t>(cells_, "the type of a cell", [&](Index cell, std::int32_t type) {
      if (!is_kind(type, KindsOf::file)) source_.refuse(wrong_kind(cell, type));
      kinds_.append(static_cast<CellKind>(type));
    });
  }

  void begin_data(const char* what, Index expected) {
    const Index count = source_.count("the number of tuples");
    source_.end_line();
    if (count != expected) {
      source_.refuse("there are arrays of ", count, " tuples, where there are ", expected, " ", what);
    }
  }

  // One of the keywords between POINT_DATA, CELL_DATA and the end.
  void read_attribute(Arrays& arrays, Index tuples) {
    const std::string keyword = source_.keyword();
    if (keyword == "field") return read_field(&arrays);
    if (keyword == "lookup_table") {
      source_.name("the name of a table");
      const Index colours = source_.count("the number of colours");
      return source_.skip(4 * colours, source_.binary() ? ElementType::uint8 : ElementType::float32, "a colour");
    }
    if (keyword == "scalars") return read_scalars(arrays, tuples);
    if (keyword == "color_scalars") return read_colours(arrays, tuples);
    const auto has = [&](const char* name) { return keyword == name; };
    const bool texture = has("texture_coordinates");
    const Index components = has("vectors") || has("normals")                                           ? 3
                             : has("tensors")                                                           ? 9
                             : has("tensors6")                                                          ? 6
                             : texture || has("global_ids") || has("pedigree_ids") || has("edge_flags") ? 1
                                                                                                        : 0;
    if (components == 0) source_.refuse("expected arrays, found ", source_.found_keyword());
    const std::string name = source_.name("the name of an array");
    const Index dimensions = texture ? source_.count("the number of dimensions") : components;
    read_array(&arrays, name, tuples, dimensions, lower(source_.word()));
  }

  void read_scalars(Arrays& arrays, Index tuples) {
    const std::string name = source_.name("the name of an array");
    const std::string type = lower(source_.word());
    Index components = 1;
    std::string next(source_.word());
    if (!next.empty() && lower(next) != "lookup_table") {
      const bool right = number_from<Index>(next, components) == NumberFault::none && components >= 1;
      if (!right) source_.refuse("expected the number of components, found ", impl::quoted(next));
      next = source_.word();
    }
    if (next.empty() && source_.next_line()) next = source_.word();
    if (lower(next) != "lookup_table") {
      source_.refuse("expected LOOKUP_TABLE, found ", next.empty() ? "the end of the line" : impl::quoted(next));
    }
    source_.name("the name of a table");
    read_array(&arrays, name, tuples, components, type);
  }

  // From 0 to 1 as text, from 0 to 255 as bytes.
  void read_colours(Arrays& arrays, Index tuples) {
    const std::string name = source_.name("the name of an array");
    const Index components = source_.count("the number of components");
    const Index numbers = numbers_in(name, tuples, components, ElementType::uint8);
    void* data = nullptr;
    MeshArray array = new_array(name, ElementType::uint8, tuples, components, data);
    auto* const to = static_cast<std::uint8_t*>(data);
    if (source_.binary()) {
      source_.read(numbers, to, "a colour");
    } else {
      source_.read_each<float>(numbers, "a colour", [&](Index i, float value) {
        if (!(value >= 0 && value <= 1)) source_.refuse("a colour is ", value, ", where 0 to 1 is expected");
        to[i] = static_cast<std::uint8_t>(std::lround(255 * value));
      });
    }
    put_array(arrays, std::move(array));
  }

  // Arrays of their own sizes; kept where there is a place for them.
  void read_field(Arrays* arrays) {
    source_.name("the name of a field");
    const Index count = source_.count("the number of arrays");
    source_.end_line();
    for (Index i = 0; i < count; ++i) {
      if (!source_.next_line()) source_.refuse("the file ends where an array is expected");
      const std::string name = source_.name("the name of an array");
      if (name == "NULL_ARRAY") continue;
      const Index components = source_.count("the number of components");
      const Index tuples = source_.count("the number of tuples");
      read_array(arrays, name, tuples, components, lower(source_.word()));
    }
  }

  // How many, where the file can hold them.
  Index numbers_in(const std::string& name, Index tuples, Index components, ElementType type) const {
    if (!source_.has_room(tuples, components, type)) {
      source_.refuse("the array ", impl::quoted(name), " has ", tuples, " x ", components,
                     " numbers, more than the file's ", source_.size(), " bytes can hold");
    }
    return tuples * components;
  }

  void read_array(Arrays* arrays, const std::string& name, Index tuples, Index components, const std::string& word) {
    source_.end_line();
    if (word == "string" || word == "utf8_string") {
      return source_.skip_strings(numbers_in(name, tuples, components, ElementType::int8));
    }
    if (word == "bit") return skip_bits(name, tuples, components);
    const auto type = legacy_type_from(word);
    if (!type)
      source_.refuse("expected the type of the array ", impl::quoted(name), ", as double, found ", impl::quoted(word));
    const Index numbers = numbers_in(name, tuples, components, *type);
    // Of 32 bits in the file, of 64 in memory.
    const bool ids = word == "vtkidtype";
    void* data = nullptr;
    MeshArray array = new_array(name, ids ? ElementType::int64 : *type, tuples, components, data);
    constexpr const char* what = "a number of an array";
    if (ids) {
      source_.read_each<std::int32_t>(numbers, what,
                                      [&](Index i, auto value) { static_cast<Index*>(data)[i] = value; });
    } else {
      with_type(*type, [&](auto number) { source_.read(numbers, static_cast<decltype(number)*>(data), what); });
    }
    if (arrays == nullptr) return;
    if (source_.version() < 4) mark_ghosts(array, data);
    put_array(*arrays, std::move(array));
  }
  // Eight to a byte.
  void skip_bits(const std::string& name, Index tuples, Index components) {
    const Index numbers = numbers_in(name, tuples, components, ElementType::uint8);
    source_.skip(source_.binary() ? (numbers + 7) / 8 : numbers, ElementType::uint8, "a bit");
  }

  MeshParts finish() {
    FileCells cells = {host_list<CellKind>("heddle::io::kinds", cells_),
                       host_list<Index>("heddle::io::offsets", cells_ + 1),
                       host_list<Index>("heddle::io::corners", static_cast<Index>(corners_.size()))};
    kinds_.move_to(cells.kinds.data());
    cells.offsets(0) = 0;
    offsets_.move_to(cells.offsets.data());
    corners_.move_to(cells.points.data());
    require_corners(cells);
    const auto require_right = [&](const std::string& wrong) {
      if (!wrong.empty()) throw Error(ErrorKind::input, message_of(source_.file(), ": ", wrong));
    };
    require_right(split_streams(cells, parts_.polyhedra));
    require_right(set_cells(parts_, cells));
    require_right(wrong_corners(parts_.mesh, points_));
    require_right(wrong_nodes(parts_.mesh, parts_.nodes, points_));
    return std::move(parts_);
  }

  void require_corners(const FileCells& cells) {
    if (bad_place_ >= 0) {
      const Index* const offsets = cells.offsets.data();
      bad_cell_ = std::upper_bound(offsets, offsets + cells_ + 1, bad_place_) - offsets - 1;
    }
    // Corners behind the last cell are refused as such.
    if (bad_cell_ < 0 || bad_cell_ >= cells_ || cells.kinds(bad_cell_) == CellKind::polyhedron) return;
    throw Error(ErrorKind::input, bad_corner_);
  }

  LegacySource source_;
  MeshParts parts_;
  Index points_ = 0;
  Index cells_ = 0;
  Index bad_cell_ = -1;     // Where a corner was no point first, by cell
  Index bad_place_ = -1;    // or by place in the list of all,
  std::string bad_corner_;  // and what is to be said of it.
  Chunks<Index> offsets_;
  Chunks<Index> corners_;
  Chunks<CellKind> kinds_;
  bool has_points_ = false;
  bool has_cells_ = false;
  bool has_types_ = false;
};

}  // namespace

MeshParts read_legacy(const std::filesystem::path& path) {
  return LegacyReader(path).read();
}

}  // namespace heddle::impl

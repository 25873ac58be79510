// Reader of legacy .vtk files of meshes and grids: geometry of one of five kinds, and arrays.
#include "io/mesh/vtk/legacy_mesh.hpp"

#include "io/matrix/chunks.hpp"
#include "io/mesh/polyhedra.hpp"
#include "io/mesh/vtk/legacy_cells.hpp"
#include "io/mesh/vtk/legacy_grid.hpp"
#include "io/mesh/vtk/legacy_source.hpp"
#include <heddle/dist/placement.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace heddle::impl {

namespace {

using Arrays = std::vector<MeshArray>;

class LegacyReader {
 public:
  explicit LegacyReader(const std::filesystem::path& path) : source_(path) {
    const bool listed =
        source_.dataset() == LegacyDataset::unstructured_grid || source_.dataset() == LegacyDataset::polydata;
    if (!listed) grid_.emplace(source_.dataset());
  }

  MeshParts read() {
    bool more = source_.next_keyword();
    for (; more && read_geometry(); more = source_.next_keyword()) {
    }
    end_geometry();
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
      return true;
    }
    if (keyword == "points" && (!grid_ || grid_->has_points())) {
      read_points();
      return true;
    }
    if (grid_) return grid_->read(source_);
    if (source_.dataset() == LegacyDataset::polydata) {
      for (std::size_t k = 0; k < polygons.size(); ++k) {
        if (keyword != polygons[k].keyword) continue;
        read_polygons(polygons[k], lists_[k]);
        return true;
      }
      return false;
    }
    if (keyword == "cells") {
      lists_[0].read(source_, points_);
      cells_ = lists_[0].size();
    } else if (keyword == "cell_types") {
      read_types();
    } else {
      return false;
    }
    return true;
  }

  // Refuse incomplete geometry, and complete that of grids.
  void end_geometry() {
    const auto require_one = [&](bool there, const char* keyword) {
      if (!there) source_.refuse("expected ", keyword, ", found ", source_.found_keyword());
    };
    if (grid_) {
      require_one(grid_->has_dimensions(), "DIMENSIONS");
      if (grid_->has_points()) require_one(has_points_, "POINTS");
      grid_->end(source_, points_);
      points_ = points_in(grid_->points());
      cells_ = cells_in(grid_->points());
    } else if (source_.dataset() == LegacyDataset::polydata) {
      require_one(has_points_, "POINTS");
      for (const LegacyCells& list : lists_) cells_ += list.size();
    } else {
      require_one(lists_[0].is_read(), "CELLS");
      if (!has_types_ && !lists_[0].bad_corner().empty()) throw Error(ErrorKind::input, lists_[0].bad_corner());
      require_one(has_types_, "CELL_TYPES");
    }
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

  // Cells of polygonal data, in the order of its arrays' tuples; strips are counted, so that a file may have none.
  struct Form {
    const char* keyword;
    Index corners;
    CellKind kind;
  };
  static constexpr std::array<Form, 4> polygons = {{{"vertices", 1, CellKind::vertex},
                                                    {"lines", 2, CellKind::line},
                                                    {"polygons", 3, CellKind::triangle},
                                                    {"triangle_strips", 0, CellKind::triangle}}};

  void read_polygons(const Form& form, LegacyCells& list) {
    list.read(source_, points_);
    if (!list.bad_corner().empty()) throw Error(ErrorKind::input, list.bad_corner());
    if (form.corners == 0 && list.size() > 0) source_.refuse("has triangle strips, which are not taken");
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
    // A vtkIdType has 32 bits in the file, and 64 in memory.
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
    const auto require_right = [&](const std::string& wrong) {
      if (!wrong.empty()) throw Error(ErrorKind::input, message_of(source_.file(), ": ", wrong));
    };
    if (grid_ && !has_points_) {
      require_right(grid_->wrong_size(parts_));
      parts_.points = grid_->places();
    }
    FileCells cells = grid_ ? grid_->cells() : cells_of_lists();
    require_right(split_streams(cells, parts_.polyhedra));
    require_right(set_cells(parts_, cells));
    require_right(wrong_corners(parts_.mesh, points_));
    require_right(wrong_nodes(parts_.mesh, parts_.nodes, points_));
    return std::move(parts_);
  }

  FileCells cells_of_lists() {
    Index corners = 0;
    for (const LegacyCells& list : lists_) corners += list.corners();
    FileCells cells = {host_list<CellKind>("heddle::io::kinds", cells_),
                       host_list<Index>("heddle::io::offsets", cells_ + 1),
                       host_list<Index>("heddle::io::corners", corners)};
    kinds_.move_to(cells.kinds.data());
    cells.offsets(0) = 0;
    Index cell = 0;
    corners = 0;
    for (std::size_t k = 0; k < lists_.size(); ++k) {
      LegacyCells& list = lists_[k];
      if (!list.is_read()) continue;
      const Index size = list.size();
      const Index here = list.corners();
      list.move_to(cells.offsets.data() + cell, cells.points.data() + corners);
      if (source_.dataset() == LegacyDataset::polydata) {
        set_polygons(polygons[k], cells, {cell, cell + size}, {corners, corners + here});
      } else {
        require_corners(cells);
      }
      cell += size;
      corners += here;
    }
    return cells;
  }

  // The cells of a list, which has these of all corners.
  void set_polygons(const Form& form, const FileCells& cells, Range list, Range corners) const {
    const auto refuse = [&](const auto&... parts) {
      throw Error(ErrorKind::input, message_of(source_.file(), ": ", parts...));
    };
    if (cells.offsets(list.begin) != 0 || cells.offsets(list.end) != corners.size()) {
      refuse("the offsets of ", form.keyword, " are ", cells.offsets(list.begin), " to ", cells.offsets(list.end),
             ", where 0 to ", corners.size(), " are expected");
    }
    for (Index cell = list.begin; cell < list.end; ++cell) {
      const Index each = cells.offsets(cell + 1) - cells.offsets(cell);
      if (form.corners < 3 ? each != form.corners : each < 3) {
        refuse("cell ", cell, ", of ", form.keyword, ", has ", each, " points, where ", form.corners,
               form.corners < 3 ? "" : " or more", " are expected");
      }
      cells.kinds(cell) = form.corners < 3 ? form.kind : polygon_of(each);
    }
    for (Index cell = list.begin; cell <= list.end; ++cell) cells.offsets(cell) += corners.begin;
  }

  void require_corners(const FileCells& cells) const {
    const Index bad = lists_[0].bad_cell(cells.offsets.data());
    // Corners behind the last cell are refused as such.
    if (bad < 0 || bad >= cells_ || cells.kinds(bad) == CellKind::polyhedron) return;
    throw Error(ErrorKind::input, lists_[0].bad_corner());
  }

  LegacySource source_;
  MeshParts parts_;
  Index points_ = 0;
  Index cells_ = 0;
  std::array<LegacyCells, 4> lists_;  // Of an unstructured grid the first alone.
  std::optional<LegacyGrid> grid_;
  Chunks<CellKind> kinds_;
  bool has_points_ = false;
  bool has_types_ = false;
};

}  // namespace

MeshParts read_legacy(const std::filesystem::path& path) {
  return LegacyReader(path).read();
}

}  // namespace heddle::impl

// Reader of Gmsh's mesh files (.msh).
#include "io/mesh/gmsh/gmsh_mesh.hpp"

#include "io/matrix/chunks.hpp"
#include "io/mesh/gmsh/gmsh_fields.hpp"
#include "io/mesh/gmsh/gmsh_nodes.hpp"
#include "io/mesh/gmsh/gmsh_source.hpp"
#include "io/mesh/gmsh/gmsh_types.hpp"

#include <array>
#include <map>
#include <utility>

namespace heddle::impl {

namespace {

class GmshReader {
 public:
  explicit GmshReader(const std::filesystem::path& path) : source_(path), tags_(0) { offsets_.append(0); }

  MeshParts read() {
    std::string section;
    while (source_.next_section(section)) {
      if (section == "Nodes") {
        read_nodes(false);
      } else if (section == "ParametricNodes" && source_.format() == GmshFormat::v2) {
        read_nodes(true);
      } else if (section == "Elements") {
        read_elements();
      } else if (section == "Entities" && source_.format() != GmshFormat::v2) {
        read_entities();
      } else if (section == "PartitionedEntities" && source_.format() == GmshFormat::v41) {
        read_partitioned_entities();
      } else if (has_elements_ && (section == "NodeData" || section == "ElementData")) {
        read_field(section == "NodeData");
      } else {
        source_.skip_section();
      }
    }
    if (!has_nodes_) source_.refuse("the file ends without $Nodes");
    if (!has_elements_) source_.refuse("the file ends without $Elements");
    return finish();
  }

 private:
  // A count or tag: 64 bits in 4.1's binary files where the format says size_t.
  Index next_size(const char* what) {
    if (source_.format() == GmshFormat::v41) return source_.next<std::int64_t>(what);
    return source_.binary() ? source_.next<std::int32_t>(what) : source_.next<std::int64_t>(what);
  }
  std::int32_t next_int(const char* what) { return source_.next<std::int32_t>(what); }

  Index next_count(const char* what) {
    const Index count = next_size(what);
    if (count < 0) source_.refuse(what, " is ", count, ", where 0 or more is expected");
    return count;
  }

  // A file cut short is refused before room is made.
  void require_room(Index count, Index bytes_each, const char* what) {
    if (static_cast<std::uintmax_t>(count) > source_.size() / static_cast<std::uintmax_t>(bytes_each)) {
      source_.refuse(count, " ", what, " are announced, more than the file's ", source_.size(), " bytes can hold");
    }
  }

  // A count at the beginning of a section: in version 2, text in binary files too.
  Index read_total(const char* what) {
    if (source_.format() != GmshFormat::v2) return next_count(what);
    source_.begin_line(what);
    const auto count = source_.next<std::int64_t>(what);
    if (count < 0) source_.refuse(what, " is ", count, ", where 0 or more is expected");
    source_.end_line();
    return count;
  }

  void append_tag(Index tag) {
    if (tag <= 0) source_.refuse("node tag ", tag, " is not positive");
    if (!tags_.append(tag)) source_.refuse("node tag ", tag, " was given already");
    tag_of_.append(tag);
    node_tags_.append(tag);
  }

  void read_coordinates(int parameters) {
    for (const char* const axis : {"x", "y", "z"}) coordinates_.append(source_.next<double>(axis));
    for (int i = 0; i < parameters; ++i) source_.next<double>("a parametric coordinate");
  }

  // `parametric`: of version 2, each node with the entity that it is on, and its coordinates there.
  void read_nodes(bool parametric) {
    if (has_nodes_) source_.refuse("a second $Nodes");
    has_nodes_ = true;
    const bool blocks = source_.format() != GmshFormat::v2;
    Index number_of_blocks = 1;
    if (blocks) {
      source_.begin_record("the numbers of blocks and nodes");
      number_of_blocks = next_count("the number of blocks");
    }
    const Index nodes = read_total("the number of nodes");
    require_room(nodes, 8, "nodes");
    tags_ = NodeTags(nodes);
    if (blocks) {
      if (source_.format() == GmshFormat::v41) {
        next_size("the smallest tag");
        next_size("the largest tag");
      }
      source_.end_record();
      for (Index block = 0; block < number_of_blocks; ++block) read_node_block(nodes);
    } else {
      for (Index node = 0; node < nodes; ++node) {
        source_.begin_record("a node");
        append_tag(next_size("a node tag"));
        read_coordinates(0);
        if (parametric) skip_place_on_entity();
        source_.end_record();
      }
    }
    if (tags_.size() != nodes) {
      source_.refuse("the blocks have ", tags_.size(), " nodes, where ", nodes, " are announced");
    }
    source_.end_section(message_of(nodes, " nodes"));
    if (const Index node = tags_.finish(); node >= 0) {
      source_.refuse("node ", node, ", counted from 0, has the tag of an earlier one");
    }
  }

  // Points on curves have one coordinate, those on surfaces two.
  void skip_place_on_entity() {
    const int dimension = next_int("the dimension of an entity");
    next_int("the tag of an entity");
    if (dimension < 0 || dimension > 3) source_.refuse("an entity has dimension ", dimension, ", not 0 to 3");
    for (int i = 0; i < dimension && dimension < 3; ++i) source_.next<double>("a parametric coordinate");
  }

  // A block begins with dimension, tag and parametric; version 4.0 has the tag first.
  void read_node_block(Index nodes) {
    source_.begin_record("a block of nodes");
    int dimension = next_int("the dimension of an entity");
    const int second = next_int("the tag of an entity");
    if (source_.format() == GmshFormat::v40) dimension = second;
    const int parametric = next_int("0 or 1 for parametric");
    const Index count = next_count("the number of nodes in a block");
    if (dimension < 0 || dimension > 3) source_.refuse("an entity has dimension ", dimension, ", not 0 to 3");
    if (parametric != 0 && parametric != 1) source_.refuse("parametric is ", parametric, ", where 0 or 1 is expected");
    if (count > nodes - tags_.size()) {
      source_.refuse("a block of ", count, " nodes, where ", nodes - tags_.size(), " of ", nodes, " are left");
    }
    source_.end_record();
    const int parameters = parametric == 1 ? dimension : 0;
    if (source_.format() == GmshFormat::v41) {
      for (Index node = 0; node < count; ++node) {
        source_.begin_record("a node tag");
        append_tag(next_size("a node tag"));
        source_.end_record();
      }
    }
    for (Index node = 0; node < count; ++node) {
      source_.begin_record("a node");
      if (source_.format() == GmshFormat::v40) append_tag(next_size("a node tag"));
      read_coordinates(parameters);
      source_.end_record();
    }
  }

  void append_element(const GmshType& type, Index tag, std::int32_t group) {
    std::array<Index, 27> nodes{};
    for (int k = 0; k < type.nodes; ++k) {
      const Index node_tag = next_size("a node of an element");
      const Index node = tags_.find(node_tag);
      if (node < 0) source_.refuse("element ", tag, " has node ", node_tag, ", which is none of $Nodes");
      nodes[static_cast<std::size_t>(k)] = node;
    }
    const std::string_view order = type.order;
    for (const char place : order) corners_.append(nodes[static_cast<std::size_t>(place - 'a')]);
    for (int k = 0; order.empty() && k < type.nodes; ++k) corners_.append(nodes[static_cast<std::size_t>(k)]);
    offsets_.append(static_cast<Index>(corners_.size()));
    element_tags_.append(tag);
    kinds_.append(static_cast<CellKind>(type.type));
    groups_.append(group);
    any_group_ = any_group_ || group != 0;
  }

  GmshType require_type(std::int64_t number, const std::string& element) {
    const GmshType type = gmsh_type(number);
    if (type.nodes == 0) {
      source_.refuse(element, " is of Gmsh type ", number, "; elements of first and second order are taken: points, ",
                     "lines, triangles, quadrangles, tetrahedra, hexahedra, prisms and pyramids");
    }
    return type;
  }

  void read_elements() {
    if (!has_nodes_) source_.refuse("$Elements come before $Nodes");
    if (has_elements_) source_.refuse("a second $Elements");
    has_elements_ = true;
    const bool blocks = source_.format() != GmshFormat::v2;
    Index number_of_blocks = 0;
    if (blocks) {
      source_.begin_record("the numbers of blocks and elements");
      number_of_blocks = next_count("the number of blocks");
    }
    const Index elements = read_total("the number of elements");
    require_room(elements, 4, "elements");
    if (source_.format() == GmshFormat::v41) {
      next_size("the smallest tag");
      next_size("the largest tag");
    }
    if (blocks) source_.end_record();
    for (Index block = 0; block < number_of_blocks; ++block) read_element_block(elements);
    while (!blocks && size() < elements) {
      if (source_.binary()) {
        read_element_header(elements);
      } else {
        read_element_line();
      }
    }
    if (size() != elements) source_.refuse("the blocks have ", size(), " elements, where ", elements, " are announced");
    source_.end_section(message_of(elements, " elements"));
  }

  void require_left(Index count, Index elements) {
    if (count > elements - size()) {
      source_.refuse("a block of ", count, " elements, where ", elements - size(), " of ", elements, " are left");
    }
  }

  void read_field(bool of_nodes) {
    GmshTags& tags = of_nodes ? node_tags_ : element_tags_;
    if (!tags_finished_) {
      node_tags_.finish();
      element_tags_.finish();
      tags_finished_ = true;
    }
    read_gmsh_field(source_, tags, of_nodes ? point_fields_ : cell_fields_);
  }

  // Versions 4: dimension, tag and type, the first two the other way round in 4.0, and the number of elements.
  void read_element_block(Index elements) {
    source_.begin_record("a block of elements");
    std::pair<int, int> entity;
    entity.first = next_int("the dimension of an entity");
    entity.second = next_int("the tag of an entity");
    if (source_.format() == GmshFormat::v40) std::swap(entity.first, entity.second);
    const int type = next_int("the type of elements");
    const Index count = next_count("the number of elements in a block");
    const GmshType elements_type = require_type(type, message_of("element ", size(), ", counted from 0,"));
    require_left(count, elements);
    source_.end_record();
    const auto found = group_of_.find(entity);
    const std::int32_t group = found == group_of_.end() ? 0 : found->second;
    for (Index element = 0; element < count; ++element) {
      source_.begin_record("an element");
      const Index tag = next_size("the tag of an element");
      append_element(elements_type, tag, group);
      source_.end_record();
    }
  }

  // The first of version 2's tags is the physical group.
  std::int32_t read_group(int tags) {
    std::int32_t group = 0;
    for (int i = 0; i < tags; ++i) {
      const std::int32_t tag = next_int("a tag of an element");
      if (i == 0) group = tag;
    }
    return group;
  }

  void read_element_line() {
    source_.begin_record("an element");
    const Index tag = next_size("the number of an element");
    const auto type = next_size("the type of an element");
    const GmshType elements_type = require_type(type, message_of("element ", tag));
    const int tags = next_int("the number of tags");
    if (tags < 0) source_.refuse("element ", tag, " has ", tags, " tags");
    append_element(elements_type, tag, read_group(tags));
    source_.end_record();
  }

  // Version 2, binary: elements that have type and number of tags in common.
  void read_element_header(Index elements) {
    source_.begin_record("elements");
    const int type = next_int("the type of elements");
    const int count = next_int("the number of elements that follow");
    const int tags = next_int("the number of tags");
    const GmshType elements_type = require_type(type, message_of("element ", size(), ", counted from 0,"));
    if (count < 1) source_.refuse("a block of ", count, " elements, where 1 or more are expected");
    if (tags < 0) source_.refuse("elements have ", tags, " tags");
    require_left(count, elements);
    for (int element = 0; element < count; ++element) {
      const Index tag = next_size("the number of an element");
      const std::int32_t group = read_group(tags);
      append_element(elements_type, tag, group);
    }
  }

  // The numbers of points, curves, surfaces and volumes.
  std::array<Index, 4> read_entity_counts() {
    source_.begin_record("the numbers of entities");
    std::array<Index, 4> counts{};
    for (Index& count : counts) count = next_count("a number of entities");
    source_.end_record();
    return counts;
  }

  // Read the data after the tag of an entity: a point or box, its physical groups, and the entities that bound it.
  void read_entity(int dimension, std::int32_t tag) {
    const bool point = dimension == 0 && source_.format() == GmshFormat::v41;
    for (int i = 0; i < (point ? 3 : 6); ++i) source_.next<double>("a coordinate of an entity");
    const Index groups = next_count("the number of physical groups");
    for (Index i = 0; i < groups; ++i) {
      const std::int32_t group = next_int("a physical group");
      if (i == 0) group_of_[{dimension, tag}] = group;
    }
    if (dimension > 0) {
      const Index bounds = next_count("the number of bounding entities");
      for (Index i = 0; i < bounds; ++i) next_int("a bounding entity");
    }
    source_.end_record();
  }

  void read_entities() {
    const auto counts = read_entity_counts();
    for (int dimension = 0; dimension < 4; ++dimension) {
      for (Index i = 0; i < counts[static_cast<std::size_t>(dimension)]; ++i) {
        source_.begin_record("an entity");
        read_entity(dimension, next_int("the tag of an entity"));
      }
    }
    source_.end_section("the entities");
  }

  void read_partitioned_entities() {
    source_.begin_record("the number of partitions");
    next_count("the number of partitions");
    source_.end_record();
    source_.begin_record("the number of ghost entities");
    const Index ghosts = next_count("the number of ghost entities");
    source_.end_record();
    for (Index i = 0; i < ghosts; ++i) {
      source_.begin_record("a ghost entity");
      next_int("the tag of a ghost entity");
      next_int("a partition");
      source_.end_record();
    }
    const auto counts = read_entity_counts();
    for (int dimension = 0; dimension < 4; ++dimension) {
      for (Index i = 0; i < counts[static_cast<std::size_t>(dimension)]; ++i) {
        source_.begin_record("an entity");
        const std::int32_t tag = next_int("the tag of an entity");
        next_int("the dimension of its parent");
        next_int("the tag of its parent");
        const Index partitions = next_count("the number of partitions");
        for (Index j = 0; j < partitions; ++j) next_int("a partition");
        read_entity(dimension, tag);
      }
    }
    source_.end_section("the entities");
  }

  [[nodiscard]] Index size() const { return static_cast<Index>(kinds_.size()); }

  MeshParts finish() {
    MeshParts parts;
    const Index nodes = tags_.size();
    const Index cells = size();
    tags_ = NodeTags(0);
    const auto points = host_points(nodes);
    coordinates_.move_to(points.data());
    parts.points = points;
    const FileCells all = {host_list<CellKind>("heddle::io::kinds", cells),
                           host_list<Index>("heddle::io::offsets", cells + 1),
                           host_list<Index>("heddle::io::corners", static_cast<Index>(corners_.size()))};
    kinds_.move_to(all.kinds.data());
    offsets_.move_to(all.offsets.data());
    corners_.move_to(all.points.data());
    const std::string wrong = set_cells(parts, all);
    if (!wrong.empty()) source_.refuse(wrong);

    void* data = nullptr;
    parts.point_arrays.push_back(new_array("GmshNodeTag", ElementType::int64, nodes, 1, data));
    tag_of_.move_to(static_cast<Index*>(data));
    if (any_group_) {
      parts.cell_arrays.push_back(new_array("PhysicalGroup", ElementType::int32, cells, 1, data));
      groups_.move_to(static_cast<std::int32_t*>(data));
    }
    for (MeshArray& array : point_fields_) put_array(parts.point_arrays, std::move(array));
    for (MeshArray& array : cell_fields_) put_array(parts.cell_arrays, std::move(array));
    return parts;
  }

  GmshSource source_;
  NodeTags tags_;
  Chunks<Index> tag_of_;
  GmshTags node_tags_, element_tags_;
  bool tags_finished_ = false;
  std::vector<MeshArray> point_fields_, cell_fields_;
  Chunks<double> coordinates_;
  Chunks<Index> corners_;
  Chunks<Index> offsets_;
  Chunks<CellKind> kinds_;
  Chunks<std::int32_t> groups_;
  std::map<std::pair<int, int>, std::int32_t> group_of_;  // By dimension and tag of an entity.
  bool has_nodes_ = false;
  bool has_elements_ = false;
  bool any_group_ = false;
};

}  // namespace

MeshParts read_gmsh(const std::filesystem::path& path) {
  return GmshReader(path).read();
}

}  // namespace heddle::impl

// Writer of VTK's XML files, .vtp and .vtu.
#include "io/mesh/vtk/xml_writer.hpp"

#include "io/mesh/mesh_output.hpp"
#include "io/mesh/vtk/vtk_xml.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace heddle::impl {

namespace {

constexpr std::array<const char*, 10> type_names = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                    "UInt32", "Int64", "UInt64", "Float32", "Float64"};

// As an attribute's value.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // Other control characters are not in XML at all.
        result += static_cast<unsigned char>(character) < ' ' ? '_' : character;
    }
  }
  return result;
}

class XmlWriter {
 public:
  XmlWriter(const std::filesystem::path& path, MeshEncoding encoding, const char* dataset)
      : out_(path, encoding == MeshEncoding::ascii ? NumberForm::text : NumberForm::native),
        packs_(encoding == MeshEncoding::compressed) {
    const bool little = std::endian::native == std::endian::little;
    out_.put(message_of("<?xml version=\"1.0\"?>\n<VTKFile type=\"", dataset, "\" version=\"1.0\" byte_order=\"",
                        little ? "Little" : "Big", "Endian\" header_type=\"UInt64\"",
                        packs_ ? " compressor=\"vtkZLibDataCompressor\"" : "", ">\n"));
    begin(dataset, "");
  }

  void begin(const std::string& name, const std::string& attributes) {
    out_.put(message_of("<", name, attributes.empty() ? "" : " ", attributes, ">\n"));
    open_.push_back(name);
  }
  void end() {
    out_.put(message_of("</", open_.back(), ">\n"));
    open_.pop_back();
  }

  // Values that live until finish().
  template <class Number>
  void array(const std::string& name, const Number* values, Index tuples, Index components = 1) {
    constexpr auto type = static_cast<std::size_t>(element_type<Number>());
    out_.put(message_of("<DataArray type=\"", type_names[type], "\" Name=\"", escaped(name), "\" NumberOfComponents=\"",
                        components, "\" format=\"", out_.text() ? "ascii\">\n" : "appended\" offset=\""));
    if (out_.text()) {
      for (Index tuple = 0; tuple < tuples; ++tuple) {
        for (Index k = 0; k < components; ++k) out_.number(values[tuple * components + k]);
        if ((tuple + 1) % std::max<Index>(1, 12 / components) == 0) out_.end_record();
      }
      out_.end_record();
      out_.put("</DataArray>\n");
    } else {
      // The offset of the numbers is known when those before them are written.
      appended_.push_back({out_.position(), values, static_cast<std::size_t>(tuples * components) * sizeof(Number)});
      out_.put(std::string(21, ' ') + "/>\n");
    }
  }
  void arrays(const char* element, const std::vector<MeshArray>& arrays) {
    begin(element, "");
    for (const MeshArray& one : arrays) {
      std::visit([&](const auto& view) { array(one.name, view.data(), one.size(), one.components()); }, one.values);
    }
    end();
  }

  void finish() {
    end();
    if (!out_.text()) append();
    out_.put("</VTKFile>\n");
    out_.close();
  }

 private:
  struct Appended {
    std::uint64_t place;  // Of its offset.
    const void* values;
    std::size_t bytes;
  };

  template <class Number> static constexpr ElementType element_type() {
    constexpr bool floating = std::is_floating_point_v<Number>;
    if constexpr (floating) return sizeof(Number) == 4 ? ElementType::float32 : ElementType::float64;
    const int power = std::countr_zero(sizeof(Number));
    return static_cast<ElementType>(2 * power + (std::is_unsigned_v<Number> ? 1 : 0));
  }

  void append() {
    out_.put("<AppendedData encoding=\"raw\">\n_");
    const std::uint64_t first = out_.position();
    std::vector<std::uint64_t> offsets;
    for (const Appended& one : appended_) {
      offsets.push_back(out_.position() - first);
      if (packs_) {
        put_packed(one);
      } else {
        out_.number(std::uint64_t{one.bytes});
        out_.put_bytes(one.values, one.bytes);
      }
    }
    out_.put("\n</AppendedData>\n");
    for (std::size_t i = 0; i < offsets.size(); ++i) out_.put_at(appended_[i].place, std::to_string(offsets[i]) + "\"");
  }

  // Number of blocks, bytes of each, bytes of a shorter last one, packed bytes of each; then the blocks.
  void put_packed(const Appended& one) {
    constexpr std::size_t block = std::size_t{1} << 20;
    const auto* const bytes = static_cast<const unsigned char*>(one.values);
    std::vector<std::vector<unsigned char>> blocks;
    for (std::size_t begin = 0; begin < one.bytes; begin += block) {
      blocks.push_back(packed_by_zlib(bytes + begin, std::min(block, one.bytes - begin)));
    }
    for (const std::size_t number : {blocks.size(), block, one.bytes % block}) out_.number(std::uint64_t{number});
    for (const auto& packed : blocks) out_.number(std::uint64_t{packed.size()});
    for (const auto& packed : blocks) out_.put_bytes(packed.data(), packed.size());
  }

  MeshOutput out_;
  bool packs_;
  std::vector<std::string> open_;
  std::vector<Appended> appended_;
};

// Offsets without the 0 before them, as these files have them; none where there is no cell.
const Index* ends_of(const HostIndices& offsets) {
  return offsets.extent(0) == 0 ? nullptr : offsets.data() + 1;
}

// Lists of cells to write; they live until the file is finished.
struct CellLists {
  HostIndices corners, offsets;
  const std::uint8_t* types = nullptr;
  Index count = 0;
};

void put_points(XmlWriter& file, const MeshPoints& points) {
  file.begin("Points", "");
  file.array("Points", points.data(), static_cast<Index>(points.extent(0)), 3);
  file.end();
}

void put_cells(XmlWriter& file, const CellLists& cells) {
  file.array("connectivity", cells.corners.data(), static_cast<Index>(cells.corners.extent(0)));
  file.array("offsets", ends_of(cells.offsets), cells.count);
}

// As files before VTK 9.4 have them, which later ones read, too: for each polyhedron, numbers of faces and points.
struct FaceStreams {
  std::vector<Index> faces, ends;
};
FaceStreams streams_of(const PolyhedronFaces& polyhedra) {
  FaceStreams streams;
  for (std::size_t cell = 0; cell + 1 < polyhedra.cells.extent(0); ++cell) {
    const Index begin = polyhedra.cells(cell);
    const Index end = polyhedra.cells(cell + 1);
    if (begin < end) streams.faces.push_back(end - begin);
    for (Index face = begin; face < end; ++face) {
      streams.faces.push_back(polyhedra.offsets(face + 1) - polyhedra.offsets(face));
      streams.faces.insert(streams.faces.end(), polyhedra.points.data() + polyhedra.offsets(face),
                           polyhedra.points.data() + polyhedra.offsets(face + 1));
    }
    streams.ends.push_back(begin < end ? static_cast<Index>(streams.faces.size()) : -1);
  }
  return streams;
}

// The whole file of cells.
struct GridFile {
  const MeshPoints& points;
  const CellLists& cells;
  const PolyhedronFaces& polyhedra;
  const std::vector<MeshArray>& point_arrays;
  const std::vector<MeshArray>& cell_arrays;
};
void write_grid(const std::filesystem::path& path, MeshEncoding encoding, const GridFile& grid) {
  const FaceStreams streams = streams_of(grid.polyhedra);
  XmlWriter file(path, encoding, "UnstructuredGrid");
  file.begin("Piece",
             message_of("NumberOfPoints=\"", grid.points.extent(0), "\" NumberOfCells=\"", grid.cells.count, "\""));
  file.arrays("PointData", grid.point_arrays);
  file.arrays("CellData", grid.cell_arrays);
  put_points(file, grid.points);
  file.begin("Cells", "");
  put_cells(file, grid.cells);
  file.array("types", grid.cells.types, grid.cells.count);
  if (!streams.ends.empty()) {
    file.array("faces", streams.faces.data(), static_cast<Index>(streams.faces.size()));
    file.array("faceoffsets", streams.ends.data(), static_cast<Index>(streams.ends.size()));
  }
  file.end();
  file.end();
  file.finish();
}

}  // namespace

void write_xml_surface(const std::filesystem::path& path, const Surface& surface, MeshEncoding encoding) {
  const CellLists cells = {surface.corners, surface.offsets,
                           reinterpret_cast<const std::uint8_t*>(surface.kinds.data()), surface.size()};
  if (path.extension() == ".vtu") {
    return write_grid(path, encoding, {surface.points, cells, {}, surface.point_arrays, surface.cell_arrays});
  }
  XmlWriter file(path, encoding, "PolyData");
  file.begin("Piece", message_of("NumberOfPoints=\"", surface.points.extent(0),
                                 "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"",
                                 surface.size(), "\""));
  file.arrays("PointData", surface.point_arrays);
  file.arrays("CellData", surface.cell_arrays);
  put_points(file, surface.points);
  file.begin("Polys", "");
  put_cells(file, cells);
  file.end();
  file.end();
  file.finish();
}

void write_xml_mesh(const std::filesystem::path& path, const MeshParts& parts, MeshEncoding encoding) {
  const Index count = parts.mesh.cells();
  CellLists cells = {parts.mesh.points, parts.mesh.offsets,
                     reinterpret_cast<const std::uint8_t*>(parts.mesh.kinds.data()), count};
  Kokkos::View<std::uint8_t*, Kokkos::HostSpace> types;
  if (!parts.nodes.empty()) {
    cells = {parts.nodes.points, parts.nodes.offsets, parts.nodes.types.data(), count};
  } else if (!parts.mesh.mixed()) {
    types = host_list<std::uint8_t>("heddle::io::kinds", count);
    std::fill_n(types.data(), count, static_cast<std::uint8_t>(parts.mesh.kind));
    const auto offsets = host_list<Index>("heddle::io::offsets", count + 1);
    for (Index cell = 0; cell <= count; ++cell) offsets(cell) = corners_of(parts.mesh.kind) * cell;
    cells.types = types.data();
    cells.offsets = offsets;
  }
  write_grid(path, encoding, {parts.points, cells, parts.polyhedra, parts.point_arrays, parts.cell_arrays});
}

}  // namespace heddle::impl

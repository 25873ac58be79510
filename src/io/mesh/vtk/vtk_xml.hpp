// The structure of VTK's XML files, read by pugixml, and their three ways of packing, by zlib, LZ4 and liblzma.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heddle::impl {

/// An element: its attributes, and where in the file its text is, up to the first element within it.
struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  /// The attribute's value, or null.
  [[nodiscard]] const std::string* find(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? nullptr : &found->second;
  }
};

/// A part of the mesh: the arrays that its elements PointData, CellData, Points, Cells and so on have in them.
struct XmlPiece {
  XmlElement element;
  std::map<std::string, std::vector<XmlElement>> lists;

  /// The arrays of the element of that name; none where there is no such element.
  [[nodiscard]] const std::vector<XmlElement>& list(const std::string& name) const {
    static const std::vector<XmlElement> none;
    const auto found = lists.find(name);
    return found == lists.end() ? none : found->second;
  }
};

struct XmlGrid {
  XmlElement file;
  XmlElement grid;  ///< The element that has the pieces.
  std::vector<XmlPiece> pieces;
  /// The byte from which offsets into appended data count; 0 where there is none.
  std::uint64_t appended = 0;
  bool appended_raw = false;  ///< As bytes, else in base 64.
};

/// Read the structure of a file whose dataset has that name, as UnstructuredGrid: everything before appended data. The
/// text of arrays is not kept. Memory while it is read: the file up to appended data. Throws Error(input), naming the
/// file, for text that is not XML, is cut short or has no such element.
[[nodiscard]] XmlGrid read_xml_grid(const std::filesystem::path& path, const std::string& dataset);

/// Blocks of bytes packed by one of VTK's compressors.
class Unpacker {
 public:
  /// By its name, as vtkZLibDataCompressor. Throws Error(input) for another.
  Unpacker(const std::filesystem::path& path, const std::string& compressor);

  /// The most bytes that so many can be unpacked to.
  [[nodiscard]] std::uint64_t largest(std::uint64_t packed) const;
  /// False unless `packed` bytes become exactly `bytes`.
  [[nodiscard]] bool unpack(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) const;

 private:
  bool (*unpack_)(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) = nullptr;
  std::uint64_t ratio_ = 0;  // Bytes that one packed byte can become at most.
};

/// Packs bytes as vtkZLibDataCompressor does. Throws Error(computation) where zlib has no memory.
[[nodiscard]] std::vector<unsigned char> packed_by_zlib(const unsigned char* from, std::size_t bytes);

}  // namespace heddle::impl

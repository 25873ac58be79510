// VTK's libraries for VTK's XML files: XML, and the three ways of packing. Types are neither VTK's nor Kokkos's, since
// sources that include VTK are compiled for the host alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
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

/// Reads what a file says of its element `dataset`, as UnstructuredGrid. Throws Error(input), naming the file, for what
/// is no XML, is cut short or has no such element.
[[nodiscard]] XmlGrid read_xml_grid(const std::filesystem::path& path, const std::string& dataset);

/// Blocks of bytes packed by one of VTK's compressors.
class Unpacker {
 public:
  /// By its name, as vtkZLibDataCompressor. Throws Error(input) for another.
  Unpacker(const std::filesystem::path& path, const std::string& compressor);
  ~Unpacker();
  Unpacker(Unpacker&&) noexcept;
  Unpacker& operator=(Unpacker&&) noexcept;

  /// The most bytes that so many can be unpacked to.
  [[nodiscard]] std::uint64_t largest(std::uint64_t packed) const;
  /// False unless `packed` bytes become exactly `bytes`.
  [[nodiscard]] bool unpack(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Packs bytes as vtkZLibDataCompressor does.
[[nodiscard]] std::vector<unsigned char> packed_by_zlib(const unsigned char* from, std::size_t bytes);

}  // namespace heddle::impl

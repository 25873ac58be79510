// The numbers of a .vtu file's arrays: as text, as bytes, or packed; where they stand, or appended.
#pragma once

#include "io/matrix/element_types.hpp"
#include "io/mesh/vtk/vtk_xml.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace heddle::impl {

/// By the name that the file has for it, as Float64; nothing for another.
[[nodiscard]] std::optional<ElementType> element_type_from(const std::string& name);

/// Reads arrays, and trusts nothing that the file says of their sizes.
class VtuData {
 public:
  /// Throws Error(input) for a byte order, size of headers or way of packing that is unknown.
  VtuData(const std::filesystem::path& path, const XmlGrid& grid);

  /// Location of an array's numbers, and how many bytes of them the file can hold.
  struct Place {
    enum class Form { text, bytes, packed };
    Form form = Form::text;
    bool base64 = false;
    std::uint64_t begin = 0;                 ///< Of the text or of the encoded bytes; packed: of the first block.
    std::uint64_t end = 0;                   ///< Past all that may belong to them.
    std::uint64_t skip = 0;                  ///< Bytes before the first number: their header.
    std::uint64_t bytes = 0;                 ///< Of numbers; of text, one for each that there may be.
    std::uint64_t block = 0;                 ///< Packed: bytes of each block but the last,
    std::uint64_t last = 0;                  ///< and of that.
    std::vector<std::uint64_t> packed = {};  ///< Bytes of each block in the file.
  };
  [[nodiscard]] Place find(const XmlElement& array);
  /// Whether there may be so many numbers.
  [[nodiscard]] static bool may_hold(const Place& place, ElementType type, std::uint64_t count);
  /// Reads the first `count` numbers; false where there are fewer, or they are malformed.
  [[nodiscard]] bool read(const Place& place, ElementType type, std::uint64_t count, void* to);

 private:
  [[nodiscard]] Place bytes_at(std::uint64_t begin, std::uint64_t end, bool base64);
  void find_blocks(Place& place);
  bool read_bytes(const Place& place, std::uint64_t offset, std::uint64_t count, void* to);
  bool read_base64(const Place& place, std::uint64_t offset, std::uint64_t count, unsigned char* to);
  bool read_file(std::uint64_t begin, std::size_t count, void* to);
  bool read_words(const Place& place, std::uint64_t offset, std::uint64_t count, std::vector<std::uint64_t>& words);
  bool read_packed(const Place& place, std::uint64_t count, unsigned char* to);
  template <class Number> bool read_text(const Place& place, std::uint64_t count, Number* to);

  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::uint64_t appended_ = 0;
  bool appended_raw_ = false;
  bool swapped_ = false;
  std::size_t header_ = 4;
  std::optional<Unpacker> unpacker_;
};

}  // namespace heddle::impl

// VTK's XML files: their elements by pugixml, packed blocks by zlib, LZ4 and liblzma.
#include "io/mesh/vtk/vtk_xml.hpp"

#include "io/matrix/text_reader.hpp"
#include <heddle/core/error.hpp>

#include <lz4.h>
#include <lzma.h>
#include <pugixml.hpp>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

namespace heddle::impl {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw Error(ErrorKind::input, message_of(path.string(), ": can't be read: ", reason));
}

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
  // A file that is not VTK's XML is left to its parser, which says what it found.
  if (read(0, 1024).find("<VTKFile") == std::string::npos) return;
  if (read(std::max<std::streamoff>(0, size - 1024), 1024).rfind(end) != std::string::npos) return;
  throw Error(ErrorKind::input, message_of(path.string(), ": is cut short: it ends at byte ", size, " without ", end));
}

constexpr std::string_view appended_tag = "<AppendedData";

// The file up to its appended data, which need not be XML; all of it where there is none. Leaves the stream behind
// that.
std::string text_before_appended(std::ifstream& stream, const std::filesystem::path& path) {
  constexpr std::size_t step = std::size_t{1} << 20;
  std::string text;
  while (stream) {
    const std::size_t before = text.size();
    text.resize(before + step);
    stream.read(text.data() + before, static_cast<std::streamsize>(step));
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
    // Nothing of a file that is not XML is kept but its beginning.
    const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string::npos && text[first] != '<') refuse(path, "it does not begin with an XML element");
    const std::size_t overlap = std::min(before, appended_tag.size());
    if (const std::size_t found = text.find(appended_tag, before - overlap); found != std::string::npos) {
      text.resize(found);
      break;
    }
  }
  return text;
}

// The tag that begins at `begin`, up to its '>', and the byte behind the first '_' after it, 0 where there is none.
struct AppendedTag {
  std::string text;
  std::uint64_t data = 0;
};
AppendedTag read_appended_tag(std::istream& stream, std::uint64_t begin) {
  AppendedTag tag;
  stream.clear();
  stream.seekg(static_cast<std::streamoff>(begin));
  char quote = 0;
  bool in_tag = true;
  char character = 0;
  while (stream.get(character)) {
    if (in_tag) {
      tag.text += character;
      if (quote == 0 && character == '>') in_tag = false;
      if (character == '"' || character == '\'') quote = quote == character ? 0 : quote == 0 ? character : quote;
    } else if (character == '_') {
      tag.data = static_cast<std::uint64_t>(stream.tellg());
      break;
    } else if (static_cast<unsigned char>(character) > ' ') {
      break;
    }
  }
  return tag;
}

// Attributes have their references replaced, as &amp;. The text of elements stays as it is in the file: its place and
// length are what the parser is asked for.
constexpr unsigned int parsing = pugi::parse_minimal | pugi::parse_escapes | pugi::parse_wconv_attribute;

// Parses the text in place. `path` is read again only to say in which line an error is.
void parse(pugi::xml_document& document, std::string& text, const std::filesystem::path& path) {
  const pugi::xml_parse_result result =
      document.load_buffer_inplace(text.data(), text.size(), parsing, pugi::encoding_utf8);
  if (result) return;
  std::ifstream stream(path, std::ios::binary);
  std::size_t line = 1;
  char character = 0;
  for (std::ptrdiff_t i = 0; i < result.offset && stream.get(character); ++i) line += character == '\n' ? 1 : 0;
  refuse(path, message_of("it is no XML: ", result.description(), ", line ", line));
}

XmlElement element_of(const pugi::xml_node& node) {
  XmlElement element;
  element.name = node.name();
  for (const pugi::xml_attribute attribute : node.attributes())
    element.attributes[attribute.name()] = attribute.value();
  return element;
}

// An array, and where its text is: the first that there is.
XmlElement array_of(const pugi::xml_node& node) {
  XmlElement array = element_of(node);
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() != pugi::node_pcdata || child.offset_debug() < 0) continue;
    array.begin = static_cast<std::uint64_t>(child.offset_debug());
    array.end = array.begin + std::strlen(child.value());
    break;
  }
  return array;
}

// A piece, or a grid that is one itself: its lists of arrays.
XmlPiece piece_of(const pugi::xml_node& node) {
  XmlPiece piece;
  piece.element = element_of(node);
  for (const pugi::xml_node& list : node.children()) {
    if (list.type() != pugi::node_element) continue;
    std::vector<XmlElement>& arrays = piece.lists[list.name()];
    for (const pugi::xml_node& array : list.children()) {
      const std::string_view name = array.name();
      if (name == "DataArray" || name == "Array") arrays.push_back(array_of(array));
    }
  }
  return piece;
}

bool unpack_zlib(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) {
  uLongf length = bytes;
  return uncompress(to, &length, from, packed) == Z_OK && length == bytes;
}

bool unpack_lz4(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) {
  // It counts in int.
  if (std::max(packed, bytes) > static_cast<std::size_t>(std::numeric_limits<int>::max())) return false;
  const int length = LZ4_decompress_safe(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(to),
                                         static_cast<int>(packed), static_cast<int>(bytes));
  return length >= 0 && static_cast<std::size_t>(length) == bytes;
}

bool unpack_lzma(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) {
  // The strongest preset takes 65 MiB; a file may ask for 4 GiB.
  std::uint64_t memory = std::uint64_t{1} << 28;
  std::size_t taken = 0;
  std::size_t length = 0;
  return lzma_stream_buffer_decode(&memory, 0, nullptr, from, &taken, packed, to, &length, bytes) == LZMA_OK &&
         length == bytes;
}

}  // namespace

XmlGrid read_xml_grid(const std::filesystem::path& path, const std::string& dataset) {
  require_end(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, "can't be opened");
  XmlGrid grid;
  std::string text = text_before_appended(stream, path);
  if (const std::uint64_t begin = text.size(); begin < std::filesystem::file_size(path)) {
    AppendedTag tag = read_appended_tag(stream, begin);
    grid.appended = tag.data;
    if (tag.text.ends_with("/>")) tag.text.replace(tag.text.size() - 2, 2, ">");
    tag.text += "</AppendedData>";
    pugi::xml_document appended;
    parse(appended, tag.text, path);
    grid.appended_raw = std::string_view(appended.document_element().attribute("encoding").value()) == "raw";
    text += "</VTKFile>";
  }
  pugi::xml_document document;
  parse(document, text, path);
  const pugi::xml_node file = document.document_element();
  grid.file = element_of(file);
  const pugi::xml_node found = file.child(dataset.c_str());
  if (!found) refuse(path, "Cannot find " + dataset + " element in file");
  grid.grid = element_of(found);
  for (const pugi::xml_node& piece : found.children("Piece")) grid.pieces.push_back(piece_of(piece));
  if (grid.pieces.empty()) grid.pieces.push_back(piece_of(found));
  return grid;
}

// The ratios: in LZ4 a byte can tell of a match of 255; in zlib's format two bits of one of 258; in LZMA's some
// fourteen choices, each worth at least 0.022 bits, of one of 273.
Unpacker::Unpacker(const std::filesystem::path& path, const std::string& compressor) {
  if (compressor == "vtkZLibDataCompressor") {
    unpack_ = unpack_zlib;
    ratio_ = 1032;
  } else if (compressor == "vtkLZ4DataCompressor") {
    unpack_ = unpack_lz4;
    ratio_ = 255;
  } else if (compressor == "vtkLZMADataCompressor") {
    unpack_ = unpack_lzma;
    ratio_ = 8192;
  } else {
    refuse(path, "its compressor " + printable(compressor) + " is unknown");
  }
}

std::uint64_t Unpacker::largest(std::uint64_t packed) const {
  constexpr std::uint64_t slack = 4096;
  const std::uint64_t most = (std::numeric_limits<std::uint64_t>::max() - slack) / ratio_;
  return std::min(packed, most) * ratio_ + slack;
}

bool Unpacker::unpack(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) const {
  return unpack_(from, packed, to, bytes);
}

std::vector<unsigned char> packed_by_zlib(const unsigned char* from, std::size_t bytes) {
  constexpr int level = 5;  // VTK's own choice.
  uLongf length = compressBound(bytes);
  std::vector<unsigned char> to(length);
  if (compress2(to.data(), &length, from, bytes, level) != Z_OK) {
    throw Error(ErrorKind::computation, "zlib has no memory to pack numbers");
  }
  to.resize(length);
  return to;
}

}  // namespace heddle::impl

// XML parsing and unpacking of VTK's XML files by VTK's libraries.
#include "io/mesh/vtk_xml.hpp"

#include "io/matrix/text_reader.hpp"
#include "io/mesh/vtk_quiet.hpp"
#include <heddle/core/error.hpp>

#include <vtkDataCompressor.h>
#include <vtkLZ4DataCompressor.h>
#include <vtkLZMADataCompressor.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkXMLParser.h>
#include <vtkZLibDataCompressor.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace heddle::impl {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw Error(ErrorKind::input, message_of(path.string(), ": can't be read: ", reason));
}

// Keeps the contents of the elements VTKFile, UnstructuredGrid or another dataset's, Piece, PointData and its like, and
// DataArray, each within the one before. Without any Piece, UnstructuredGrid is one itself. Parsing ends at
// AppendedData, since anything may follow it.
class GridParser : public vtkXMLParser {
 public:
  static GridParser* New();
  GridParser(const GridParser&) = delete;
  GridParser& operator=(const GridParser&) = delete;

  void set_dataset(const std::string& name) { dataset_ = name; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool has_grid() const { return has_grid_; }
  // The byte where AppendedData begins.
  [[nodiscard]] std::uint64_t appended() const { return appended_; }
  [[nodiscard]] XmlGrid take() { return std::move(grid_); }

 protected:
  GridParser() = default;
  ~GridParser() override = default;

  void StartElement(const char* name, const char** attributes) override {
    if (ended_) return;
    end_text();
    ++depth_;
    XmlElement element;
    element.name = name;
    for (const char** attribute = attributes; *attribute != nullptr; attribute += 2) {
      element.attributes[attribute[0]] = attribute[1];
    }
    if (depth_ == 1) {
      grid_.file = std::move(element);
    } else if (depth_ == 2 && element.name == "AppendedData") {
      ended_ = true;
      appended_ = static_cast<std::uint64_t>(GetXMLByteIndex());
      const std::string* const encoding = element.find("encoding");
      grid_.appended_raw = encoding != nullptr && *encoding == "raw";
    } else if (depth_ == 2) {
      in_grid_ = !has_grid_ && element.name == dataset_;
      has_grid_ = has_grid_ || in_grid_;
      if (in_grid_) grid_.grid = whole_.element = std::move(element);
    } else if (in_grid_ && depth_ == 3 && element.name == "Piece") {
      grid_.pieces.emplace_back().element = std::move(element);
      in_piece_ = true;
    } else if (in_grid_) {
      start_within(std::move(element));
    }
  }

  void EndElement(const char*) override {
    if (ended_) return;
    end_text();
    if (depth_ == list_depth_) list_depth_ = 0;
    if (depth_ == 3) in_piece_ = false;
    if (depth_ == 2) {
      if (in_grid_ && grid_.pieces.empty()) grid_.pieces.push_back(std::move(whole_));
      in_grid_ = false;
    }
    --depth_;
  }

  void CharacterDataHandler(const char*, int) override {
    if (ended_ || array_ == nullptr || array_->begin != 0) return;
    array_->begin = static_cast<std::uint64_t>(GetXMLByteIndex());
  }

 private:
  // Within a piece: a list of arrays, or one of these.
  void start_within(XmlElement element) {
    if (list_depth_ != 0) {
      if (depth_ != list_depth_ + 1 || (element.name != "DataArray" && element.name != "Array")) return;
      list_->push_back(std::move(element));
      array_ = &list_->back();
      return;
    }
    if (depth_ != (in_piece_ ? 4 : 3)) return;
    XmlPiece& piece = in_piece_ ? grid_.pieces.back() : whole_;
    list_ = &piece.lists[element.name];
    list_depth_ = depth_;
  }
  // The text of the array ends where another element begins, or its own end.
  void end_text() {
    if (array_ == nullptr) return;
    const auto here = static_cast<std::uint64_t>(GetXMLByteIndex());
    if (array_->begin == 0) array_->begin = here;
    array_->end = here;
    array_ = nullptr;
  }

  std::string dataset_;
  XmlGrid grid_;
  XmlPiece whole_;
  int depth_ = 0;
  int list_depth_ = 0;  // Of the list that is open, or 0.
  std::vector<XmlElement>* list_ = nullptr;
  XmlElement* array_ = nullptr;
  bool in_grid_ = false;
  bool in_piece_ = false;
  bool has_grid_ = false;
  bool ended_ = false;
  std::uint64_t appended_ = 0;
};

vtkStandardNewMacro(GridParser);

// The byte behind the first '_' after the tag that begins at `begin`; 0 where there is none.
std::uint64_t behind_underscore(std::istream& stream, std::uint64_t begin) {
  stream.clear();
  stream.seekg(static_cast<std::streamoff>(begin));
  char quote = 0;
  bool in_tag = true;
  char character = 0;
  while (stream.get(character)) {
    if (!in_tag && character == '_') return static_cast<std::uint64_t>(stream.tellg());
    if (!in_tag && static_cast<unsigned char>(character) > ' ') return 0;
    if (in_tag && quote == 0 && character == '>') in_tag = false;
    if (in_tag && (character == '"' || character == '\''))
      quote = quote == character ? 0 : quote == 0 ? character : quote;
  }
  return 0;
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

}  // namespace

XmlGrid read_xml_grid(const std::filesystem::path& path, const std::string& dataset) {
  require_end(path);
  const VtkQuiet quiet;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, "can't be opened");
  const vtkNew<GridParser> parser;
  parser->set_dataset(dataset);
  parser->InitializeParser();
  std::vector<char> buffer(std::size_t{1} << 16);
  bool right = true;
  while (right && !parser->ended() && stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<unsigned int>(stream.gcount());
    if (got > 0) right = parser->ParseChunk(buffer.data(), got) != 0;
  }
  // Behind the beginning of appended data, the file need be no XML.
  if (parser->CleanupParser() == 0 && !parser->ended()) refuse(path, quiet.reason());
  if (!parser->has_grid()) refuse(path, "Cannot find " + dataset + " element in file");
  XmlGrid grid = parser->take();
  if (parser->ended()) grid.appended = behind_underscore(stream, parser->appended());
  return grid;
}

struct Unpacker::State {
  vtkSmartPointer<vtkDataCompressor> compressor;
  // Bytes of which one packed byte can tell at most: a match of 255 by a byte in LZ4; of 258 by two bits in zlib's
  // format; of 273 by some fourteen choices in LZMA's, each worth at least 0.022 bits.
  std::uint64_t ratio = 0;
};

Unpacker::Unpacker(const std::filesystem::path& path, const std::string& compressor)
    : state_(std::make_unique<State>()) {
  if (compressor == "vtkZLibDataCompressor") {
    *state_ = {vtkSmartPointer<vtkZLibDataCompressor>::New(), 1032};
  } else if (compressor == "vtkLZ4DataCompressor") {
    *state_ = {vtkSmartPointer<vtkLZ4DataCompressor>::New(), 255};
  } else if (compressor == "vtkLZMADataCompressor") {
    *state_ = {vtkSmartPointer<vtkLZMADataCompressor>::New(), 8192};
  } else {
    refuse(path, "Error creating " + printable(compressor));
  }
}

Unpacker::~Unpacker() = default;
Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker& Unpacker::operator=(Unpacker&&) noexcept = default;

std::uint64_t Unpacker::largest(std::uint64_t packed) const {
  constexpr std::uint64_t slack = 4096;
  const std::uint64_t most = (std::numeric_limits<std::uint64_t>::max() - slack) / state_->ratio;
  return std::min(packed, most) * state_->ratio + slack;
}

bool Unpacker::unpack(const unsigned char* from, std::size_t packed, unsigned char* to, std::size_t bytes) const {
  const VtkQuiet quiet;
  // Some count in int.
  if (std::max(packed, bytes) > static_cast<std::size_t>(std::numeric_limits<int>::max())) return false;
  return state_->compressor->Uncompress(from, packed, to, bytes) == bytes && quiet.reason().empty();
}

std::vector<unsigned char> packed_by_zlib(const unsigned char* from, std::size_t bytes) {
  const vtkNew<vtkZLibDataCompressor> compressor;
  std::vector<unsigned char> to(compressor->GetMaximumCompressionSpace(bytes));
  to.resize(compressor->Compress(from, bytes, to.data(), to.size()));
  return to;
}

}  // namespace heddle::impl

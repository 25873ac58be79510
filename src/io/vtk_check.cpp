#include "vtk_check.hpp"

#include "mesh_parts.hpp"
#include "text_reader.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::impl {

namespace {

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& character : text) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return text;
}

// Bytes of a number by the name of its type; 0 for what is none of fixed size.
std::size_t bytes_of(const std::string& type) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 15> types = {{{"char", 1},
                                                                               {"signed_char", 1},
                                                                               {"unsigned_char", 1},
                                                                               {"short", 2},
                                                                               {"unsigned_short", 2},
                                                                               {"int", 4},
                                                                               {"unsigned_int", 4},
                                                                               {"float", 4},
                                                                               {"vtkidtype", 4},
                                                                               {"long", 8},
                                                                               {"unsigned_long", 8},
                                                                               {"double", 8},
                                                                               {"vtktypeint64", 8},
                                                                               {"vtktypeuint64", 8},
                                                                               {"vtktypeint32", 4}}};
  const auto* const found =
      std::find_if(types.begin(), types.end(), [&](const auto& one) { return one.first == type; });
  return found == types.end() ? 0 : found->second;
}

class LegacyReader {
 public:
  explicit LegacyReader(const std::filesystem::path& path) : reader_(path) {}

  void check() {
    read_header();
    while (next_keyword()) {
      if (keyword_ == "metadata") {
        // Up to an empty line.
        while (reader_.next_line(line_) && !next_word(line_).empty()) {
        }
      } else if (keyword_ == "field") {
        if (!skip_field()) return;
      } else if (keyword_ == "points") {
        points_ = read_count("the number of points");
        const std::string type = lower(next_word(line_));
        const std::size_t bytes = bytes_of(type);
        if (bytes == 0) reader_.refuse("expected the type of the points, as double, found ", impl::quoted(type));
        require_end_of_line(reader_, line_);
        for (Index i = 0; i < 3 * points_; ++i) skip(bytes, "a coordinate", true);
        end_list();
      } else if (keyword_ == "cells") {
        read_cells();
      } else if (keyword_ == "cell_types") {
        read_types();
      } else {
        break;  // Arrays, which VTK reads.
      }
    }
    if (!has_cells_) reader_.refuse("expected CELLS, found ", found_keyword());
    if (!has_types_) reader_.refuse("expected CELL_TYPES, found ", found_keyword());
  }

 private:
  void read_header() {
    reader_.next_line(line_);
    constexpr std::string_view banner = "# vtk DataFile Version ";
    if (line_.substr(0, banner.size()) != banner) {
      reader_.refuse("expected '", banner, "...', found ", quoted(line_));
    }
    line_.remove_prefix(banner.size());
    version_ = next_number<double>(reader_, line_, "a version");
    reader_.next_line(line_);  // The title.
    const bool any = next_keyword();
    if (!any || (keyword_ != "ascii" && keyword_ != "binary")) {
      reader_.refuse("expected ASCII or BINARY, found ", found_keyword());
    }
    binary_ = keyword_ == "binary";
    if (!next_keyword() || keyword_ != "dataset") reader_.refuse("expected DATASET, found ", found_keyword());
    if (const auto word = next_word(line_); lower(word) != "unstructured_grid") {
      reader_.refuse("expected UNSTRUCTURED_GRID, found ", quoted(word));
    }
  }

  bool next_keyword() {
    keyword_.clear();
    if (!reader_.next_filled_line(line_)) return false;
    keyword_ = lower(next_word(line_));
    return true;
  }
  [[nodiscard]] std::string found_keyword() const {
    return keyword_.empty() ? "the end of the file" : impl::quoted(keyword_);
  }

  Index read_count(const char* what) {
    const auto count = next_number<Index>(reader_, line_, what);
    if (count < 0) reader_.refuse(what, " is ", count, ", where 0 or more is expected");
    // A number is at least a digit and what parts it from the next.
    if (static_cast<std::uintmax_t>(count) > reader_.size()) {
      reader_.refuse(what, " is ", count, ", more than the file's ", reader_.size(), " bytes can hold");
    }
    return count;
  }

  // The next number of a list, which may break its lines anywhere.
  void next_text(const char* what, std::string_view& word) {
    word = next_word(list_);
    while (word.empty()) {
      if (!reader_.next_line(list_)) reader_.refuse("the file ends where ", what, " is expected");
      word = next_word(list_);
    }
  }
  Index next_integer(const char* what, std::size_t bytes) {
    if (binary_) {
      std::array<unsigned char, 8> big{};
      if (!reader_.next_bytes(big.data(), bytes)) reader_.refuse("the file ends where ", what, " is expected");
      std::uint64_t value = bytes == 4 && (big[0] & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
      for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | big[i];
      return static_cast<Index>(value);
    }
    std::string_view word;
    next_text(what, word);
    return next_number<Index>(reader_, word, what);
  }
  void skip(std::size_t bytes, const char* what, bool number) {
    if (binary_) {
      std::array<char, 8> ignored{};
      if (!reader_.next_bytes(ignored.data(), bytes)) reader_.refuse("the file ends where ", what, " is expected");
      return;
    }
    std::string_view word;
    next_text(what, word);
    if (number) static_cast<void>(next_number<double>(reader_, word, what));
  }
  void end_list() {
    if (!binary_) require_end_of_line(reader_, list_);
    list_ = {};
  }

  // False where it has strings, whose length is known to VTK alone.
  bool skip_field() {
    static_cast<void>(next_word(line_));  // The name.
    const Index arrays = read_count("the number of arrays");
    for (Index i = 0; i < arrays; ++i) {
      if (!reader_.next_filled_line(line_)) reader_.refuse("the file ends where an array is expected");
      static_cast<void>(next_word(line_));
      const Index components = read_count("the number of components");
      const Index tuples = read_count("the number of tuples");
      const std::size_t bytes = bytes_of(lower(next_word(line_)));
      if (bytes == 0) return false;
      const Index numbers = components == 0 ? 0 : tuples * components;
      for (Index number = 0; number < numbers; ++number) skip(bytes, "a number of an array", false);
      end_list();
    }
    return true;
  }

  void read_cells() {
    has_cells_ = true;
    const Index count = read_count("the number of cells");
    const Index size = read_count("the size of the cells");
    require_end_of_line(reader_, line_);
    if (version_ >= 5) {
      read_offsets(count, size);
      return;
    }
    cells_ = count;
    Index left = size;
    for (Index cell = 0; cell < cells_; ++cell) {
      const Index corners = next_integer("the number of a cell's corners", 4);
      if (corners < 0 || corners >= left) {
        reader_.refuse("cell ", cell, " has ", corners, " corners, where ", left, " of the ", size,
                       " numbers of all cells are left");
      }
      left -= corners + 1;
      read_corners(cell, corners, 4);
    }
    if (left != 0) reader_.refuse("the cells have ", size - left, " numbers, where ", size, " are announced");
    end_list();
  }

  void read_corners(Index cell, Index corners, std::size_t bytes) {
    for (Index i = 0; i < corners; ++i) {
      const Index corner = next_integer("a cell's corner", bytes);
      if (corner < 0 || corner >= points_) reader_.refuse(wrong_corner(cell, corner, points_));
    }
  }

  std::size_t next_part(const char* name) {
    if (!next_keyword() || keyword_ != lower(name)) reader_.refuse("expected ", name, ", found ", found_keyword());
    const std::string type = lower(next_word(line_));
    const std::size_t bytes = bytes_of(type);
    if (bytes < 4) reader_.refuse("expected the type of the ", name, ", as vtktypeint64, found ", impl::quoted(type));
    return bytes;
  }
  void read_offsets(Index offsets, Index corners) {
    cells_ = std::max<Index>(0, offsets - 1);
    if (offsets == 0) return;
    const std::size_t offset_bytes = next_part("OFFSETS");
    Index last = 0;
    for (Index i = 0; i < offsets; ++i) {
      const Index offset = next_integer("an offset", offset_bytes);
      if (offset < last || offset > corners) {
        reader_.refuse("offset ", i, " is ", offset, ", where ", last, " to ", corners, " is expected");
      }
      last = offset;
    }
    end_list();
    const std::size_t bytes = next_part("CONNECTIVITY");
    for (Index i = 0; i < corners; ++i) {
      const Index corner = next_integer("a cell's corner", bytes);
      if (corner < 0 || corner >= points_) {
        reader_.refuse("corner ", i, " of all is ", corner, ", where there are ", points_, " points, numbered from 0");
      }
    }
    end_list();
  }

  void read_types() {
    has_types_ = true;
    const Index count = read_count("the number of types");
    require_end_of_line(reader_, line_);
    if (count != cells_) reader_.refuse("there are ", count, " types, where there are ", cells_, " cells");
    for (Index cell = 0; cell < cells_; ++cell) {
      const Index type = next_integer("the type of a cell", 4);
      const bool known = type >= 0 && type < 256 && corners_of(static_cast<CellKind>(type)) > 0;
      if (!known) reader_.refuse(wrong_kind(cell, static_cast<int>(type)));
    }
    end_list();
  }

  TextReader reader_;
  double version_ = 0;
  bool binary_ = false;
  std::string keyword_;
  std::string_view line_;
  std::string_view list_;
  Index points_ = 0;
  Index cells_ = 0;
  bool has_cells_ = false;
  bool has_types_ = false;
};

}  // namespace

void check_legacy(const std::filesystem::path& path) {
  LegacyReader(path).check();
}

void check_xml(const std::filesystem::path& path) {
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

}  // namespace heddle::impl

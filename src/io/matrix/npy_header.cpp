// Header of NumPy's .npy files.
#include "io/matrix/npy_header.hpp"

#include "io/matrix/panels.hpp"
#include "io/matrix/text_reader.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::impl {

namespace {

// The dictionary in a head is written as Python writes one: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4),
// }.
class Dictionary {
 public:
  Dictionary(std::string name, std::string_view text) : name_(std::move(name)), rest_(text) {}

  // Values of the keys; each key occurs once.
  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;

  void parse() {
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = text();
      expect(':');
      bool* const had = key == "descr" ? &has_descr : key == "fortran_order" ? &has_order : &has_shape;
      if ((had == &has_shape && key != "shape") || std::exchange(*had, true)) {
        refuse(message_of("expected 'descr', 'fortran_order' and 'shape' once each, found ", impl::quoted(key)));
      }
      if (had == &has_descr) descr = text();
      if (had == &has_order) fortran_order = truth();
      if (had == &has_shape) shape = extents();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) refuse("expected 'descr', 'fortran_order' and 'shape'");
    skip_blanks();
    if (!rest_.empty()) refuse(message_of("expected the end of it, found ", impl::quoted(rest_)));
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ErrorKind::input, message_of(name_, ": its header is malformed: ", reason));
  }
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(char mark) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != mark) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char mark) {
    if (!take(mark)) refuse(message_of("expected '", mark, "', found ", impl::quoted(rest_)));
  }
  std::string text() {
    skip_blanks();
    const char mark = rest_.empty() ? ' ' : rest_.front();
    const std::size_t end = mark == '\'' || mark == '"' ? rest_.find(mark, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      refuse(message_of("expected a word in quotes (arrays of records have none), found ", impl::quoted(rest_)));
    }
    const std::string word(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return word;
  }
  bool truth() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse(message_of("expected True or False, found ", impl::quoted(rest_)));
  }
  std::vector<Index> extents() {
    std::vector<Index> all;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      Index extent = 0;
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error == std::errc::result_out_of_range) refuse("an extent is too large");
      if (error != std::errc() || extent < 0) refuse(message_of("expected an extent, found ", impl::quoted(rest_)));
      rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
      if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // As Python 2 wrote some.
      all.push_back(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return all;
  }

  std::string name_;
  std::string_view rest_;
};

void take_type(const std::string& name, const std::string& descr, NpyHeader& header) {
  constexpr std::string_view known[] = {"f2", "f4", "f8", "c8", "c16", "b1", "i1",
                                        "i2", "i4", "i8", "u1", "u2",  "u4", "u8"};
  const std::string_view type = descr.size() > 1 ? std::string_view(descr).substr(1) : std::string_view();
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr.front()) != std::string_view::npos;
  if (!has_order || std::find(std::begin(known), std::end(known), type) == std::end(known)) {
    throw Error(ErrorKind::input,
                message_of(name, ": holds elements of type ", impl::quoted(descr),
                           ", where real or complex numbers of up to 8 bytes a part, or integers, are expected"));
  }
  std::from_chars(type.data() + 1, type.data() + type.size(), header.bytes_each);
  header.kind = type[0] == 'f'   ? NpyKind::real
                : type[0] == 'c' ? NpyKind::complex
                : type[0] == 'i' ? NpyKind::whole
                                 : NpyKind::natural;
  constexpr bool little = std::endian::native == std::endian::little;
  header.swapped = descr.front() == (little ? '>' : '<');
}

void take_shape(const std::string& name, const std::vector<Index>& shape, NpyHeader& header) {
  if (shape.size() > 2) {
    throw Error(ErrorKind::input,
                message_of(name, ": has ", shape.size(), " dimensions, where a matrix has 2 and a vector has 1"));
  }
  header.rows = shape.empty() ? 1 : shape[0];
  header.columns = shape.size() < 2 ? 1 : shape[1];
  constexpr Index largest = std::numeric_limits<Index>::max() / 64;
  if (header.rows > largest || header.columns > largest ||
      (header.columns > 0 && header.rows > largest / header.columns)) {
    throw Error(ErrorKind::input,
                message_of(name, ": has ", header.rows, " x ", header.columns, " elements, too many for a matrix"));
  }
}

// The dictionary's text; `data` is the byte behind it. Nothing where the file ends before it does.
std::optional<std::string> dictionary_text(std::ifstream& file, int version, std::uint64_t& data) {
  std::array<unsigned char, 4> digits = {};
  const std::size_t width = version == 1 ? 2 : 4;
  if (!file.read(reinterpret_cast<char*>(digits.data()), static_cast<std::streamsize>(width))) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t k = width; k-- > 0;) length = 256 * length + digits[k];
  constexpr std::size_t most = std::size_t{1} << 20;  // Of a matrix it has some hundred bytes.
  if (length > most) return std::nullopt;
  std::string text(length, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(length))) return std::nullopt;
  data = 8 + width + length;
  return text;
}

}  // namespace

NpyHeader read_npy_header(const std::filesystem::path& path) {
  require_readable(path);
  const std::string name = path.string();
  const auto refuse = [&](const auto&... parts) { throw Error(ErrorKind::input, message_of(name, ": ", parts...)); };
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> magic = {};
  if (!file.read(magic.data(), magic.size()) || std::string_view(magic.data(), 6) != "\x93NUMPY") {
    refuse("is no file of NumPy's, which begins with \\x93NUMPY and a version");
  }
  const int version = static_cast<unsigned char>(magic[6]);
  if (version < 1 || version > 3 || magic[7] != 0) {
    refuse("has format version ", version, ".", static_cast<int>(static_cast<unsigned char>(magic[7])),
           "; expected 1.0, 2.0 or 3.0");
  }
  NpyHeader header;
  const std::optional<std::string> text = dictionary_text(file, version, header.data);
  if (!text) refuse("ends within its header, or has one that is no matrix's");
  Dictionary dictionary(name, *text);
  dictionary.parse();
  take_type(name, dictionary.descr, header);
  take_shape(name, dictionary.shape, header);
  header.by_columns = dictionary.fortran_order || header.rows == 1 || header.columns == 1;
  const std::uint64_t expected =
      static_cast<std::uint64_t>(header.rows) * static_cast<std::uint64_t>(header.columns) * header.bytes_each;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) refuse("is not a regular file");
  if (size - header.data != expected) {
    refuse("has ", size - header.data, " bytes of elements, where a ", header.rows, " x ", header.columns,
           " array of '", dictionary.descr, "' has ", expected);
  }
  return header;
}

}  // namespace heddle::impl

// Numbers of the arrays of VTK's XML files.
#include "io/mesh/vtk/vtu_data.hpp"

#include "io/matrix/text_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle::impl {

namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 10> xml_types = {{{"Int8", ElementType::int8},
                                                                                 {"UInt8", ElementType::uint8},
                                                                                 {"Int16", ElementType::int16},
                                                                                 {"UInt16", ElementType::uint16},
                                                                                 {"Int32", ElementType::int32},
                                                                                 {"UInt32", ElementType::uint32},
                                                                                 {"Int64", ElementType::int64},
                                                                                 {"UInt64", ElementType::uint64},
                                                                                 {"Float32", ElementType::float32},
                                                                                 {"Float64", ElementType::float64}}};

bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

void swap_bytes(unsigned char* words, std::uint64_t count, std::size_t bytes) {
  for (std::uint64_t i = 0; i < count; ++i) std::reverse(words + i * bytes, words + (i + 1) * bytes);
}

// Value of a character in base 64, or -1.
int digit_of(unsigned char character) {
  if (character >= 'A' && character <= 'Z') return character - 'A';
  if (character >= 'a' && character <= 'z') return character - 'a' + 26;
  if (character >= '0' && character <= '9') return character - '0' + 52;
  return character == '+' ? 62 : character == '/' ? 63 : -1;
}

// The bytes of four characters, 1 to 3 of them; 0 where they are no base 64.
std::size_t decode(const char* four, unsigned char* three) {
  std::uint32_t bits = 0;
  const std::size_t padding = four[3] != '=' ? 0 : four[2] != '=' ? 1 : 2;
  for (std::size_t i = 0; i < 4; ++i) {
    const int digit = i < 4 - padding ? digit_of(static_cast<unsigned char>(four[i])) : 0;
    if (digit < 0) return 0;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
  }
  for (std::size_t i = 0; i < 3; ++i) three[i] = static_cast<unsigned char>(bits >> (16 - 8 * i) & 0xffU);
  return 3 - padding;
}

}  // namespace

std::optional<ElementType> element_type_from(const std::string& name) {
  for (const auto& [known, type] : xml_types) {
    if (known == name) return type;
  }
  return std::nullopt;
}

VtuData::VtuData(const std::filesystem::path& path, const XmlGrid& grid)
    : path_(path),
      stream_(path, std::ios::binary),
      size_(std::filesystem::file_size(path)),
      appended_(grid.appended),
      appended_raw_(grid.appended_raw) {
  const auto refuse = [&](const char* what, const std::string& value) {
    throw Error(ErrorKind::input,
                message_of(path.string(), ": can't be read: Unsupported ", what, "=", impl::quoted(value)));
  };
  constexpr bool little = std::endian::native == std::endian::little;
  if (const std::string* const order = grid.file.find("byte_order"); order != nullptr) {
    if (*order != "BigEndian" && *order != "LittleEndian") refuse("byte_order", *order);
    swapped_ = (*order == "LittleEndian") != little;
  }
  if (const std::string* const header = grid.file.find("header_type"); header != nullptr) {
    if (*header != "UInt32" && *header != "UInt64") refuse("header_type", *header);
    header_ = *header == "UInt64" ? 8 : 4;
  }
  if (const std::string* const compressor = grid.file.find("compressor"); compressor != nullptr) {
    unpacker_.emplace(path, *compressor);
  }
}

VtuData::Place VtuData::find(const XmlElement& array) {
  if (const std::string* const offset = array.find("offset"); offset != nullptr) {
    std::uint64_t bytes = 0;
    std::string_view rest = *offset;
    const bool right = number_from(next_word(rest), bytes) == NumberFault::none;
    if (!right || appended_ == 0 || bytes > size_ - appended_) return {Place::Form::bytes};
    return bytes_at(appended_ + bytes, size_, !appended_raw_);
  }
  const std::string* const format = array.find("format");
  if (format == nullptr || *format != "binary") {
    // A number takes two characters, with what parts it from the next.
    return {Place::Form::text, false, array.begin, array.end, 0, (array.end - array.begin + 1) / 2};
  }
  std::uint64_t begin = array.begin;
  for (char character = ' '; begin < array.end; ++begin) {
    if (!read_file(begin, 1, &character) || !is_space(character)) break;
  }
  return bytes_at(begin, array.end, true);
}

VtuData::Place VtuData::bytes_at(std::uint64_t begin, std::uint64_t end, bool base64) {
  Place place = {unpacker_ ? Place::Form::packed : Place::Form::bytes, base64, begin, end};
  if (unpacker_) {
    find_blocks(place);
    return place;
  }
  std::vector<std::uint64_t> length;
  if (!read_words(place, 0, 1, length)) return place;
  place.skip = header_;
  const std::uint64_t encoded = base64 ? (end - begin) / 4 * 3 : end - begin;
  if (length[0] <= encoded - header_) place.bytes = length[0];
  return place;
}

// Number of blocks, bytes of each, bytes of the last where it has fewer, and packed bytes of each.
void VtuData::find_blocks(Place& place) {
  std::vector<std::uint64_t> head;
  if (!read_words(place, 0, 3, head)) return;
  const std::uint64_t blocks = head[0];
  const std::uint64_t room = place.end - place.begin;
  if (blocks == 0 || blocks > room / header_ || head[1] == 0 || head[2] > head[1]) return;
  if (!read_words(place, 3 * header_, blocks, place.packed)) return;
  place.block = head[1];
  place.last = head[2] == 0 ? head[1] : head[2];
  const std::uint64_t header = (3 + blocks) * header_;
  place.begin += place.base64 ? (header + 2) / 3 * 4 : header;
  std::uint64_t left = place.base64 ? (place.end - place.begin) / 4 * 3 : place.end - place.begin;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t bytes = i + 1 < blocks ? place.block : place.last;
    if (place.packed[i] > left || bytes > unpacker_->largest(place.packed[i])) return;
    left -= place.packed[i];
  }
  // No overflow: each block is within a ratio of what is in the file.
  place.bytes = (blocks - 1) * place.block + place.last;
}

bool VtuData::may_hold(const Place& place, ElementType type, std::uint64_t count) {
  return count <= place.bytes / (place.form == Place::Form::text ? 1 : bytes_of(type));
}

bool VtuData::read(const Place& place, ElementType type, std::uint64_t count, void* to) {
  if (!may_hold(place, type, count)) return false;
  if (count == 0) return true;
  if (place.form == Place::Form::text) {
    return with_type(type, [&](auto number) { return read_text(place, count, static_cast<decltype(number)*>(to)); });
  }
  const std::size_t each = bytes_of(type);
  auto* const bytes = static_cast<unsigned char*>(to);
  const bool whole = place.form == Place::Form::packed ? read_packed(place, count * each, bytes)
                                                       : read_bytes(place, place.skip, count * each, bytes);
  if (whole && swapped_) swap_bytes(bytes, count, each);
  return whole;
}

bool VtuData::read_file(std::uint64_t begin, std::size_t count, void* to) {
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(begin));
  stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
  return static_cast<std::size_t>(stream_.gcount()) == count;
}

bool VtuData::read_bytes(const Place& place, std::uint64_t offset, std::uint64_t count, void* to) {
  if (place.base64) return read_base64(place, offset, count, static_cast<unsigned char*>(to));
  const std::uint64_t room = place.end - place.begin;
  return offset <= room && count <= room - offset && read_file(place.begin + offset, count, to);
}

bool VtuData::read_base64(const Place& place, std::uint64_t offset, std::uint64_t count, unsigned char* to) {
  const std::uint64_t groups = (place.end - place.begin) / 4;
  if (offset > 3 * groups || count > 3 * groups - offset) return false;
  constexpr std::uint64_t most = std::uint64_t{1} << 16;
  const std::uint64_t last = (offset + count + 2) / 3;
  std::vector<char> text(static_cast<std::size_t>(4 * std::min(most, last - offset / 3)));
  for (std::uint64_t first = offset / 3; first < last; first += most) {
    const std::uint64_t now = std::min(most, last - first);
    if (!read_file(place.begin + 4 * first, static_cast<std::size_t>(4 * now), text.data())) return false;
    for (std::uint64_t group = first; group < first + now; ++group) {
      std::array<unsigned char, 3> three{};
      const std::size_t found = decode(text.data() + 4 * (group - first), three.data());
      const std::uint64_t from = std::max(offset, 3 * group);
      const std::uint64_t until = std::min(offset + count, 3 * group + 3);
      if (until > 3 * group + found) return false;
      std::copy(three.data() + (from - 3 * group), three.data() + (until - 3 * group), to + (from - offset));
    }
  }
  return true;
}

bool VtuData::read_words(const Place& place, std::uint64_t offset, std::uint64_t count,
                         std::vector<std::uint64_t>& words) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count * header_));
  if (!read_bytes(place, offset, count * header_, bytes.data())) return false;
  if (swapped_) swap_bytes(bytes.data(), count, header_);
  words.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t narrow = 0;
    if (header_ == 8) {
      std::memcpy(&words[i], bytes.data() + i * 8, 8);
    } else {
      std::memcpy(&narrow, bytes.data() + i * 4, 4);
      words[i] = narrow;
    }
  }
  return true;
}

bool VtuData::read_packed(const Place& place, std::uint64_t count, unsigned char* to) {
  std::vector<unsigned char> packed;
  std::vector<unsigned char> cut;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < place.packed.size() && count > 0; ++i) {
    const std::uint64_t bytes = i + 1 < place.packed.size() ? place.block : place.last;
    packed.resize(static_cast<std::size_t>(place.packed[i]));
    if (!read_bytes(place, offset, packed.size(), packed.data())) return false;
    offset += packed.size();
    // The last block needed may be longer than the room for it.
    unsigned char* whole = to;
    if (bytes > count) {
      cut.resize(static_cast<std::size_t>(bytes));
      whole = cut.data();
    }
    if (!unpacker_->unpack(packed.data(), packed.size(), whole, static_cast<std::size_t>(bytes))) return false;
    const std::uint64_t taken = std::min(bytes, count);
    if (whole != to) std::copy_n(whole, taken, to);
    to += taken;
    count -= taken;
  }
  return count == 0;
}

template <class Number> bool VtuData::read_text(const Place& place, std::uint64_t count, Number* to) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  std::vector<char> text;
  std::string word;
  const auto end_word = [&] {
    const bool right = number_from<Number>(word, *to) == NumberFault::none;
    word.clear();
    ++to;
    --count;
    return right;
  };
  for (std::uint64_t begin = place.begin; begin < place.end && count > 0; begin += text.size()) {
    text.resize(static_cast<std::size_t>(std::min(most, place.end - begin)));
    if (!read_file(begin, text.size(), text.data())) return false;
    for (const char character : text) {
      if (!is_space(character)) {
        word += character;
      } else if (!word.empty()) {
        if (!end_word()) return false;
        if (count == 0) return true;
      }
    }
  }
  return count == 0 || (!word.empty() && end_word() && count == 0);
}

}  // namespace heddle::impl

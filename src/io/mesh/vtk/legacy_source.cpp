// Lines, lists of numbers and strings of a legacy .vtk file, as text or as bytes.
#include "io/mesh/vtk/legacy_source.hpp"

#include <array>
#include <utility>

namespace heddle::impl {

namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 17> legacy_types = {
    {{"char", ElementType::int8},
     {"signed_char", ElementType::int8},
     {"unsigned_char", ElementType::uint8},
     {"short", ElementType::int16},
     {"unsigned_short", ElementType::uint16},
     {"int", ElementType::int32},
     {"unsigned_int", ElementType::uint32},
     {"float", ElementType::float32},
     {"vtkidtype", ElementType::int32},
     {"long", ElementType::int64},
     {"unsigned_long", ElementType::uint64},
     {"double", ElementType::float64},
     {"vtktypeint64", ElementType::int64},
     {"vtktypeuint64", ElementType::uint64},
     {"vtktypeint32", ElementType::int32},
     {"vtktypeuint32", ElementType::uint32},
     {"vtktypefloat64", ElementType::float64}}};

constexpr std::array<std::pair<std::string_view, LegacyDataset>, 5> datasets = {
    {{"unstructured_grid", LegacyDataset::unstructured_grid},
     {"polydata", LegacyDataset::polydata},
     {"structured_points", LegacyDataset::structured_points},
     {"structured_grid", LegacyDataset::structured_grid},
     {"rectilinear_grid", LegacyDataset::rectilinear_grid}}};

int hexadecimal(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  return character >= 'A' && character <= 'F' ? character - 'A' + 10 : -1;
}

}  // namespace

std::optional<ElementType> legacy_type_from(const std::string& name) {
  for (const auto& [known, type] : legacy_types) {
    if (known == name) return type;
  }
  return std::nullopt;
}

LegacySource::LegacySource(const std::filesystem::path& path) : reader_(path) {
  reader_.next_line(line_);
  constexpr std::string_view banner = "# vtk DataFile Version ";
  if (line_.substr(0, banner.size()) != banner) {
    refuse("expected '", banner, "...', found ", impl::quoted(line_));
  }
  line_.remove_prefix(banner.size());
  version_ = next_number<double>(reader_, line_, "a version");
  reader_.next_line(line_);  // The title.
  const bool any = next_keyword();
  if (!any || (keyword_ != "ascii" && keyword_ != "binary")) {
    refuse("expected ASCII or BINARY, found ", found_keyword());
  }
  binary_ = keyword_ == "binary";
  if (!next_keyword() || keyword_ != "dataset") refuse("expected DATASET, found ", found_keyword());
  const auto kind = word();
  const auto* const found =
      std::find_if(datasets.begin(), datasets.end(), [&](const auto& dataset) { return dataset.first == lower(kind); });
  if (found == datasets.end()) {
    refuse("expected UNSTRUCTURED_GRID, POLYDATA, STRUCTURED_POINTS, STRUCTURED_GRID or RECTILINEAR_GRID, found ",
           impl::quoted(kind));
  }
  dataset_ = found->second;
}

bool LegacySource::next_line() {
  while (reader_.next_filled_line(line_)) {
    std::string_view rest = line_;
    if (lower(next_word(rest)) != "metadata") return true;
    // Up to an empty line.
    while (reader_.next_line(line_) && !next_word(line_).empty()) {
    }
  }
  line_ = {};
  return false;
}

bool LegacySource::next_keyword() {
  keyword_.clear();
  if (!next_line()) return false;
  keyword_ = lower(word());
  return true;
}

std::string LegacySource::found_keyword() const {
  return keyword_.empty() ? "the end of the file" : impl::quoted(keyword_);
}

std::string LegacySource::name(const char* what) {
  const std::string_view text = word();
  if (text.empty()) refuse("expected ", what, ", found the end of the line");
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hexadecimal(text[i + 1]) : -1;
    const int low = high >= 0 ? hexadecimal(text[i + 2]) : -1;
    name += low < 0 ? text[i] : static_cast<char>(16 * high + low);
    if (low >= 0) i += 2;
  }
  return name;
}

ElementType LegacySource::type(const char* what) {
  const std::string name = lower(word());
  const auto type = legacy_type_from(name);
  if (!type) refuse("expected the type of ", what, ", as double, found ", impl::quoted(name));
  return *type;
}

Index LegacySource::count(const char* what) {
  const auto count = next_number<Index>(reader_, line_, what);
  if (count < 0) refuse(what, " is ", count, ", where 0 or more is expected");
  // A number is at least a digit and what parts it from the next.
  if (static_cast<std::uintmax_t>(count) > reader_.size()) {
    refuse(what, " is ", count, ", more than the file's ", reader_.size(), " bytes can hold");
  }
  return count;
}

bool LegacySource::has_room(Index tuples, Index components, ElementType type) const {
  const std::uintmax_t most = binary_ ? reader_.size() / bytes_of(type) : reader_.size() / 2 + 1;
  return components == 0 || static_cast<std::uintmax_t>(tuples) <= most / static_cast<std::uintmax_t>(components);
}

void LegacySource::skip(Index count, ElementType type, const char* what) {
  with_type(type, [&](auto number) { read_each<decltype(number)>(count, what, [](Index, auto) {}); });
}

void LegacySource::skip_strings(Index count) {
  std::string_view ignored;
  for (Index i = 0; i < count; ++i) {
    if (!binary_) {
      if (!reader_.next_line(ignored)) refuse("the file ends where a string is expected");
      continue;
    }
    // Its length: 6, 14 or 30 bits, or 8 bytes that begin with two zeros; the first two bits say which.
    const auto next_byte = [&] {
      std::uint8_t byte = 0;
      if (!reader_.next_bytes(&byte, 1)) refuse("the file ends where a string is expected");
      return byte;
    };
    const std::uint8_t first = next_byte();
    const int more = first >> 6U == 3 ? 0 : first >> 6U == 2 ? 1 : first >> 6U == 1 ? 3 : 7;
    std::uint64_t length = first & 0x3fU;
    for (int byte = 0; byte < more; ++byte) length = length << 8U | next_byte();
    if (length > reader_.size()) refuse("a string of ", length, " bytes, more than the file's ", reader_.size());
    for (std::uint64_t byte = 0; byte < length; ++byte) next_byte();
  }
}

}  // namespace heddle::impl

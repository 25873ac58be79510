// The lines, lists of numbers and strings of a .vtk file, be they text or bytes.
#pragma once

#include "io/matrix/element_types.hpp"
#include "io/matrix/text_reader.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::impl {

/// A type by the name that the format has for it, of which vtkIdType is 32 bits in the file.
[[nodiscard]] std::optional<ElementType> legacy_type_from(const std::string& name);

/// Types of datasets.
enum class LegacyDataset { unstructured_grid, polydata, structured_points, structured_grid, rectilinear_grid };

class LegacySource {
 public:
  /// Opens the file and reads its header, up to DATASET and its kind.
  explicit LegacySource(const std::filesystem::path& path);

  [[nodiscard]] LegacyDataset dataset() const noexcept { return dataset_; }

  [[nodiscard]] double version() const noexcept { return version_; }
  [[nodiscard]] bool binary() const noexcept { return binary_; }

  /// Begins the next line that has anything on it; false at the end of the file. METADATA are passed over.
  bool next_line();
  /// The next word of the line, as it is; empty at its end.
  std::string_view word() { return next_word(line_); }
  /// Begins the next line and reads its first word, in small letters.
  bool next_keyword();
  [[nodiscard]] const std::string& keyword() const noexcept { return keyword_; }
  /// Return the text found where another keyword is expected.
  [[nodiscard]] std::string found_keyword() const;
  /// The line's next word as a name, in which %20 is a space.
  std::string name(const char* what);
  /// The line's next word as a type of numbers.
  ElementType type(const char* what);
  /// The line's next word as a number of things, of which the file has room for each.
  Index count(const char* what);
  /// The line's next word as a number of any sign.
  template <class Number> Number number(const char* what) { return next_number<Number>(reader_, line_, what); }
  void end_line() { require_end_of_line(reader_, line_); }

  /// Whether the file can hold so many tuples of numbers of that type.
  [[nodiscard]] bool has_room(Index tuples, Index components, ElementType type) const;
  /// Bytes in the file.
  [[nodiscard]] std::uintmax_t size() const noexcept { return reader_.size(); }
  [[nodiscard]] const std::string& file() const noexcept { return reader_.name(); }
  /// Reads a list of numbers, which as text may break its lines anywhere, and what ends it.
  template <class Number> void read(Index count, Number* to, const char* what);
  /// The same, one by one, each handed to `take` with its place.
  template <class Number, class Take> void read_each(Index count, const char* what, const Take& take);
  /// Goes past a list.
  void skip(Index count, ElementType type, const char* what);
  void skip_strings(Index count);

  /// Return the message of refuse().
  [[nodiscard]] std::string described(const std::string& what) const {
    return message_of(reader_.name(), ", ", reader_.place(), ": ", what);
  }
  /// Throws Error(input) about what was read last.
  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const { reader_.refuse(parts...); }

 private:
  template <class Number> Number next_listed(const char* what);
  template <class Number> void read_bytes(Index count, Number* to, const char* what);

  TextReader reader_;
  double version_ = 0;
  LegacyDataset dataset_ = LegacyDataset::unstructured_grid;
  bool binary_ = false;
  std::string keyword_;
  std::string_view line_;
  std::string_view list_;
};

template <class Number> Number LegacySource::next_listed(const char* what) {
  std::string_view word = next_word(list_);
  while (word.empty()) {
    if (!reader_.next_line(list_)) refuse("the file ends where ", what, " is expected");
    word = next_word(list_);
  }
  Number value{};
  const NumberFault fault = number_from(word, value);
  if (fault == NumberFault::out_of_range) refuse(what, " ", impl::quoted(word), " is out of range");
  if (fault == NumberFault::malformed) refuse("expected ", what, ", found ", impl::quoted(word));
  return value;
}

// The most significant byte is the first.
template <class Number> void LegacySource::read_bytes(Index count, Number* to, const char* what) {
  constexpr Index each = (Index{1} << 16) / static_cast<Index>(sizeof(Number));
  for (Index done = 0; done < count; done += each) {
    const auto now = static_cast<std::size_t>(std::min(each, count - done));
    if (!reader_.next_bytes(to + done, now * sizeof(Number))) refuse("the file ends where ", what, " is expected");
    if constexpr (std::endian::native == std::endian::little && sizeof(Number) > 1) {
      auto* const bytes = reinterpret_cast<unsigned char*>(to + done);
      for (std::size_t i = 0; i < now; ++i) std::reverse(bytes + i * sizeof(Number), bytes + (i + 1) * sizeof(Number));
    }
  }
}

template <class Number, class Take> void LegacySource::read_each(Index count, const char* what, const Take& take) {
  for (Index i = 0; i < count; ++i) {
    Number value{};
    if (binary_) {
      read_bytes(1, &value, what);
    } else {
      value = next_listed<Number>(what);
    }
    take(i, value);
  }
  if (!binary_) require_end_of_line(reader_, list_);
  list_ = {};
}

template <class Number> void LegacySource::read(Index count, Number* to, const char* what) {
  if (binary_) {
    read_bytes(count, to, what);
  } else {
    read_each<Number>(count, what, [&](Index i, Number value) { to[i] = value; });
  }
}

}  // namespace heddle::impl

// Lines of a text file, with their numbers, and the numbers on them; bytes between lines, where a format has them.
#pragma once

#include <heddle/core/error.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::impl {

/// Byte order mark that may stand before the first line of a text in UTF-8.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Reads a file line by line through one buffer. A byte order mark of UTF-8 before the first line is passed over.
/// Throws Error(input) where the file can't be read.
class TextReader {
 public:
  explicit TextReader(const std::filesystem::path& path);

  /// The next line without its end (LF or CR LF), or false at the end of the file. Valid until the next call.
  bool next_line(std::string_view& line);
  /// The next line that has anything on it.
  bool next_filled_line(std::string_view& line);
  /// The next `count` bytes as they are, or false where the file has fewer left. Lines in them are not counted: from
  /// here on, places are bytes.
  bool next_bytes(void* to, std::size_t count);

  /// Number of the line read last, from 1.
  [[nodiscard]] long long line_number() const noexcept { return line_number_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Place where the line or the bytes read last begin: "line N", or "byte N" in a file that has had bytes.
  [[nodiscard]] std::string place() const;
  /// Bytes in the file.
  [[nodiscard]] std::uintmax_t size() const noexcept { return size_; }

  /// Throws Error(input) "FILE, line N: ..." about what was read last.
  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    throw Error(ErrorKind::input, message_of(name_, ", ", place(), ": ", parts...));
  }

 private:
  bool refill();

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uintmax_t size_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uintmax_t dropped_ = 0;  // Bytes before those in the buffer.
  std::uintmax_t last_ = 0;     // Byte where what was read last begins.
  bool had_bytes_ = false;
  long long line_number_ = 0;
};

/// The text up to the next white space, taken off the front of `rest`; empty where nothing is left.
[[nodiscard]] std::string_view next_word(std::string_view& rest);

/// In small letters.
[[nodiscard]] std::string lower(std::string_view word);

/// A word as it may appear in a message: shortened, without control characters.
[[nodiscard]] std::string printable(std::string_view word);
/// The same in quotes.
[[nodiscard]] std::string quoted(std::string_view word);

enum class NumberFault { none, malformed, out_of_range };

/// A number as Fortran writes it, in C's form: with D or Q in place of E, or, behind digits with a point, three digits
/// of an exponent and their sign without any letter. `read` characters of it are a number already. Empty where it is
/// none.
[[nodiscard]] std::string from_fortran(std::string_view word, std::size_t read);

/// A whole word as a number: decimal, correctly rounded, in C's form or Fortran's. Numbers that are too small
/// become zero or subnormal; inf and nan are accepted.
template <class Number> [[nodiscard]] NumberFault number_from(std::string_view word, Number& value) {
  std::string_view digits = word;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  if constexpr (std::is_floating_point_v<Number>) {
    if (stop != end && stop != digits.data()) {
      const std::string text = from_fortran(digits, static_cast<std::size_t>(stop - digits.data()));
      return text.empty() ? NumberFault::malformed : number_from(text, value);
    }
    if (error == std::errc::result_out_of_range && stop == end) {
      const std::string text(digits);
      value = std::is_same_v<Number, float> ? static_cast<Number>(std::strtof(text.c_str(), nullptr))
                                            : static_cast<Number>(std::strtod(text.c_str(), nullptr));
      if (std::isfinite(value)) error = {};
    }
  }
  if (error == std::errc::result_out_of_range) return NumberFault::out_of_range;
  return error == std::errc() && stop == end ? NumberFault::none : NumberFault::malformed;
}

/// The next word of the line as a number; `what` names it in the error. Decimal, correctly rounded, finite.
template <class Number>
[[nodiscard]] Number next_number(const TextReader& reader, std::string_view& rest, const char* what) {
  const std::string_view word = next_word(rest);
  if (word.empty()) reader.refuse("expected ", what, ", found the end of the line");
  Number value{};
  const NumberFault fault = number_from(word, value);
  if (fault == NumberFault::out_of_range) reader.refuse(what, " ", quoted(word), " is out of range");
  if (fault == NumberFault::malformed) reader.refuse("expected ", what, ", found ", quoted(word));
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) reader.refuse(what, " ", quoted(word), " is not finite");
  }
  return value;
}

/// Refuses anything but white space.
void require_end_of_line(const TextReader& reader, std::string_view rest);

}  // namespace heddle::impl

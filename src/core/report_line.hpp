// Reports as text: Name(field=value, ...), the form in which Python's data classes print.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::impl {

/// Collects the fields of a report and writes them at once, so that a stream's width applies to the whole text. Numbers
/// have the fewest digits that give the same number again, whatever the stream's precision and locale.
class ReportLine {
 public:
  explicit ReportLine(std::string_view name) : text_(name) { text_ += '('; }

  /// Add a field. A vector shows at most its first six elements, and then how many it has.
  template <class Value> ReportLine& field(std::string_view name, const Value& value) {
    if (text_.back() != '(') text_ += ", ";
    text_ += name;
    text_ += '=';
    add(value);
    return *this;
  }

  [[nodiscard]] std::string text() const { return text_ + ')'; }

 private:
  template <class Value> void add(const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<Value>) {
      char digits[32];
      text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    } else if constexpr (std::is_enum_v<Value>) {
      text_ += to_string(value);
    } else if constexpr (requires { value.has_value(); }) {
      if (value) {
        add(*value);
      } else {
        text_ += "none";
      }
    } else {
      std::ostringstream other;
      other << value;
      text_ += other.str();
    }
  }
  template <class Value> void add(const std::vector<Value>& values) {
    constexpr std::size_t most = 6;
    text_ += '[';
    for (std::size_t number = 0; number < std::min(most, values.size()); ++number) {
      if (number > 0) text_ += ", ";
      add(values[number]);
    }
    if (values.size() > most) text_ += ", ... of " + std::to_string(values.size());
    text_ += ']';
  }

  std::string text_;
};

inline std::ostream& operator<<(std::ostream& out, const ReportLine& line) {
  return out << line.text();
}

}  // namespace heddle::impl

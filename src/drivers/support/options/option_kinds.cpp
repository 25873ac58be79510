// The kinds of options: how the words of a command line become a value, and how a value is shown.
#include "drivers/support/options/option_kinds.hpp"

#include "drivers/support/process/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::driver {

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string plain_digits(const std::string& text) {
  const std::size_t mark = text.find_first_of("eE");
  if (mark == std::string::npos || text.starts_with("0x")) return text;
  const std::string sign = text.starts_with('-') ? "-" : "";
  const std::string mantissa = text.substr(sign.size(), mark - sign.size());
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits = mantissa;
  if (point < digits.size()) digits.erase(point, 1);
  const bool signed_plus = text.size() > mark + 1 && text[mark + 1] == '+';
  const char* const end = text.data() + text.size();
  int exponent = 0;
  const auto [stop, error] = std::from_chars(text.data() + mark + (signed_plus ? 2 : 1), end, exponent);
  // Beyond it no number of the types that are read is whole or small enough.
  constexpr int most = 100;
  if (error != std::errc() || stop != end || exponent < -most || exponent > most || digits.empty() ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return text;
  }
  const auto whole = static_cast<std::ptrdiff_t>(point) + exponent;
  const auto size = static_cast<std::ptrdiff_t>(digits.size());
  const std::size_t kept = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(whole, 0, size));
  if (digits.find_first_not_of('0', kept) != std::string::npos) return text;
  digits.resize(kept);
  if (whole > size) digits.append(static_cast<std::size_t>(whole - size), '0');
  return sign + (digits.empty() ? "0" : digits);
}

std::string Integer::expected() const {
  const Integer any;
  if (most != any.most) return format("a whole number, %lld to %lld", least, most);
  return least == any.least ? std::string("a whole number") : format("a number >= %lld", least);
}

std::string Number::expected() const {
  return least == Number().least ? std::string("a finite number") : format("a number >= %g", least);
}

bool Number::read(const std::string& text, double& value) const {
  const auto number = finite_number(text);
  if (!number || *number < least) return false;
  value = *number;
  return true;
}

bool Tile::read(const std::string& text, long long& value) {
  if (text == "auto" || text == "automatic") {
    value = 0;
    return true;
  }
  return Integer{.least = 1}.read(text, value);
}

}  // namespace heddle::driver

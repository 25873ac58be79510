#include "drivers/support/option_kinds.hpp"

#include "drivers/support/text.hpp"

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

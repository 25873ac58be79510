// Scalar types and numbers as options name them.
#include "drivers/support/options/scalars.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

namespace heddle::driver {

std::complex<double> number_from(const std::string& option, const std::string& text) {
  const auto part = [&](std::string_view word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    require(error == std::errc() && end == word.data() + word.size() && std::isfinite(value), option, ": '", text,
            "': expected a finite number, or two as re,im");
    return value;
  };
  const std::string_view whole = text;
  const auto comma = whole.find(',');
  if (comma == std::string_view::npos) return part(whole);
  return {part(whole.substr(0, comma)), part(whole.substr(comma + 1))};
}

}  // namespace heddle::driver

// Formatting of text for people.
#include "drivers/support/process/text.hpp"

#include <cstdarg>
#include <cstdio>

namespace heddle::driver {

std::string format(const char* pattern, ...) {
  std::va_list arguments;
  va_start(arguments, pattern);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

std::string one_line(const std::string& text) {
  std::string line;
  bool gap = false;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte <= ' ' || byte == 0x7f) {
      gap = !line.empty();
      continue;
    }
    if (gap) line += ' ';
    gap = false;
    line += character;
  }
  return line;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr const char* gap = " ... ";
  const auto within = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U; };
  // A third is for the end, which has the reason.
  std::size_t begin = text.size() - most / 3;
  std::size_t end = most - most / 3 - std::char_traits<char>::length(gap);
  while (begin < text.size() && within(begin)) ++begin;
  while (end > 0 && within(end)) --end;
  return text.substr(0, end) + gap + text.substr(begin);
}

}  // namespace heddle::driver

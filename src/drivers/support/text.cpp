// Formatting of text for people.
#include "drivers/support/text.hpp"

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

}  // namespace heddle::driver

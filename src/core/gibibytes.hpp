// Amounts of memory in messages.
#pragma once

#include <cstdio>
#include <string>

namespace heddle::impl {

/// "12.3 GiB".
inline std::string gibibytes(double bytes) {
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof(text), "%.1f GiB", bytes / 0x1p30));
  return text;
}

}  // namespace heddle::impl

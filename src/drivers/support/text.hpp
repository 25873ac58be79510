// Text for people.
#pragma once

#include <string>

namespace heddle::driver {

/// Return the text that printf would print.
[[gnu::format(printf, 1, 2)]] [[nodiscard]] std::string format(const char* pattern, ...);

/// The same text on one line: runs of white space and control characters become one space.
[[nodiscard]] std::string one_line(const std::string& text);

}  // namespace heddle::driver

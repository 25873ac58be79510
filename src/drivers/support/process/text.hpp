// Text for people.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::driver {

/// Return the text that printf would print.
[[gnu::format(printf, 1, 2)]] [[nodiscard]] std::string format(const char* pattern, ...);

/// The same text on one line: runs of white space and control characters become one space.
[[nodiscard]] std::string one_line(const std::string& text);

/// Text of at most `most` bytes, 16 or more: a longer one without its middle, for which " ... " stands. Characters of
/// UTF-8 stay whole.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

}  // namespace heddle::driver

// What the tables of studies share: a first line that says whose they are, and rows of other runs.
#pragma once

#include "drivers/support/context.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

/// The table of one study.
struct StudyTable {
  std::string_view study;   ///< As in "heddle study gemm".
  std::string_view header;  ///< Names of the columns, with commas.

  /// Whether a file begins as this table does.
  [[nodiscard]] bool is(const std::filesystem::path& path) const;
  /// The rows of a table of another run, as they stand there. Throws Error(input), naming file and line, where it is
  /// none.
  [[nodiscard]] std::vector<std::string> rows_of(const std::filesystem::path& path) const;
  /// The first two lines.
  [[nodiscard]] std::string beginning() const;
};

/// "2 CPU threads", or the device's description.
[[nodiscard]] std::string device_of(const Context& context);

}  // namespace heddle::driver

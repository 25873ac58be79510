// What the tables of studies share: a first line that says whose they are, and rows of other runs.
#pragma once

#include "drivers/support/context.hpp"

#include <nlohmann/json.hpp>

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
  /// Those of several tables, in turn.
  [[nodiscard]] std::vector<std::string> rows_of_all(const std::vector<std::string>& paths) const;
  /// The first two lines.
  [[nodiscard]] std::string beginning() const;
  /// A row of an object whose members are named as columns are; what it lacks is an empty cell. Numbers have 9 digits,
  /// true is 1, and commas in text, which would end a cell, become semicolons.
  [[nodiscard]] std::string line_of(const nlohmann::ordered_json& object) const;
  /// Writes the table: rows of this run, then `joined`, those of others.
  void write(const std::filesystem::path& path, const std::vector<nlohmann::ordered_json>& rows,
             const std::vector<std::string>& joined) const;
};

/// "2 CPU threads", or the name of the rank's GPU.
[[nodiscard]] std::string device_of(const Context& context);

}  // namespace heddle::driver

// What the tables of studies share: a first line that says whose they are, and rows of other runs.
#pragma once

#include "drivers/plot/pictures.hpp"
#include "drivers/support/context.hpp"
#include "drivers/support/option_table.hpp"

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
  /// Writes the table of these rows, as they stand.
  void write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) const;
};

/// The files of a study: a base of its options.
struct StudyFiles {
  std::vector<std::string> join;
  std::string output;
  std::string plot;
};
/// --join, --output and --plot.
[[nodiscard]] const OptionTable<StudyFiles>& study_files_options();
/// A study's own options, of a struct whose base is StudyFiles, and then these.
template <class Options> [[nodiscard]] OptionTable<Options> before_study_files(const OptionTable<Options>& own) {
  return OptionTable<Options>().include(itself, own).include(itself, study_files_options());
}
/// Throws Error unless every file can be written, and none of them is another or one that is joined.
void require_study_files(const Context& context, const StudyFiles& files);
/// As that, and throws Error unless there is one rank.
void require_study(const Context& context, const std::string& study, const StudyFiles& files);
/// Says where the table is, and draws the picture that was asked for, on rank 0. Collective.
void finish_study(const Context& context, Report& report, const StudyFiles& files, const Picture& picture);

/// A text as a cell of a table: commas and ends of lines, which end cells and rows, become semicolons and spaces.
[[nodiscard]] std::string cell_of(std::string text);
/// The parts of a row.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// "2 CPU threads", or the name of the rank's GPU.
[[nodiscard]] std::string device_of(const Context& context);
/// The model of this machine's processor, as the system names it.
[[nodiscard]] std::string processor_of();

}  // namespace heddle::driver

// The common form of the studies' tables: a first line that names the study, and rows of other runs.
#pragma once

#include "drivers/plot/pictures.hpp"
#include "drivers/support/context.hpp"
#include "drivers/support/options/option_table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

/// The form of one study's table.
struct StudyTable {
  std::string_view study;   ///< As in "heddle study gemm".
  std::string_view header;  ///< Names of the columns, with commas.

  /// Return true if a file begins as this table does.
  [[nodiscard]] bool is(const std::filesystem::path& path) const;
  /// Return the rows of another run's table, verbatim. Throws Error(input), naming file and line, if the file is none.
  [[nodiscard]] std::vector<std::string> rows_of(const std::filesystem::path& path) const;
  /// Return the rows of several tables, in turn.
  [[nodiscard]] std::vector<std::string> rows_of_all(const std::vector<std::string>& paths) const;
  /// Throw Error(input): the row, of which the message has the beginning, is not as the header says.
  [[noreturn]] void refuse_row(const std::string& place, const std::string& row) const;
  /// Return the first two lines.
  [[nodiscard]] std::string beginning() const;
  /// Return a row of an object whose members are named as columns are; missing members give empty cells. Numbers have 9
  /// digits, true is 1, and commas in text, which would end a cell, become semicolons.
  [[nodiscard]] std::string line_of(const nlohmann::ordered_json& object) const;
  /// Write the table: rows of this run, then those of other runs, `joined`.
  void write(const std::filesystem::path& path, const std::vector<nlohmann::ordered_json>& rows,
             const std::vector<std::string>& joined) const;
  /// Write the table of these rows, verbatim.
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
/// Return a table of a study's own options, then those of the files; the options' struct has the base StudyFiles.
template <class Options> [[nodiscard]] OptionTable<Options> before_study_files(const OptionTable<Options>& own) {
  return OptionTable<Options>().include(itself, own).include(itself, study_files_options());
}
/// Throws Error unless every file can be written and differs from the others and from those that are joined.
void require_study_files(const Context& context, const StudyFiles& files);
/// The same; also throws Error unless the job has one rank.
void require_study(const Context& context, const std::string& study, const StudyFiles& files);
/// Say where the table is and draw the requested picture, on rank 0. Collective.
void finish_study(const Context& context, Report& report, const StudyFiles& files, const Picture& picture);

/// A text as a cell of a table: commas and ends of lines, which end cells and rows, become semicolons and spaces.
[[nodiscard]] std::string cell_of(std::string text);
/// Return the parts of a row.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// "2 CPU threads", or the name of the rank's GPU.
[[nodiscard]] std::string device_of(const Context& context);

}  // namespace heddle::driver

// Reading, joining and writing the tables of studies as CSV, and the options of their files.
#include "studies/table.hpp"

#include "drivers/support/outputs.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>
#include <heddle/tuning/rates.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace heddle::driver {

bool StudyTable::is(const std::filesystem::path& path) const {
  std::ifstream file(path);
  std::string line;
  const std::string words = message_of("# heddle study ", study);
  return std::getline(file, line) && line.starts_with(words) &&
         (line.size() == words.size() || line[words.size()] == ',');
}

std::vector<std::string> StudyTable::rows_of(const std::filesystem::path& path) const {
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, path.string() + reason); };
  if (!is(path)) refuse(message_of(": is no table of heddle study ", study));
  std::ifstream file(path);
  const auto commas = [](std::string_view text) { return std::count(text.begin(), text.end(), ','); };
  std::vector<std::string> rows;
  bool begun = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with('#')) continue;
    const std::string place = message_of(", line ", number, ": ");
    if (!begun) {
      if (line != header) refuse(place + "expected " + std::string(header));
      begun = true;
    } else {
      if (commas(line) != commas(header)) refuse(place + "expected a row of " + std::string(header));
      rows.push_back(line);
    }
  }
  if (rows.empty()) refuse(": has no rows");
  return rows;
}

std::vector<std::string> StudyTable::rows_of_all(const std::vector<std::string>& paths) const {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    for (std::string& row : rows_of(path)) all.push_back(std::move(row));
  }
  return all;
}

void StudyTable::refuse_row(const std::string& place, const std::string& row) const {
  // Few enough bytes that the line of the error has the header whole.
  throw Error(ErrorKind::input, message_of(place, ": '", shortened(row, 60), "': expected a row of ", header));
}

std::string StudyTable::line_of(const nlohmann::ordered_json& object) const {
  std::ostringstream out;
  out.precision(9);
  std::istringstream names{std::string(header)};
  std::string name;
  for (bool first = true; std::getline(names, name, ','); first = false) {
    if (!first) out << ',';
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (found->is_string()) {
      out << cell_of(found->get<std::string>());
    } else if (found->is_boolean()) {
      out << (found->get<bool>() ? 1 : 0);
    } else if (found->is_number_float()) {
      out << found->get<double>();
    } else {
      out << found->get<long long>();
    }
  }
  return out.str();
}

void StudyTable::write(const std::filesystem::path& path, const std::vector<nlohmann::ordered_json>& rows,
                       const std::vector<std::string>& joined) const {
  std::vector<std::string> lines;
  for (const nlohmann::ordered_json& row : rows) lines.push_back(line_of(row));
  lines.insert(lines.end(), joined.begin(), joined.end());
  write_lines(path, lines);
}

void StudyTable::write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) const {
  PendingStream out(path);
  out << beginning();
  for (const std::string& line : lines) out << line << '\n';
  out.commit();
}

std::string StudyTable::beginning() const {
  return message_of("# heddle study ", study, ", heddle ", version(), " (", git_hash(), ")\n", header, "\n");
}

const OptionTable<StudyFiles>& study_files_options() {
  static const OptionTable<StudyFiles> table = {
      {"--join", &StudyFiles::join, Text{"CSV,..."}, "Tables of other runs, on other ranks or machines, to append"},
      {"--output,-o", &StudyFiles::output, Text{"CSV"}, "Table to write"},
      {"--plot", &StudyFiles::plot, Text{"PNG"}, "Picture to draw of it (heddle plot draws it too)"},
  };
  return table;
}

void require_study_files(const Context& context, const StudyFiles& files) {
  const std::vector<Output> outputs = {
      {"--json", context.options().json_file()}, {"--output", files.output}, {"--plot", files.plot}};
  require_distinct_outputs(outputs);
  std::vector<Output> inputs;
  for (const std::string& path : files.join) inputs.push_back({"--join", path});
  require_inputs_kept(inputs, outputs);
  for (const std::string& path : {files.output, files.plot}) {
    if (!path.empty()) const PendingFile probe(path);
  }
}

void require_study(const Context& context, const std::string& study, const StudyFiles& files) {
  require(context.comm().size() == 1, "study ", study, ": it measures one device; expected one rank, got ",
          context.comm().size());
  require_study_files(context, files);
}

void finish_study(const Context& context, Report& report, const StudyFiles& files, const Picture& picture) {
  context.say("table written to " + files.output);
  if (files.plot.empty()) return;
  context.comm().on_rank(0, [&] { draw(picture, files.output, files.plot); });
  report.results()["plot"] = files.plot;
  context.say("picture written to " + files.plot);
}

std::string cell_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  return one_line(text);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string device_of(const Context& context) {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  return hardware_name(context.comm().space());
#else
  const int threads = context.comm().space().concurrency();
  return format("%d CPU thread%s", threads, threads == 1 ? "" : "s");
#endif
}

}  // namespace heddle::driver

// The table of `heddle study faces`.
#include "studies/faces/faces_table.hpp"

#include "studies/faces/faces.hpp"
#include "studies/table.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

namespace heddle::driver {
namespace {

constexpr StudyTable table = {"faces",
                              "backend,device,threads,algorithm,hash,sort,numbering,cubes,cells,faces,external_faces,"
                              "trial,seconds,collisions,iterations,passes,memory_bytes,cache_misses,sha256,phases"};

template <class Number> bool parse(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool parse_phases(std::string_view text, std::vector<search::Phase>& phases) {
  if (text.empty()) return true;
  for (const std::string_view part : split(text, ';')) {
    const auto words = split(part, '=');
    double seconds = 0;
    if (words.size() != 2 || !parse(words[1], seconds)) return false;
    phases.push_back({std::string(words[0]), seconds});
  }
  return true;
}

bool parse_row(std::string_view line, FacesRow& row) {
  const auto cells = split(line, ',');
  if (cells.size() != 20) return false;
  row.backend = cells[0];
  row.device = cells[1];
  row.method = std::string(cells[3]) + (cells[4].empty() ? "" : "+") + std::string(cells[4]);
  row.sorting = cells[5];
  row.numbering = cells[6];
  row.digest = cells[18];
  Index misses = 0;
  const bool counted = !cells[17].empty();
  if (counted && !parse(cells[17], misses)) return false;
  if (counted) row.cache_misses = misses;
  return (cells[2].empty() || parse(cells[2], row.threads)) && parse(cells[7], row.cubes) &&
         parse(cells[8], row.cells) && parse(cells[9], row.faces) && parse(cells[10], row.external) &&
         parse(cells[11], row.trial) && parse(cells[12], row.seconds) && parse(cells[13], row.collisions) &&
         parse(cells[14], row.iterations) && parse(cells[15], row.passes) && parse(cells[16], row.memory) &&
         parse_phases(cells[19], row.phases) && row.seconds > 0 &&
         (row.numbering == "regular" || row.numbering == "randomised");
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

void write_faces_rows(const std::filesystem::path& path, const std::vector<FacesRow>& rows) {
  std::vector<std::string> lines;
  for (const FacesRow& row : rows) {
    std::ostringstream out;
    out.precision(9);
    const auto plus = row.method.find('+');
    out << row.backend << ',' << row.device << ',';
    if (row.threads > 0) out << row.threads;
    out << ',' << row.method.substr(0, plus) << ',' << (plus == std::string::npos ? "" : row.method.substr(plus + 1))
        << ',' << row.sorting << ',' << row.numbering << ',' << row.cubes << ',' << row.cells << ',' << row.faces << ','
        << row.external << ',' << row.trial << ',' << row.seconds << ',' << row.collisions << ',' << row.iterations
        << ',' << row.passes << ',' << row.memory << ',';
    if (row.cache_misses) out << *row.cache_misses;
    out << ',' << row.digest << ',';
    for (const search::Phase& phase : row.phases) {
      out << (&phase == row.phases.data() ? "" : ";") << phase.name << '=' << phase.seconds;
    }
    lines.push_back(out.str());
  }
  table.write_lines(path, lines);
}

std::vector<FacesRow> read_faces_rows(const std::filesystem::path& path) {
  std::vector<FacesRow> rows;
  for (const std::string& line : table.rows_of(path)) {
    FacesRow row;
    if (!parse_row(line, row)) table.refuse_row(path.string(), line);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<double> seconds_of(const FacesRow& row, const std::string& phase) {
  for (const search::Phase& one : row.phases) {
    if (one.name == phase) return one.seconds;
  }
  return {};
}

std::vector<FacesMedian> medians_of(const std::vector<FacesRow>& rows) {
  std::vector<std::vector<const FacesRow*>> groups;
  for (const FacesRow& row : rows) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const FacesRow& other = *group.front();
      return other.label() == row.label() && other.numbering == row.numbering && other.cubes == row.cubes &&
             other.device == row.device && other.threads == row.threads;
    });
    if (same == groups.end()) {
      groups.push_back({&row});
    } else {
      same->push_back(&row);
    }
  }
  std::vector<FacesMedian> medians;
  for (auto& group : groups) {
    std::sort(group.begin(), group.end(),
              [](const FacesRow* one, const FacesRow* other) { return one->seconds < other->seconds; });
    FacesMedian median{*group[group.size() / 2], static_cast<int>(group.size())};
    for (search::Phase& phase : median.row.phases) {
      std::vector<double> seconds;
      seconds.reserve(group.size());
      for (const FacesRow* row : group) {
        seconds.push_back(seconds_of(*row, phase.name).value_or(0.0));
      }
      phase.seconds = median_of(std::move(seconds));
    }
    medians.push_back(std::move(median));
  }
  return medians;
}

nlohmann::ordered_json as_json(const FacesMedian& median) {
  const FacesRow& row = median.row;
  nlohmann::ordered_json phases = nlohmann::ordered_json::object();
  for (const search::Phase& phase : row.phases) phases[phase.name] = phase.seconds;
  nlohmann::ordered_json object = {{"backend", row.backend},
                                   {"device", row.device},
                                   {"threads", row.threads},
                                   {"method", row.method},
                                   {"sort", row.sorting},
                                   {"numbering", row.numbering},
                                   {"cubes", row.cubes},
                                   {"cells", row.cells},
                                   {"external_faces", row.external},
                                   {"trials", median.trials},
                                   {"seconds", row.seconds},
                                   {"cells_per_second", static_cast<double>(row.cells) / row.seconds},
                                   {"phases", phases},
                                   {"collisions", row.collisions},
                                   {"iterations", row.iterations},
                                   {"passes", row.passes},
                                   {"memory_bytes", row.memory},
                                   {"sha256", row.digest}};
  if (row.sorting.empty()) object.erase("sort");
  if (row.threads == 0) object.erase("threads");
  if (row.cache_misses) object["cache_misses"] = *row.cache_misses;
  return object;
}

bool looks_like_study_faces(const std::filesystem::path& path) {
  return table.is(path);
}

}  // namespace heddle::driver

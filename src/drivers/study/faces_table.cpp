#include "drivers/study/faces_table.hpp"

#include "drivers/study/faces.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace heddle::driver {
namespace {

constexpr std::string_view first_words = "# heddle study faces";
constexpr std::string_view header =
    "backend,device,algorithm,hash,numbering,cubes,cells,faces,external_faces,trial,seconds,collisions,iterations,"
    "passes,memory_bytes,sha256,phases";

template <class Number> bool parse(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
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
  if (cells.size() != 17) return false;
  row.backend = cells[0];
  row.device = cells[1];
  row.method = std::string(cells[2]) + (cells[3].empty() ? "" : "+") + std::string(cells[3]);
  row.numbering = cells[4];
  row.digest = cells[15];
  return parse(cells[5], row.cubes) && parse(cells[6], row.cells) && parse(cells[7], row.faces) &&
         parse(cells[8], row.external) && parse(cells[9], row.trial) && parse(cells[10], row.seconds) &&
         parse(cells[11], row.collisions) && parse(cells[12], row.iterations) && parse(cells[13], row.passes) &&
         parse(cells[14], row.memory) && parse_phases(cells[16], row.phases) && row.seconds > 0 &&
         (row.numbering == "regular" || row.numbering == "randomised");
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

double seconds_of(const FacesRow& row, const std::string& phase) {
  for (const search::Phase& one : row.phases) {
    if (one.name == phase) return one.seconds;
  }
  return -1;
}

}  // namespace

void write_faces_rows(const std::filesystem::path& path, const std::vector<FacesRow>& rows) {
  PendingStream out(path);
  out.precision(9);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n" << header << '\n';
  for (const FacesRow& row : rows) {
    const auto plus = row.method.find('+');
    out << row.backend << ',' << row.device << ',' << row.method.substr(0, plus) << ','
        << (plus == std::string::npos ? "" : row.method.substr(plus + 1)) << ',' << row.numbering << ',' << row.cubes
        << ',' << row.cells << ',' << row.faces << ',' << row.external << ',' << row.trial << ',' << row.seconds << ','
        << row.collisions << ',' << row.iterations << ',' << row.passes << ',' << row.memory << ',' << row.digest
        << ',';
    for (const search::Phase& phase : row.phases) {
      out << (&phase == row.phases.data() ? "" : ";") << phase.name << '=' << phase.seconds;
    }
    out << '\n';
  }
  out.commit();
}

std::vector<FacesRow> read_faces_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, path.string() + reason); };
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(first_words)) refuse(": is no table of heddle study faces");
  std::vector<FacesRow> rows;
  bool begun = false;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.starts_with('#')) continue;
    FacesRow row;
    if (begun ? !parse_row(line, row) : line != header) {
      refuse(message_of(", line ", number, ": expected ", begun ? "a row of " : "", header));
    }
    if (begun) rows.push_back(std::move(row));
    begun = true;
  }
  return rows;
}

std::vector<FacesMedian> medians_of(const std::vector<FacesRow>& rows) {
  std::vector<std::vector<const FacesRow*>> groups;
  for (const FacesRow& row : rows) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const FacesRow& other = *group.front();
      return other.method == row.method && other.numbering == row.numbering && other.cubes == row.cubes &&
             other.device == row.device;
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
      for (const FacesRow* row : group) seconds.push_back(std::max(0.0, seconds_of(*row, phase.name)));
      phase.seconds = median_of(std::move(seconds));
    }
    medians.push_back(std::move(median));
  }
  return medians;
}

void say_faces_tables(const Context& context, const std::vector<FacesMedian>& medians) {
  std::vector<std::string> methods;
  const auto largest_of = [&](const std::string& method) {
    Index cubes = 0;
    for (const FacesMedian& one : medians) cubes = one.row.method == method ? std::max(cubes, one.row.cubes) : cubes;
    return cubes;
  };
  for (const FacesMedian& one : medians) {
    if (std::find(methods.begin(), methods.end(), one.row.method) == methods.end()) methods.push_back(one.row.method);
  }
  if (methods.empty()) return;
  Index cubes = largest_of(methods.front());
  for (const std::string& method : methods) cubes = std::min(cubes, largest_of(method));
  const auto find = [&](const std::string& method, const std::string& numbering) -> const FacesMedian* {
    for (const FacesMedian& one : medians) {
      if (one.row.method == method && one.row.numbering == numbering && one.row.cubes == cubes) return &one;
    }
    return nullptr;
  };

  std::vector<std::string> phases;
  for (const char* name :
       {"inspect", "prepare", "hash", "sort", "fight", "find", "count", "scatter", "buckets", "list"}) {
    const bool there = std::any_of(medians.begin(), medians.end(),
                                   [&](const FacesMedian& one) { return seconds_of(one.row, name) >= 0; });
    if (there) phases.emplace_back(name);
  }
  const std::string numbering = medians.front().row.numbering;
  const auto& any = *find(methods.front(), numbering);
  context.say(format("seconds of each phase: %lld cells, %s numbering, medians of %d trial%s",
                     static_cast<long long>(any.row.cells), numbering.c_str(), any.trials, any.trials == 1 ? "" : "s"));
  std::string line = format("%-18s", "algorithm+hash");
  for (const std::string& phase : phases) line += format(" %8s", phase.c_str());
  context.say(line + format(" %8s", "total"));
  for (const std::string& method : methods) {
    const FacesMedian* one = find(method, numbering);
    if (one == nullptr) continue;
    line = format("%-18s", method.c_str());
    for (const std::string& phase : phases) {
      const double seconds = seconds_of(one->row, phase);
      line += seconds < 0 ? format(" %8s", "-") : format(" %8.2g", seconds);
    }
    context.say(line + format(" %8.3g", one->row.seconds));
  }

  context.say("");
  context.say(format("%-18s %-10s %10s %12s %13s %6s %12s", "algorithm+hash", "mesh", "seconds", "Mcells/s",
                     "collisions", "iter.", "bytes/face"));
  for (const std::string& method : methods) {
    for (const char* kind : {"regular", "randomised"}) {
      const FacesMedian* one = find(method, kind);
      if (one == nullptr) continue;
      const FacesRow& row = one->row;
      context.say(format("%-18s %-10s %10.3g %12.3g %13lld %6d %12.1f", method.c_str(), kind, row.seconds,
                         static_cast<double>(row.cells) / row.seconds / 1e6, static_cast<long long>(row.collisions),
                         row.iterations,
                         static_cast<double>(row.memory) / static_cast<double>(std::max<Index>(row.faces, 1))));
    }
  }
}

nlohmann::ordered_json as_json(const FacesMedian& median) {
  const FacesRow& row = median.row;
  nlohmann::ordered_json phases = nlohmann::ordered_json::object();
  for (const search::Phase& phase : row.phases) phases[phase.name] = phase.seconds;
  return {{"backend", row.backend},
          {"device", row.device},
          {"method", row.method},
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
}

bool looks_like_study_faces(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

}  // namespace heddle::driver

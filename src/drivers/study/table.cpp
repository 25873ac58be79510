#include "drivers/study/table.hpp"

#include "drivers/support/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

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
      std::string text = found->get<std::string>();
      std::replace(text.begin(), text.end(), ',', ';');
      out << text;
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
  PendingStream out(path);
  out << beginning();
  for (const nlohmann::ordered_json& row : rows) out << line_of(row) << '\n';
  for (const std::string& line : joined) out << line << '\n';
  out.commit();
}

std::string StudyTable::beginning() const {
  return message_of("# heddle study ", study, ", heddle ", version(), " (", git_hash(), ")\n", header, "\n");
}

std::string device_of(const Context& context) {
#if defined(KOKKOS_ENABLE_CUDA)
  return context.comm().space().cuda_device_prop().name;
#elif defined(KOKKOS_ENABLE_HIP)
  return context.comm().space().hip_device_prop().name;
#else
  const int threads = context.comm().space().concurrency();
  return format("%d CPU thread%s", threads, threads == 1 ? "" : "s");
#endif
}

}  // namespace heddle::driver

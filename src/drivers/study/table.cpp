#include "drivers/study/table.hpp"

#include "drivers/support/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/version.hpp>

#include <algorithm>
#include <fstream>

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

std::string StudyTable::beginning() const {
  return message_of("# heddle study ", study, ", heddle ", version(), " (", git_hash(), ")\n", header, "\n");
}

std::string device_of(const Context& context) {
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  if (!on_host) return context.device().describe();
  const int threads = context.comm().space().concurrency();
  return format("%d CPU thread%s", threads, threads == 1 ? "" : "s");
}

}  // namespace heddle::driver

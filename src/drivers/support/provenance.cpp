// Origin of a result, as every report and HDF5 file states it.
#include "drivers/support/provenance.hpp"

#include <heddle/core/version.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

namespace heddle::driver {

namespace {

Provenance& current() {
  static Provenance provenance;
  return provenance;
}

std::string quoted(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./=,:+@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void begin_provenance(int argc, const char* const* argv) {
  std::array<char, 256> host = {};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::array<char, 32> date = {};
  static_cast<void>(std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  std::string line;
  for (int k = 0; k < argc; ++k) {
    if (k > 0) line += ' ';
    line += quoted(argv[k]);
  }
  current() = {std::string(version()), std::string(git_hash()), host.data(), date.data(), line};
}

const Provenance& provenance() {
  return current();
}

std::vector<std::pair<std::string, std::string>> provenance_attributes() {
  const Provenance& now = provenance();
  return {{"heddle_version", now.version},
          {"git_hash", now.commit},
          {"host", now.host},
          {"date", now.date},
          {"command_line", now.command_line}};
}

}  // namespace heddle::driver

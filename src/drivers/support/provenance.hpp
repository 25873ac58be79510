// Origin of a result, as every report and HDF5 file states it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

struct Provenance {
  std::string version;       ///< Heddle's.
  std::string commit;        ///< Of the sources that it was built from.
  std::string host;          ///< This process's machine.
  std::string date;          ///< When the command began, as 2026-11-23T16:06:20Z.
  std::string command_line;  ///< As a shell would take it.
};

/// Begins a command with the words that main() is given.
void begin_provenance(int argc, const char* const* argv);

/// Return the provenance of the command that began last in this process.
[[nodiscard]] const Provenance& provenance();

/// Name and value of the same as attributes of an HDF5 file: heddle_version, git_hash, host, date, command_line.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance_attributes();

}  // namespace heddle::driver

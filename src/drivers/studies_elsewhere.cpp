// The experiments of `heddle study` where they are not: in `heddle`, which starts heddle-study.
#include "drivers/studies.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace heddle::driver {
namespace {

bool begins_as_study(const char* path) {
  constexpr std::string_view first = "# heddle study ";
  std::string line(first.size(), '\0');
  return std::ifstream(path, std::ios::binary).read(line.data(), static_cast<std::streamsize>(line.size())) &&
         line == first;
}

}  // namespace

bool has_studies() {
  return false;
}

std::optional<Picture> study_picture_of(const std::filesystem::path& /*path*/) {
  return {};
}

void add_study(CLI::App& app, Selection& /*selection*/) {
  app.add_subcommand("study", "Experiments: tables and pictures of what makes a kernel fast");
}

std::string leave_to_studies(int argc, const char* const* argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  const bool draws = command == "plot" && std::any_of(argv + 2, argv + argc, begins_as_study);
  if (command != "study" && command != "manual" && !draws) return {};
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "heddle-study";
  std::vector<char*> words;
  for (int k = 0; k < argc; ++k) words.push_back(const_cast<char*>(argv[k]));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  if (command == "manual") return {};
  return message_of(program.string(), ": ", std::strerror(errno),
                    "; heddle-study runs the experiments and draws their ",
                    "tables, and builds with -DHEDDLE_STUDIES=ON have it");
}

}  // namespace heddle::driver

// `heddle manual`: man pages, shell completions and the site's reference pages, from the tables of options. It is for
// those who build or package Heddle, so no help lists it.
#include "drivers/command_line.hpp"
#include "drivers/manual/pages.hpp"
#include "drivers/studies.hpp"
#include <heddle/core/pending_file.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace heddle::driver {
namespace {

using Writer = std::vector<ManualFile> (*)(const std::vector<CommandPage>&);

struct Options {
  Writer format = nullptr;
  std::string folder;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--format", &Options::format,
       Choice<Writer>{
           "NAME",
           {{man_pages, "man"}, {bash_completion, "bash"}, {zsh_completion, "zsh"}, {markdown_pages, "markdown"}}},
       "man, bash, zsh or markdown", OptionDetails{.required = true}},
      {"--output,-o", &Options::folder, Text{.type_name = "FOLDER", .may_be_empty = false},
       "Folder of the files, made where it is not there", OptionDetails{.required = true}},
  };
  return table;
}

int run(const Options& options) {
  require(has_studies() || options.format != markdown_pages,
          "--format markdown: the site's pages have the options of `heddle study`, and this build has no heddle-study "
          "(-DHEDDLE_STUDIES=ON)");
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(ErrorKind::output, folder.string() + ": can't be made: " + error.message());
  for (const ManualFile& page : options.format(command_pages())) {
    PendingStream file(folder / page.name);
    file << page.text;
    file.commit();
  }
  return exit_done;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& environment() {
  static const std::vector<std::pair<std::string, std::string>> variables = {
      {"OMP_NUM_THREADS", "Threads of a rank: with several ranks, give each its share of the cores."},
      {"HEDDLE_DEVICE", "The GPUs that the ranks of a node take in turn, as 0,2; else all of them."},
      {"HEDDLE_NODE_SIZE", "Takes so many ranks of the job for a node, for tests on one machine."},
      {"HEDDLE_TIMEOUT", "Seconds without any movement after which a rank that waits for others gives up; else never."},
      {"HEDDLE_TRANSPORT",
       "How messages may travel from rank to rank: peer, direct, nccl, staged, or several with commas, in order of "
       "preference; else all."},
      {"HEDDLE_GPU_AWARE_MPI", "1 says that MPI takes memory of GPUs, 0 that it does not; else MPI is asked."},
      {"HEDDLE_PYTHON",
       "The Python that draws for heddle plot, with matplotlib, numpy and h5py; else that of the environment that pip "
       "installed heddle into, if it has them; else /usr/bin/python3."},
      {"HEDDLE_BLAS_DEVICE", "1 has a program under heddle run compute large products on the GPU, as --device does."},
      {"HEDDLE_BLAS_REPORT",
       "1 has a program under heddle run print at its end which routines of the BLAS it called, as --report does."},
      {"HEDDLE_RATES",
       "The folder that keeps the measured rates of this hardware; else that of XDG_CACHE_HOME. Those in /etc/heddle "
       "are "
       "taken where neither has any."},
      {"XDG_CACHE_HOME", "The folder whose heddle/ keeps the measured rates of this hardware; else ~/.cache."},
  };
  return variables;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string escaped(const std::string& text, const std::vector<std::pair<char, std::string>>& special) {
  std::string result;
  for (const char character : text) {
    const auto found =
        std::find_if(special.begin(), special.end(), [&](const auto& pair) { return pair.first == character; });
    if (found == special.end()) {
      result += character;
    } else {
      result += found->second;
    }
  }
  return result;
}

std::string unindented(const std::string& lines) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    text += (text.empty() ? "" : "\n") + line.substr(line.starts_with("  ") ? 2 : 0);
    begin = end + 1;
  }
  return text;
}

void add_manual(CLI::App& app, Selection& selection) {
  CLI::App& command = add_subcommand(app, {"manual", "Man pages, completions of shells, reference pages of the site",
                                           "  heddle manual --format man --output man1"});
  command.group("");
  const auto options = std::make_shared<Options>();
  std::vector<DeclaredOption> of_no_document;
  all_options().declare(command, *options, of_no_document);
  when_chosen(command,
              [options, &selection] { selection.serial = [options](const CommonOptions&) { return run(*options); }; });
}

}  // namespace heddle::driver

// One command line of `heddle`, from its words to its exit code.
#include "drivers/command_line.hpp"

#include "drivers/support/options/help_formatter.hpp"
#include "drivers/support/process/standard_output.hpp"
#include "drivers/support/provenance.hpp"
#include "drivers/support/ranks.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <CLI/CLI.hpp>

#include <sstream>
#include <string_view>
#include <vector>

namespace heddle::driver {
namespace {

void add_commands(CLI::App& app, Selection& selection) {
  add_gemm(app, selection);
  add_expm(app, selection);
  add_transpose(app, selection);
  add_exact_sums(app, selection);
  add_exact_vectors(app, selection);
  add_generate(app, selection);
  add_lu(app, selection);
  add_solve(app, selection);
  add_eig(app, selection);
  add_duplicates(app, selection);
  add_faces(app, selection);
  add_tdse(app, selection);
  add_study(app, selection);
  add_predict(app, selection);
  add_tune(app, selection);
  add_info(app, selection);
  add_run(app, selection);
  add_plot(app, selection);
  add_verify(app, selection);
  add_manual(app, selection);
}

// Commands take the formatter of the application when they are added.
void set_up(CLI::App& app, Selection& selection) {
  app.formatter(std::make_shared<HelpFormatter>(selection.declared));
  app.get_formatter()->column_width(32);
  app.set_version_flag("--version", "heddle " + std::string(version()) + " (" + std::string(git_hash()) + ")");
  app.require_subcommand(1);
  app.footer(
      "Each command has its own help and example: heddle gemm --help\n"
      "Exit codes: 0 done and checked, 1 a check, the computation or the writing of a result failed, 2 bad usage or "
      "input.");
  add_commands(app, selection);
}

constexpr const char* about =
    "Dense kernels over all ranks and GPUs of a server: matrix products, matrix exponentials, and the\n"
    "time-dependent Schroedinger equation on top of them. Runs alone or under mpirun.";

// Return the chosen command, which may be an experiment of `heddle study`.
const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  return *chosen;
}

// The commands below `parent`, those that no help lists left out.
void collect_pages(const CLI::App& parent, const std::string& prefix, const std::vector<DeclaredOption>& declared,
                   std::vector<CommandPage>& pages) {
  for (const CLI::App* const command : parent.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    const bool is_group = !command->get_subcommands([](const CLI::App*) { return true; }).empty();
    CommandPage page{prefix + command->get_name(), command->get_description(), command->get_footer(), is_group, {}};
    constexpr std::string_view heading = "Example:\n";
    if (page.example.starts_with(heading)) page.example.erase(0, heading.size());
    for (const DeclaredOption& one : declared) {
      if (one.command == command && !one.words.details.hidden) page.options.push_back({one.words, one.shown});
    }
    pages.push_back(page);
    if (is_group) collect_pages(*command, page.name + ' ', declared, pages);
  }
}

void warn(const Selection& selection) {
  for (const std::string& warning : selection.warnings) complain(warning);
}

}  // namespace

nlohmann::ordered_json describe_options() {
  Selection selection;
  CLI::App app(about, "heddle");
  set_up(app, selection);
  auto commands = nlohmann::ordered_json::object();
  for (const DeclaredOption& one : selection.declared) {
    const CLI::App* const parent = one.command->get_parent();
    const std::string group = parent == &app ? "" : parent->get_name() + ' ';
    commands[group + one.command->get_name()].push_back(description_of(one));
  }
  return commands;
}

std::vector<CommandPage> command_pages() {
  Selection selection;
  CLI::App app(about, "heddle");
  set_up(app, selection);
  std::vector<CommandPage> pages;
  collect_pages(app, "", selection.declared, pages);
  return pages;
}

namespace {

// The arguments, without a "--" between `heddle run`, its options and the command: the parser would take it as the end
// of the command's own arguments, too.
std::vector<const char*> without_separator(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc < 3 || std::string_view(argv[1]) != "run") return words;
  for (auto word = words.begin() + 2; word != words.end() && (*word)[0] == '-'; ++word) {
    if (std::string_view(*word) != "--") continue;
    words.erase(word);
    break;
  }
  return words;
}

}  // namespace

CommandLine read_command_line(int argc, const char* const* argv) {
  CommandLine line;
  begin_provenance(argc, argv);
  const std::vector<const char*> words = without_separator(argc, argv);
  CLI::App app(about, "heddle");
  set_up(app, line.selection);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
    line.selection.command = app.get_subcommands().front()->get_name();
    line.selection.warnings = warnings_of_old_names(chosen_command(app), line.selection.declared, {argv, argv + argc});
  } catch (const CLI::Success& help_or_version) {
    line.exit_code = exit_done;
    if (launcher_rank().value_or(0) == 0) {
      std::ostringstream text;
      app.exit(help_or_version, text);
      print_text(text.str());
    }
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    std::string message = error.what();
    std::string name = "heddle";
    if (!chosen.empty()) {
      name += " " + chosen.front()->get_name();
    } else if (argc > 1) {
      message = "'" + std::string(argv[1]) + "' is no command";
    }
    line.exit_code = exit_usage;
    line.complaint = message + " (see " + name + " --help)";
  }
  line.selection.declared.clear();  // The declarations point to parts of the parser.
  return line;
}

int run_serial(const Selection& selection) {
  if (launcher_rank().value_or(0) != 0) return exit_done;
  warn(selection);
  try {
    return selection.serial(selection.common);
  } catch (...) {
    const Failure failure = current_failure();
    report_failure(selection.common, Report(selection.command), failure);
    complain(failure.message);
    return failure.exit_code;
  }
}

int run_parallel(const Selection& selection, const DeviceBinding& device) {
  const Communicator comm(MPI_COMM_WORLD);
  // Ranks agree here, while the Communicator of a rank that failed alone still exists for the others.
  return run_agreed([&] {
    if (const std::string file = selection.common.json_file(); !file.empty()) {
      // Fail before rather than after the computation.
      comm.on_rank(0, [&] { const PendingFile probe(file); });
    }
    Context context(comm, device, selection.common);
    if (context.root()) warn(selection);
    if (comm.all_reduce(device.shared ? 1 : 0, Reduction::maximum) == 1 && context.root()) {
      complain("warning: several ranks share a GPU and take turns on it; one rank for each GPU is faster");
    }
    try {
      return selection.parallel(context);
    } catch (...) {
      context.report_failure(selection.command, current_failure());
      throw;
    }
  });
}

}  // namespace heddle::driver

// The subcommands of `heddle`; each lives in the file of its name.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/options/option_table.hpp"
#include "drivers/support/options/options.hpp"

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::driver {

/// The selected command. The callback of the chosen subcommand sets one of the two actions, which main() runs after
/// parsing; options live in the action.
struct Selection {
  CommonOptions common;
  /// The name of the command: "gemm".
  std::string command;
  /// Runs on every rank, MPI and Kokkos initialised; gives the exit code, and throws where it fails.
  std::function<int(Context&)> parallel;
  /// Needs neither: runs in one process, before MPI is initialised.
  std::function<int(const CommonOptions&)> serial;
  /// The options of all commands, while the parser lives.
  std::vector<DeclaredOption> declared;
  /// Warnings that rank 0 prints before the action.
  std::vector<std::string> warnings;
};

/// Text of a command's help beside its options.
struct CommandHelp {
  std::string name;
  std::string about;
  std::string example;  ///< Lines, indented by two.
};

/// Adds a subcommand that has no options yet.
[[nodiscard]] CLI::App& add_subcommand(CLI::App& parent, const CommandHelp& help);
/// Calls `chosen` while the command line is read, if this is the command.
void when_chosen(CLI::App& command, std::function<void()> chosen);

/// Add a subcommand with the options of `table` and the common ones. If the command line chooses it, run() gets the
/// options: run(Context&, Options) on all ranks, run(const CommonOptions&, Options) in one process, or run(Options)
/// while the command line is read, which chooses one of the two.
template <class Options, class Run>
void add_command(CLI::App& parent, Selection& selection, const CommandHelp& help, const OptionTable<Options>& table,
                 Run run) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = add_subcommand(parent, help);
  table.declare(command, *options, selection.declared);
  common_options().declare(command, selection.common, selection.declared);
  when_chosen(command, [options, run, &selection] {
    if constexpr (std::is_invocable_v<Run, Context&, Options>) {
      selection.parallel = [options, run](Context& context) { return run(context, *options); };
    } else if constexpr (std::is_invocable_v<Run, const CommonOptions&, Options>) {
      selection.serial = [options, run](const CommonOptions& common) { return run(common, *options); };
    } else {
      run(*options);
    }
  });
}

/// Each adds its subcommand with options, help and example to `app`.
void add_gemm(CLI::App& app, Selection& selection);
void add_expm(CLI::App& app, Selection& selection);
void add_transpose(CLI::App& app, Selection& selection);
void add_exact_sums(CLI::App& app, Selection& selection);
void add_exact_vectors(CLI::App& app, Selection& selection);
void add_generate(CLI::App& app, Selection& selection);
void add_lu(CLI::App& app, Selection& selection);
void add_solve(CLI::App& app, Selection& selection);
void add_eig(CLI::App& app, Selection& selection);
void add_duplicates(CLI::App& app, Selection& selection);
void add_faces(CLI::App& app, Selection& selection);
void add_tdse(CLI::App& app, Selection& selection);
void add_study(CLI::App& app, Selection& selection);
void add_predict(CLI::App& app, Selection& selection);
void add_tune(CLI::App& app, Selection& selection);
void add_info(CLI::App& app, Selection& selection);
void add_run(CLI::App& app, Selection& selection);
void add_plot(CLI::App& app, Selection& selection);
void add_verify(CLI::App& app, Selection& selection);
void add_manual(CLI::App& app, Selection& selection);

}  // namespace heddle::driver

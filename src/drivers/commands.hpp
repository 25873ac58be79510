// The subcommands of `heddle`; each lives in the file of its name.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/options.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace heddle::driver {

/// What the command line asked for. The callback of the chosen subcommand sets one of the two actions, which main()
/// runs after parsing; options live in the action.
struct Selection {
  CommonOptions common;
  /// Runs on every rank, MPI and Kokkos initialised; gives the exit code, and throws where it fails.
  std::function<int(Context&)> parallel;
  /// Needs neither: runs in one process, before MPI is initialised.
  std::function<int(const CommonOptions&)> serial;
};

/// Each adds its subcommand with options, help and example to `app`.
void add_gemm(CLI::App& app, Selection& selection);
void add_expm(CLI::App& app, Selection& selection);
void add_transpose(CLI::App& app, Selection& selection);
void add_exact_sums(CLI::App& app, Selection& selection);
void add_lu(CLI::App& app, Selection& selection);
void add_eig(CLI::App& app, Selection& selection);
void add_duplicates(CLI::App& app, Selection& selection);
void add_faces(CLI::App& app, Selection& selection);
void add_tdse(CLI::App& app, Selection& selection);
void add_study(CLI::App& app, Selection& selection);
void add_tune(CLI::App& app, Selection& selection);
void add_info(CLI::App& app, Selection& selection);
void add_plot(CLI::App& app, Selection& selection);
void add_verify(CLI::App& app, Selection& selection);

}  // namespace heddle::driver

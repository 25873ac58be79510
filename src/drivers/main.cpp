// The command `heddle`: parses, brings up MPI and Kokkos, runs one subcommand, and turns every failure into one line
// and an exit code that all ranks share.
#include "commands.hpp"
#include "support/ranks.hpp"
#include <heddle/core/version.hpp>
#include <heddle/io/pending_file.hpp>

#include <cstdio>
#include <string>

namespace heddle::driver {
namespace {

int run_parallel(int argc, char** argv, const Selection& selection) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int code = run_agreed([&] {
    const DeviceBinding device = bind_device(MPI_COMM_WORLD);
    auto settings = device.settings();
    settings.set_disable_warnings(true);  // Kokkos would repeat its hint about thread binding on every rank.
    const Kokkos::ScopeGuard kokkos(settings);
    const Communicator comm(MPI_COMM_WORLD);
    // Agreed on here already, while the Communicator of a rank that failed alone is still there for the others.
    return run_agreed([&] {
      if (!selection.common.json.empty()) {
        // Found out now rather than after the computation.
        comm.on_rank(0, [&] { const PendingFile probe(selection.common.json); });
      }
      Context context(comm, device, selection.common);
      if (comm.all_reduce(device.shared ? 1 : 0, Reduction::maximum) == 1 && context.root()) {
        complain("warning: several ranks share a GPU and take turns on it; one rank for each GPU is faster");
      }
      return selection.parallel(context);
    });
  });
  MPI_Finalize();
  return code;
}

int run_serial(const Selection& selection) {
  if (launcher_rank().value_or(0) != 0) return exit_done;
  try {
    return selection.serial(selection.common);
  } catch (...) {
    const Failure failure = current_failure();
    complain(failure.message);
    return failure.exit_code;
  }
}

// Bad usage: every rank has found the same. One speaks, and none leaves before it has, since a launcher ends the others
// as soon as one returns non-zero.
int refuse_usage(int argc, char** argv, const std::string& message) {
  if (!launcher_rank()) {
    complain(message);
    return exit_usage;
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) complain(message);
  MPI_Finalize();
  return exit_usage;
}

int run(int argc, char** argv) {
  Selection selection;
  CLI::App app(
      "Dense kernels over all ranks and GPUs of a server: matrix products, matrix exponentials, and the\n"
      "time-dependent Schroedinger equation on top of them. Runs alone or under mpirun.",
      "heddle");
  app.set_version_flag("--version", "heddle " + std::string(version()) + " (" + std::string(git_hash()) + ")");
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  app.footer(
      "Each command has its own help and example: heddle gemm --help\n"
      "Exit codes: 0 done and checked, 1 a check or the computation failed, 2 bad usage or input.");
  add_gemm(app, selection);
  add_expm(app, selection);
  add_transpose(app, selection);
  add_exact_sums(app, selection);
  add_lu(app, selection);
  add_eig(app, selection);
  add_duplicates(app, selection);
  add_faces(app, selection);
  add_tdse(app, selection);
  add_study(app, selection);
  add_tune(app, selection);
  add_info(app, selection);
  add_plot(app, selection);
  add_verify(app, selection);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return launcher_rank().value_or(0) == 0 ? app.exit(help_or_version) : exit_done;
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    std::string message = error.what();
    std::string name = "heddle";
    if (!chosen.empty()) {
      name += " " + chosen.front()->get_name();
    } else if (argc > 1) {
      message = "'" + std::string(argv[1]) + "' is no command";
    }
    return refuse_usage(argc, argv, message + " (see " + name + " --help)");
  }
  return selection.serial ? run_serial(selection) : run_parallel(argc, argv, selection);
}

}  // namespace
}  // namespace heddle::driver

int main(int argc, char** argv) {
  try {
    return heddle::driver::run(argc, argv);
  } catch (...) {
    const auto failure = heddle::driver::current_failure();
    heddle::driver::complain(failure.message);
    return failure.exit_code;
  }
}

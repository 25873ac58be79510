// A command line from its words to an exit code: parsing, MPI and Kokkos, one subcommand, and failures as one line.
#include "drivers/program.hpp"

#include "drivers/command_line.hpp"
#include "drivers/studies.hpp"
#include "drivers/support/process/blas_memory.hpp"
#include "drivers/support/process/signals.hpp"
#include "drivers/support/process/standard_output.hpp"
#include "drivers/support/ranks.hpp"

namespace heddle::driver {
namespace {

int run_on_ranks(int argc, char** argv, const Selection& selection) {
  reserve_blas_buffers();
  prepare_single_process();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const int code = run_agreed([&] {
    const DeviceBinding device = bind_device(MPI_COMM_WORLD);
    auto settings = device.settings();
    settings.set_disable_warnings(true);  // Kokkos would repeat its hint about thread binding on every rank.
    const Kokkos::ScopeGuard kokkos(settings);
    return run_parallel(selection, device);
  });
  MPI_Finalize();
  return code;
}

// Report bad usage, which every rank has found alike. One rank prints, and none exits before it has, since a launcher
// ends the others as soon as one returns non-zero.
int refuse_usage(int argc, char** argv, const CommandLine& line) {
  if (!launcher_rank()) {
    complain(line.complaint);
    return *line.exit_code;
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) complain(line.complaint);
  MPI_Finalize();
  return *line.exit_code;
}

int run(int argc, char** argv) {
  if (const std::string complaint = leave_to_studies(argc, argv); !complaint.empty()) {
    CommandLine refused;
    refused.exit_code = exit_usage;
    refused.complaint = complaint;
    return refuse_usage(argc, argv, refused);
  }
  const CommandLine line = read_command_line(argc, argv);
  if (!line.complaint.empty()) return refuse_usage(argc, argv, line);
  if (line.exit_code) return *line.exit_code;
  return line.selection.serial ? run_serial(line.selection) : run_on_ranks(argc, argv, line.selection);
}

}  // namespace

int run_main(int argc, char** argv) {
  try {
    remove_files_on_signals();
    return checked_output(run(argc, argv));
  } catch (...) {
    const Failure failure = current_failure();
    complain(failure.message);
    return failure.exit_code;
  }
}

}  // namespace heddle::driver

// The main() of `heddle` and of `heddle-study`.
#pragma once

namespace heddle::driver {

/// Parse a command line, bring up MPI and Kokkos where its command needs them, run the command, and turn every failure
/// into one line on standard error. Return the exit code that all ranks share. Throws nothing.
[[nodiscard]] int run_main(int argc, char** argv);

}  // namespace heddle::driver

// How a process of `heddle` meets signals.
#pragma once

namespace heddle::driver {

/// From here on a signal that ends the process removes the files that it was writing first: SIGINT, SIGTERM, SIGHUP,
/// SIGQUIT and SIGPIPE, where they are not ignored. A write beyond `ulimit -f` fails, instead of ending the process by
/// SIGXFSZ. Before MPI starts, so that what MPI does on a signal stays as it is.
void remove_files_on_signals();

/// Removes the files that are being written, and ends the process by the signal. In a signal handler.
void end_by_signal(int signal);

}  // namespace heddle::driver

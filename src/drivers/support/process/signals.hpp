// How a process of `heddle` meets signals.
#pragma once

namespace heddle::driver {

/// From this call on, a signal that ends the process first removes the files that it was writing: SIGINT, SIGTERM,
/// SIGHUP, SIGQUIT and SIGPIPE, unless they are ignored. A write beyond `ulimit -f` fails, instead of ending the
/// process by SIGXFSZ. Call it before MPI starts, so that MPI's own signal handling stays as it is.
void remove_files_on_signals();

/// Remove the files that are being written, and end the process by the signal. For signal handlers.
void end_by_signal(int signal);

}  // namespace heddle::driver

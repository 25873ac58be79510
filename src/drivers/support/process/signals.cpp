// Signal handlers that remove unfinished files before a process of `heddle` ends.
#include "drivers/support/process/signals.hpp"

#include <heddle/core/pending_file.hpp>

#include <csignal>

namespace heddle::driver {

void end_by_signal(int signal) {
  remove_pending_files();
  std::signal(signal, SIG_DFL);
  // The signal is blocked until the handler returns.
  std::raise(signal);
}

void remove_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;  // Ignored signals stay so, such as SIGHUP under nohup.
    struct sigaction action {};
    action.sa_handler = end_by_signal;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace heddle::driver

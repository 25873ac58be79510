// Signal handlers that record a request to end a run.
#include "drivers/tdse/run/interruption.hpp"

#include "drivers/support/process/signals.hpp"

#include <algorithm>
#include <cstddef>

namespace heddle::driver {

namespace {

// A signal handler may write no other type.
std::array<volatile std::sig_atomic_t, 3> noted = {};

void note(int signal) {
  for (std::size_t k = 0; k < noted.size(); ++k) {
    if (Interruption::signals[k] != signal) continue;
    if (noted[k] != 0) end_by_signal(signal);
    noted[k] = 1;
  }
}

}  // namespace

Interruption::Interruption() {
  struct sigaction action {};
  action.sa_handler = note;
  // Restart interrupted system calls.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t k = 0; k < signals.size(); ++k) {
    noted[k] = 0;
    sigaction(signals[k], nullptr, &before_[k]);
    if (before_[k].sa_handler != SIG_IGN) sigaction(signals[k], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t k = 0; k < signals.size(); ++k) sigaction(signals[k], &before_[k], nullptr);
}

bool Interruption::asked(const Communicator& comm) const {
  const int mine = std::any_of(noted.begin(), noted.end(), [](int one) { return one != 0; }) ? 1 : 0;
  return (comm.size() > 1 ? comm.all_reduce(mine, Reduction::maximum) : mine) != 0;
}

}  // namespace heddle::driver

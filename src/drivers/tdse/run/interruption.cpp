#include "drivers/tdse/run/interruption.hpp"

namespace heddle::driver {

namespace {

// A signal handler may touch nothing else.
volatile std::sig_atomic_t noted = 0;

void note(int) {
  noted = 1;
}

}  // namespace

Interruption::Interruption() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = note;
  // Once: the next one does what it did before. Interrupted system calls go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

bool Interruption::asked(const Communicator& comm) const {
  const int mine = noted;
  return (comm.size() > 1 ? comm.all_reduce(mine, Reduction::maximum) : mine) != 0;
}

}  // namespace heddle::driver

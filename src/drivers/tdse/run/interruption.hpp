// A run that is asked to end.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <csignal>

namespace heddle::driver {

/// While it lives, SIGINT and SIGTERM are noted instead of ending the process; a second one of the same kind ends it as
/// ever. One object at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Whether any rank has been asked. Collective.
  [[nodiscard]] bool asked(const Communicator& comm) const;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace heddle::driver

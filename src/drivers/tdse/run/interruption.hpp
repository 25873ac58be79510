// Signal handlers that record a request to end a run.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <array>
#include <csignal>

namespace heddle::driver {

/// During its lifetime SIGINT, SIGTERM and SIGHUP are recorded instead of ending the process; a second one of the same
/// kind ends it as usual. Signals that were ignored stay ignored. One object at a time.
class Interruption {
 public:
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};

  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Return whether any rank was asked to end. Collective.
  [[nodiscard]] bool asked(const Communicator& comm) const;

 private:
  std::array<struct sigaction, 3> before_ = {};
};

}  // namespace heddle::driver

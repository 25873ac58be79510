// A run that is asked to end.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <array>
#include <csignal>

namespace heddle::driver {

/// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending the process; a second one of the same kind
/// ends it as ever. One that was ignored before stays so. One object at a time.
class Interruption {
 public:
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};

  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Whether any rank has been asked. Collective.
  [[nodiscard]] bool asked(const Communicator& comm) const;

 private:
  std::array<struct sigaction, 3> before_ = {};
};

}  // namespace heddle::driver

// Rests of a rank that waits for others.
#pragma once

#include "core/on_host.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace heddle::impl {

/// Rests of one wait: a rank that asks again and again takes a core from a rank that computes there, perhaps the very
/// one that it waits for. So a wait that has lasted has rests, no longer than a tenth of it together. GPUs' ranks,
/// whose work is done elsewhere, ask without a rest.
class Rest {
 public:
  void take() const {
    if constexpr (on_host) {
      using Seconds = std::chrono::duration<double>;
      constexpr Seconds shortest(50e-6);
      constexpr Seconds longest(200e-6);
      const Seconds tenth = Seconds(std::chrono::steady_clock::now() - begin_) / 10;
      if (tenth >= shortest) std::this_thread::sleep_for(std::min(tenth, longest));
    }
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace heddle::impl

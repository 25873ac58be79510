// Progress bar, or lines, of a long computation on standard error.
#pragma once

#include "drivers/support/options/options.hpp"

#include <chrono>
#include <string>

namespace heddle::driver {

/// A bar on standard error, redrawn at most ten times a second; lines at most every ten seconds where that is no
/// terminal. Call it on all ranks alike; only the one that `shown` is true for draws.
class Progress {
 public:
  Progress(std::string label, ProgressMode mode, bool shown);
  /// Wipe an unfinished bar, so that an error message has a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Show the share done, 0 to 1, followed by a short note.
  void update(double share, const std::string& note = {});
  /// The same for counted steps.
  void update(long long done, long long total, const std::string& note = {});
  /// Leaves the full bar, or a last line, with the time it took.
  void finish();

 private:
  enum class Style { none, lines, bar };
  void wipe();

  std::string label_;
  Style style_ = Style::none;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace heddle::driver

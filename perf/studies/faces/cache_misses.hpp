// Misses of the last cache, counted by the processor while something runs.
#pragma once

#include <heddle/core/scalar.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

/// Counts the misses of the last cache of this process, of all threads that exist at its construction, through Linux's
/// perf_event_open(), as `perf stat -e cache-misses` does. GPU backends, and processors, kernels or settings without
/// such a counter, count nothing; reason() says why.
class CacheMisses {
 public:
  CacheMisses();
  ~CacheMisses();
  CacheMisses(const CacheMisses&) = delete;
  CacheMisses& operator=(const CacheMisses&) = delete;

  /// Empty if misses are counted; otherwise the reason, in one line.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  void start() const;
  /// Return the misses since start(); empty if they are not counted.
  [[nodiscard]] std::optional<Index> stop() const;

 private:
  void close_all();

  std::vector<int> counters_;  // A file descriptor for each thread.
  std::string reason_;
};

}  // namespace heddle::driver

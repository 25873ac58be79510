// Report of the BLAS routines that a program called: how often and how long.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace heddle::impl::interpose {

/// A routine's calls, for the report at the program's end that HEDDLE_BLAS_REPORT=1 asks for.
class Routine {
 public:
  /// `name` must last.
  explicit Routine(const char* name);

  [[nodiscard]] static bool reported();
  void count(std::chrono::nanoseconds time) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
  }
  /// Writes the table of all routines that were called to the standard error stream, and nothing where none was.
  static void write();

 private:
  const char* name_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> nanoseconds_{0};
  Routine* next_;
};

/// A call of a routine, for as long as it lives.
class Call {
 public:
  explicit Call(Routine& routine) : routine_(Routine::reported() ? &routine : nullptr) {
    if (routine_ != nullptr) begin_ = std::chrono::steady_clock::now();
  }
  ~Call() {
    if (routine_ != nullptr) routine_->count(std::chrono::steady_clock::now() - begin_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Routine* routine_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace heddle::impl::interpose

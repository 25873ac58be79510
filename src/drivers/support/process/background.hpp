// Work that is done in order beside the computation.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace heddle::driver {

/// One thread that runs jobs in the order in which they come; a bounded number may wait.
///
/// The next push() or finish() throws what a job threw, as do all later ones; the jobs behind it are dropped.
class Background {
 public:
  /// At most `capacity` >= 1 jobs wait.
  explicit Background(std::size_t capacity);
  /// Drops what waits; returns when the job under way is done.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Blocks while `capacity` jobs wait.
  void push(std::function<void()> job);
  /// Returns when all jobs are done. Nothing may be pushed after it.
  void finish();
  /// Seconds that push() and finish() have blocked.
  [[nodiscard]] double waited() const { return waited_; }

 private:
  void run();
  void stop(bool drop);

  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::exception_ptr error_;
  double waited_ = 0.0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace heddle::driver

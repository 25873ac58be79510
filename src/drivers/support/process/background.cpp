// A thread with a bounded queue of jobs, run in order beside the computation.
#include "drivers/support/process/background.hpp"

#include "drivers/support/process/clock.hpp"
#include <heddle/core/error.hpp>

#include <chrono>
#include <utility>

namespace heddle::driver {

namespace {

// Adds the seconds of its lifetime to a total.
class Wait {
 public:
  explicit Wait(double& seconds) : seconds_(seconds) {}
  ~Wait() { seconds_ += seconds_since(start_); }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Background::Background(std::size_t capacity) : capacity_(capacity), thread_([this] { run(); }) {}

Background::~Background() {
  stop(true);
}

void Background::push(std::function<void()> job) {
  std::unique_lock lock(mutex_);
  require(!stopping_, "a job for a thread that has finished");
  if (jobs_.size() >= capacity_ && !error_) {
    const Wait wait(waited_);
    changed_.wait(lock, [this] { return jobs_.size() < capacity_ || error_; });
  }
  if (error_) std::rethrow_exception(error_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void Background::finish() {
  {
    const Wait wait(waited_);
    stop(false);
  }
  if (error_) std::rethrow_exception(error_);
}

void Background::stop(bool drop) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (drop) jobs_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Background::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    changed_.notify_all();
    lock.unlock();
    std::exception_ptr error;
    try {
      job();
    } catch (...) {
      error = std::current_exception();
    }
    job = nullptr;  // what it holds is released while others may push
    lock.lock();
    if (error) {
      error_ = error;
      jobs_.clear();
      changed_.notify_all();
      return;
    }
  }
}

}  // namespace heddle::driver

// Thread that advances messages while the caller's thread computes.
#include "comm/transports/progress_thread.hpp"

#include <mpi.h>

#include <utility>

namespace heddle::impl {

bool ProgressThread::is_allowed() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided >= MPI_THREAD_SERIALIZED;
}

ProgressThread::ProgressThread(std::function<void()> go_on, std::chrono::microseconds interval)
    : go_on_(std::move(go_on)), interval_(interval), thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProgressThread::begin() {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    works_ = true;
    wake = std::exchange(sleeps_, false);
  }
  if (wake) changed_.notify_one();
}

std::exception_ptr ProgressThread::end() {
  const std::lock_guard lock(mutex_);
  works_ = false;
  return std::exchange(failure_, nullptr);
}

void ProgressThread::run() {
  // Products follow each other: waking up for each would cost more than a few polls in vain.
  constexpr int most_idle_looks = 20;
  std::unique_lock lock(mutex_);
  for (int idle_looks = 0; !over_;) {
    if (idle_looks == most_idle_looks) {
      sleeps_ = true;
      changed_.wait(lock, [&] { return over_ || !sleeps_; });
      idle_looks = 0;
    }
    changed_.wait_for(lock, interval_, [&] { return over_; });
    ++idle_looks;
    if (over_ || !works_ || failure_) continue;
    idle_looks = 0;
    try {
      go_on_();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
}

}  // namespace heddle::impl

// A thread that lets messages go on while the caller's own thread computes and makes no call of MPI.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace heddle::impl {

/// Messages move only while somebody calls MPI. While a rank is inside a long call of a BLAS, its links would be idle
/// until that returns; this thread calls MPI then, in turn with the caller: never while the caller may.
class ProgressThread {
 public:
  /// Whether MPI was started such that two threads may call it in turn (MPI_THREAD_SERIALIZED).
  [[nodiscard]] static bool is_allowed();
  /// Several polls in the time that MpiPieces has under way (`ahead` there), yet so few that they take nothing from
  /// cores that ranks share: a poll and the two changes of threads that it needs take some 20 microseconds, and eight
  /// threads with half a millisecond between polls took a twentieth of two cores.
  static constexpr std::chrono::microseconds usual_interval{2000};

  /// `go_on` does not block, and touches nothing that the caller touches inside of during().
  explicit ProgressThread(std::function<void()> go_on, std::chrono::microseconds interval = usual_interval);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// work() on this thread, go_on() on the other one every so often meanwhile, and never after. Throws what either of
  /// them throws.
  template <class Work> void during(const Work& work) {
    begin();
    try {
      work();
    } catch (...) {
      end();
      throw;
    }
    if (const std::exception_ptr failure = end()) std::rethrow_exception(failure);
  }

 private:
  void begin();
  // Exception that go_on() has thrown since begin().
  std::exception_ptr end();
  void run();

  std::function<void()> go_on_;
  std::chrono::microseconds interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool works_ = false;   // The caller is inside of during().
  bool sleeps_ = false;  // The thread waits until it is woken up.
  bool over_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace heddle::impl

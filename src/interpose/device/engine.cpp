// The device's part of the BLAS, a library of its own.
#include "interpose/device/engine.hpp"

#include "comm/vendor/vendor.hpp"
#include "interpose/device/slabs.hpp"
#include "interpose/names/start.hpp"
#include <heddle/core/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace heddle::impl::interpose {
namespace {

void at_exit();

// A thread of the engine's own, since the device that a runtime has chosen is each thread's, and the program's threads
// keep theirs.
class Engine {
 public:
  Engine() : thread_([this] { serve(); }) { thread_.detach(); }

  // Runs `work` on that thread; what it throws is said in `message`.
  EngineResult run(const std::function<void()>& work, char* message, std::size_t size) {
    std::unique_lock lock(mutex_);
    bool done = false;
    EngineResult result = EngineResult::refused;
    const std::function<void()> task = [&] {
      try {
        work();
        result = EngineResult::done;
      } catch (const Interrupted& error) {
        std::snprintf(message, size, "%s", error.what());
        result = EngineResult::broken;
      } catch (const std::exception& error) {
        std::snprintf(message, size, "%s", error.what());
      }
      done = true;
    };
    task_ = &task;
    changed_.notify_all();
    changed_.wait(lock, [&] { return done; });
    return result;
  }

  void start() {
    if (start_kokkos()) {
      process_ = getpid();
      std::atexit(&at_exit);
    }
    context_.emplace(ExecutionSpace());
    constexpr unsigned most_threads = 12;
    copies_.emplace(static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, most_threads)));
  }
  // Kokkos complains where it outlives its process. While another thread is in a product it has to; a child that was
  // forked has no device.
  void finish() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || task_ != nullptr || process_ != getpid() || !Kokkos::is_initialized()) return;
    Kokkos::finalize();
  }
  template <Scalar T> void multiply(const void* product) {
    constexpr double left_to_others = 0.1;
    const double memory = (1.0 - left_to_others) * static_cast<double>(vendor::memory_info().free);
    const auto& wanted = *static_cast<const Product<T>*>(product);
    const bool done = multiply_in_slabs(*context_, *copies_, wanted, memory);
    context_->space().fence("heddle::interpose::multiply");
    require(done, "a product with inner dimension ", wanted.k, " does not fit the device's memory, of which ", memory,
            " bytes are free");
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return task_ != nullptr; });
      (*task_)();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* task_ = nullptr;
  std::optional<blas::Context> context_;
  std::optional<HostCopies> copies_;
  pid_t process_ = 0;  // That started Kokkos.
  std::thread thread_;
};

// Never destroyed: threads may still be there when the process ends.
Engine& engine() {
  static auto* const the = new Engine;
  return *the;
}

void at_exit() {
  engine().finish();
}

}  // namespace
}  // namespace heddle::impl::interpose

using namespace heddle::impl::interpose;

extern "C" __attribute__((visibility("default"))) bool heddle_blas_device_start(char* message, std::size_t size) {
  return engine().run([] { engine().start(); }, message, size) == EngineResult::done;
}

extern "C" __attribute__((visibility("default"))) EngineResult heddle_blas_device_multiply(char letter,
                                                                                           const void* product,
                                                                                           char* message,
                                                                                           std::size_t size) {
  const auto work = [&] {
    switch (letter) {
      case 's':
        return engine().multiply<float>(product);
      case 'd':
        return engine().multiply<double>(product);
      case 'c':
        return engine().multiply<Kokkos::complex<float>>(product);
      default:
        return engine().multiply<Kokkos::complex<double>>(product);
    }
  };
  return engine().run(work, message, size);
}

// Start of Kokkos in a program that does not use it, and turns of threads that call it.
#include "interpose/names/runtime.hpp"

#include "interpose/names/start.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace heddle::impl::interpose {
namespace {

struct State {
  std::mutex mutex;
  std::optional<blas::Context> context;
  pid_t process = 0;  // That started Kokkos.
};
// Never destroyed: other threads may still be there when the process ends.
State& state() {
  static auto* const the = [] {
    // A child begins with no call under way.
    pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); }, [] { state().mutex.unlock(); });
    return new State;
  }();
  return *the;
}

// Whether the calling thread has less stack left than kernels with large workspaces take.
bool has_small_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  constexpr std::ptrdiff_t enough = std::ptrdiff_t{1} << 19;
  const char here = 0;
  return known && &here - static_cast<const char*>(lowest) < enough;
}

void start(State& the) {
  start_kokkos();
  the.context.emplace(ExecutionSpace());
  the.process = getpid();
}

}  // namespace

void with_kokkos(const std::function<void(const blas::Context&)>& work) {
  State& the = state();
  const std::scoped_lock lock(the.mutex);
  const auto run = [&] {
    try {
      if (!the.context) start(the);
      work(*the.context);
      the.context->space().fence("heddle::interpose::done");
    } catch (const std::exception& error) {
      // The interface of the BLAS has no way to say so.
      std::fprintf(stderr, "heddle: the BLAS cannot go on: %s\n", error.what());
      std::abort();
    }
  };
  if ((the.context && the.process != getpid()) || has_small_stack()) {
    std::thread(run).join();
  } else {
    run();
  }
}

}  // namespace heddle::impl::interpose

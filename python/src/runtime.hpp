// Start and end of Kokkos and MPI in a Python process, and release of the GIL around calls.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/comm/communicator.hpp>
#include <heddle/core/scalar.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace heddle::python {

namespace nb = nanobind;

/// Starts Kokkos, with a number of threads and a device where they are given; nothing where it runs already. Throws
/// Error(argument) where it runs with another number of threads, and Error(computation) once it has ended, or where it
/// was started before this process was forked.
void start(std::optional<int> threads = {}, std::optional<int> device = {});
/// Ends what start() and one_rank() began, and releases what is kept in Kokkos' memory; no call is taken afterwards.
void end();
/// Whether Kokkos runs in this process.
[[nodiscard]] bool running();

/// The first use of space(), blas_context() or one_rank() starts the libraries it needs. The communicator has one rank;
/// MPI is initialised unless it is already.
[[nodiscard]] const ExecutionSpace& space();
[[nodiscard]] const blas::Context& blas_context();
/// The stream of space() as DLPack numbers it; 0 where kernels run on the host.
[[nodiscard]] std::uintptr_t stream_number();
[[nodiscard]] const Communicator& one_rank();

/// A holder of Views that must free them before Kokkos ends: end() calls release() of all registered objects.
class Resource {
 public:
  Resource() = default;
  virtual ~Resource() { unregister(); }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual void release() = 0;

 protected:
  /// Last in the constructor of the derived class: an object whose constructor throws is never registered, and none is
  /// released while it is half made.
  void register_complete();
  /// First in the destructor of the derived class: end() then passes it over.
  void unregister();
};

/// Drops a value whose end may call the library, MPI or Kokkos: at once, or, where another thread's call is under way,
/// when the next one begins. It never waits: that call may need the GIL, which the caller has.
void drop(std::shared_ptr<void> value);

/// A value that holds Views, for objects of Python.
template <class T> class Kept : public Resource {
 public:
  template <class... Arguments>
  explicit Kept(std::in_place_t /*tag*/, Arguments&&... arguments)
      : value_(std::make_shared<T>(std::forward<Arguments>(arguments)...)) {
    register_complete();
  }
  ~Kept() override {
    unregister();
    drop(std::move(value_));
  }
  /// Throws Error(computation) once Kokkos has ended.
  [[nodiscard]] T& operator*() const {
    if (!value_) throw Error(ErrorKind::computation, "heddle has ended with the interpreter");
    return *value_;
  }
  void release() override { value_.reset(); }

 private:
  std::shared_ptr<T> value_;
};

/// Watcher of a long computation: signals, such as Ctrl-C, and a Python object that shows progress.
/// None stands for none; otherwise it is called with the share done, from 0 to 1, or, where it is like a bar of tqdm,
/// its `total` and `update` are used. The hooks are called without the GIL, and throw where Python has an exception.
class Watch {
 public:
  explicit Watch(nb::object progress) : progress_(std::move(progress)) {}
  /// Report that `done` of `total` steps are done.
  void report(double done, double total);
  /// Calls Python in the middle of a computation.
  void call(const std::function<void()>& function);
  [[nodiscard]] std::function<void(double)> of_share() {
    return [this](double share) { report(share, 1.0); };
  }
  [[nodiscard]] std::function<void(int, int)> of_steps() {
    return [this](int done, int total) { report(done, total); };
  }
  /// Throws what stopped the computation, where it was a hook.
  void rethrow() const {
    if (stopped_) std::rethrow_exception(stopped_);
  }

 private:
  nb::object progress_;
  double shown_ = 0.0;
  std::exception_ptr stopped_;
};

/// Release of this thread's GIL for the lifetime of the object. Once the interpreter has begun to end, Python ends a
/// thread that wants the GIL back by unwinding its stack, and noexcept frames of C++ then end the process; such a
/// thread sleeps instead until the process ends.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// The one lock of all calls: the library's work on an instance is one caller's at a time. It is waited for without the
/// GIL alone. Taking it drops what was left. Throws Error(computation) where end() came first, in the thread that
/// called it; others sleep until the process ends.
class Turn {
 public:
  Turn();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// While it exists, Ctrl-C is heard between the kernels that this thread starts on a CPU: the computation ends by a C++
/// exception. Products by the BLAS and single kernels are finished first.
class Hearing {
 public:
  Hearing();
  ~Hearing();
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;
  /// Throws what Python has made of a signal that was heard, if any was.
  void rethrow() const;
};

/// Runs `work` without the GIL, and waits until its kernels are done. Calls of several threads come one after the
/// other.
template <class Work> auto run(Work&& work) {
  start();
  const WithoutGil released;
  const Turn turn;
  const Hearing hearing;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      work();
      space().fence("heddle::python::done");
      hearing.rethrow();
    } else {
      auto result = work();
      space().fence("heddle::python::done");
      hearing.rethrow();
      return result;
    }
  } catch (...) {
    hearing.rethrow();
    throw;
  }
}
/// The same under a watch, whose exception is thrown rather than what the library made of it.
template <class Work> auto run(const Watch& watch, Work&& work) {
  try {
    return run(std::forward<Work>(work));
  } catch (...) {
    watch.rethrow();
    throw;
  }
}

}  // namespace heddle::python

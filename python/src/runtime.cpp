// Start and end of Kokkos and MPI in a Python process, and release of the GIL around calls.
#include "runtime.hpp"

#include <heddle/core/error.hpp>

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::python {
namespace {

struct State {
  std::recursive_mutex mutex;
  std::mutex registry;  // Of the two lists; nothing else is done under it.
  std::set<Resource*> resources;
  std::vector<std::shared_ptr<void>> left;
  bool started = false;
  bool ended = false;
  std::thread::id ended_by;
  bool owns_kokkos = false;
  bool owns_mpi = false;
  pid_t process = 0;
  int threads = 0;
  int devices = 0;
  std::optional<ExecutionSpace> space;
  std::optional<blas::Context> context;
  std::optional<Communicator> one_rank;
};
// Never destroyed: threads may still be there when the process ends.
State& state() {
  static auto* const the = new State;
  return *the;
}

// Whether this thread was left when another one ended the library with the interpreter, so that it is a daemon. An
// error of its own would be printed while Python closes standard error, which ends the process: it sleeps instead, as
// Python 3.14 has such threads do.
bool is_left_behind() {
  return state().ended && std::this_thread::get_id() != state().ended_by;
}
[[noreturn]] void sleep_without_gil() {
  if (PyGILState_Check() != 0) PyEval_SaveThread();
  while (true) pause();
}

void require_this_process() {
  const State& the = state();
  if (is_left_behind()) sleep_without_gil();
  if (the.ended) throw Error(ErrorKind::computation, "heddle has ended with the interpreter");
  if (the.started && the.process != getpid()) {
    throw Error(ErrorKind::computation,
                "heddle was used before this process was forked, and its threads are not in the child: start processes "
                "by the method 'spawn' or 'forkserver', or use heddle in the children alone");
  }
}

// HEDDLE_DEVICE as one number; a list by ranks of a node is a Communicator's to read.
std::optional<int> device_of_environment() {
  const char* text = std::getenv("HEDDLE_DEVICE");
  if (text == nullptr || std::string(text).find_first_not_of("0123456789") != std::string::npos) return {};
  return std::atoi(text);
}

void drop_left() {
  std::vector<std::shared_ptr<void>> left;
  {
    const std::scoped_lock lock(state().registry);
    left.swap(state().left);
  }
}

// Calls that this thread is in, when it looks for signals next, and what Python has made of one.
thread_local int calls_of_thread = 0;
thread_local std::chrono::steady_clock::time_point next_look;
thread_local std::exception_ptr heard;

// Called before each kernel. Kernels of destructors must not throw.
void listen(const char* kernel) {
  if (calls_of_thread == 0 || std::uncaught_exceptions() > 0 ||
      std::string_view(kernel).find("destruct") != std::string_view::npos)
    return;
  if (!heard) {
    constexpr std::chrono::milliseconds apart(50);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look) return;
    next_look = now + apart;
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) return;
    heard = std::make_exception_ptr(nb::python_error());
  }
  throw Error(ErrorKind::computation, "stopped by Python");
}

namespace tools = Kokkos::Tools::Experimental;
using KernelBegins = decltype(tools::EventSet::begin_parallel_for);
// Callbacks of a tool that was loaded.
KernelBegins for_tool[3] = {};
template <int kind> void kernel_begins(const char* name, std::uint32_t device, std::uint64_t* number) {
  if (for_tool[kind] != nullptr) for_tool[kind](name, device, number);
  listen(name);
}

// On GPUs Kokkos waits before each kernel if a callback is set.
void listen_to_kernels() {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) {
    const tools::EventSet before = tools::get_callbacks();
    for_tool[0] = before.begin_parallel_for;
    for_tool[1] = before.begin_parallel_reduce;
    for_tool[2] = before.begin_parallel_scan;
    tools::set_begin_parallel_for_callback(kernel_begins<0>);
    tools::set_begin_parallel_reduce_callback(kernel_begins<1>);
    tools::set_begin_parallel_scan_callback(kernel_begins<2>);
  }
}

}  // namespace

Hearing::Hearing() {
  ++calls_of_thread;
}
Hearing::~Hearing() {
  --calls_of_thread;
}
void Hearing::rethrow() const {
  if (heard) std::rethrow_exception(std::exchange(heard, nullptr));
}

WithoutGil::WithoutGil() : state_(PyEval_SaveThread()) {}
WithoutGil::~WithoutGil() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {
    while (true) pause();
  }
}

Turn::Turn() : lock_(state().mutex) {
  if (is_left_behind()) lock_.unlock();
  require_this_process();
  drop_left();
}

void drop(std::shared_ptr<void> value) {
  State& the = state();
  if (!value) return;
  if (running()) {
    const std::unique_lock lock(the.mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
      const std::scoped_lock registry(the.registry);
      the.left.push_back(std::move(value));
      return;
    }
    // Unless it has ended since.
    if (running()) {
      value.reset();
      return;
    }
  }
  // Kokkos has ended, or is another process's: the rest is left to the system.
  static_cast<void>(new std::shared_ptr<void>(std::move(value)));
}

void start(std::optional<int> threads, std::optional<int> device) {
  State& the = state();
  require_this_process();
  if (the.started) {
    // Kokkos may be ending just now: it is not asked.
    require(!threads || *threads == the.threads || the.devices > 0, "start: threads = ", threads.value_or(0),
            ", but heddle runs with ", the.threads, " already");
    return;
  }
  require(!threads || *threads >= 1, "start: threads = ", threads.value_or(0), "; expected at least 1");
  if (!Kokkos::is_initialized()) {
    if (Kokkos::is_finalized()) throw Error(ErrorKind::computation, "Kokkos was ended by somebody else");
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    if (threads) settings.set_num_threads(*threads);
    if (!device) device = device_of_environment();
    if (device && Kokkos::num_devices() > 0) {
      require(*device >= 0 && *device < Kokkos::num_devices(), "start: device = ", *device, "; expected 0 to ",
              Kokkos::num_devices() - 1);
      settings.set_device_id(*device);
    }
    Kokkos::initialize(settings);
    the.owns_kokkos = true;
  }
  listen_to_kernels();
  the.space.emplace();
  the.threads = the.space->concurrency();
  the.devices = Kokkos::num_devices();
  the.process = getpid();
  the.started = true;
}

void end() {
  State& the = state();
  if (the.ended || (the.started && the.process != getpid())) return;
  // Another thread's call may be under way; it needs the GIL to come back.
  const WithoutGil released;
  const std::scoped_lock lock(the.mutex);
  drop_left();
  the.ended_by = std::this_thread::get_id();
  if (!the.started) {
    the.ended = true;
    return;
  }
  {
    const std::scoped_lock registry(the.registry);
    for (Resource* resource : the.resources) resource->release();
  }
  the.ended = true;
  the.context.reset();
  the.one_rank.reset();
  the.space.reset();
  if (the.owns_kokkos && Kokkos::is_initialized()) Kokkos::finalize();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (the.owns_mpi && finalized == 0) MPI_Finalize();
}

bool running() {
  const State& the = state();
  return the.started && !the.ended && the.process == getpid();
}

const ExecutionSpace& space() {
  return *state().space;
}

std::uintptr_t stream_number() {
#if defined(KOKKOS_ENABLE_CUDA)
  return reinterpret_cast<std::uintptr_t>(space().cuda_stream());
#elif defined(KOKKOS_ENABLE_HIP)
  return reinterpret_cast<std::uintptr_t>(space().hip_stream());
#else
  return 0;
#endif
}

const blas::Context& blas_context() {
  auto& context = state().context;
  if (!context) context.emplace(space());
  return *context;
}

const Communicator& one_rank() {
  State& the = state();
  if (!the.one_rank) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0) {
      int provided = MPI_THREAD_SINGLE;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
      the.owns_mpi = true;
    }
    the.one_rank.emplace(MPI_COMM_SELF, space());
  }
  return *the.one_rank;
}

void Resource::register_complete() {
  const std::scoped_lock lock(state().registry);
  state().resources.insert(this);
}

void Resource::unregister() {
  const std::scoped_lock lock(state().registry);
  state().resources.erase(this);
}

void Watch::call(const std::function<void()>& function) {
  const nb::gil_scoped_acquire acquired;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    function();
  } catch (...) {
    stopped_ = std::current_exception();
    throw Error(ErrorKind::computation, "stopped by Python");
  }
}

void Watch::report(double done, double total) {
  call([&] {
    if (progress_.is_none()) return;
    if (nb::hasattr(progress_, "update")) {
      nb::setattr(progress_, "total", nb::float_(total));
      progress_.attr("update")(done - shown_);
      shown_ = done;
    } else {
      progress_(total > 0 ? done / total : 1.0);
    }
  });
}

}  // namespace heddle::python

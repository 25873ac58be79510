// vendor.hpp on a runtime of CUDA's shape. Included by cuda.cpp and hip.cpp alone, after HEDDLE_GPU(name) is defined to
// give the vendor's spelling of a name.
#include "comm/vendor/vendor.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cstring>
#include <random>

namespace heddle::impl::vendor {
namespace {

// Bytes from column to column that the runtimes copy in one call.
constexpr std::size_t largest_pitch = (std::size_t{1} << 31) - 1;

thread_local std::string last_failure;  // of this thread's calls, for last_error() alone

bool succeeded(HEDDLE_GPU(Error_t) result) {
  if (result == HEDDLE_GPU(Success)) {
    return true;
  }
  last_failure = HEDDLE_GPU(GetErrorString)(result);
  // Otherwise the next check of a kernel launch would report the error.
  static_cast<void>(HEDDLE_GPU(GetLastError)());
  return false;
}

void check(const char* what, HEDDLE_GPU(Error_t) result) {
  if (!succeeded(result)) {
    throw Error(ErrorKind::computation, message_of("the GPU runtime failed to ", what, ": ", last_failure));
  }
}

// Random, as process ids repeat among containers.
std::uint64_t process_number() {
  static const std::uint64_t number = [] {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
  }();
  return number;
}

HEDDLE_GPU(Stream_t) native(Stream stream) {
  return static_cast<HEDDLE_GPU(Stream_t)>(stream);
}
HEDDLE_GPU(Event_t) native_event(Event event) {
  return static_cast<HEDDLE_GPU(Event_t)>(event);
}

}  // namespace

std::string last_error() {
  return last_failure;
}

Stream create_stream(bool urgent) {
  int lowest = 0;
  int highest = 0;
  check("ask for priorities", HEDDLE_GPU(DeviceGetStreamPriorityRange)(&lowest, &highest));
  HEDDLE_GPU(Stream_t) stream = nullptr;
  // The lowest priority is the default.
  check("create a stream",
        HEDDLE_GPU(StreamCreateWithPriority)(&stream, HEDDLE_GPU(StreamNonBlocking), urgent ? highest : lowest));
  return stream;
}
void destroy_stream(Stream stream) noexcept {
  succeeded(HEDDLE_GPU(StreamDestroy)(native(stream)));
}

Event create_event(bool timed) {
  HEDDLE_GPU(Event_t) event = nullptr;
  check("create an event",
        HEDDLE_GPU(EventCreateWithFlags)(&event, timed ? HEDDLE_GPU(EventDefault) : HEDDLE_GPU(EventDisableTiming)));
  return event;
}
void destroy_event(Event event) noexcept {
  succeeded(HEDDLE_GPU(EventDestroy)(native_event(event)));
}
void record(Event event, Stream stream) {
  check("record an event", HEDDLE_GPU(EventRecord)(native_event(event), native(stream)));
}
bool is_past(Event event) {
  const auto result = HEDDLE_GPU(EventQuery)(native_event(event));
  if (result == HEDDLE_GPU(ErrorNotReady)) {
    return false;
  }
  check("ask for an event", result);
  return true;
}
void wait(Event event) {
  check("wait for an event", HEDDLE_GPU(EventSynchronize)(native_event(event)));
}
void wait(Stream stream, Event event) {
  check("order a stream after an event", HEDDLE_GPU(StreamWaitEvent)(native(stream), native_event(event), 0));
}
double seconds_between(Event from, Event to) {
  float milliseconds = 0.0F;
  check("time two events", HEDDLE_GPU(EventElapsedTime)(&milliseconds, native_event(from), native_event(to)));
  return 1e-3 * static_cast<double>(milliseconds);
}

void copy(Stream stream, const Block& to, const Block& from) {
  if (to.is_contiguous() && from.is_contiguous()) {
    check("copy", HEDDLE_GPU(MemcpyAsync)(to.data, from.data, to.bytes(), HEDDLE_GPU(MemcpyDefault), native(stream)));
  } else if (std::max(to.leading, from.leading) <= largest_pitch) {
    check("copy", HEDDLE_GPU(Memcpy2DAsync)(to.data, to.leading, from.data, from.leading, to.width, to.columns,
                                            HEDDLE_GPU(MemcpyDefault), native(stream)));
  } else {
    for (std::size_t column = 0; column < to.columns; ++column) {
      check("copy", HEDDLE_GPU(MemcpyAsync)(to.data + column * to.leading, from.data + column * from.leading, to.width,
                                            HEDDLE_GPU(MemcpyDefault), native(stream)));
    }
  }
}

bool pin(void* data, std::size_t bytes) {
  return succeeded(HEDDLE_GPU(HostRegister)(data, bytes, HEDDLE_GPU(HostRegisterPortable)));
}
void unpin(void* data) noexcept {
  succeeded(HEDDLE_GPU(HostUnregister)(data));
}

MemoryInfo memory_info() {
  MemoryInfo info;
  check("ask for free memory", HEDDLE_GPU(MemGetInfo)(&info.free, &info.total));
  return info;
}

bool export_allocation(Export& allocation) {
  HEDDLE_GPU(IpcMemHandle_t) handle{};
  static_assert(sizeof(handle) <= sizeof(allocation.handle));
  if (!succeeded(HEDDLE_GPU(IpcGetMemHandle)(&handle, reinterpret_cast<void*>(allocation.base)))) {
    return false;
  }
  std::memcpy(allocation.handle.data(), &handle, sizeof(handle));
  return true;
}
void* open_allocation(const Export& allocation) noexcept {
  HEDDLE_GPU(IpcMemHandle_t) handle{};
  std::memcpy(&handle, allocation.handle.data(), sizeof(handle));
  void* address = nullptr;
  return succeeded(HEDDLE_GPU(IpcOpenMemHandle)(&address, handle, HEDDLE_GPU(IpcMemLazyEnablePeerAccess))) ? address
                                                                                                           : nullptr;
}
void close_allocation(void* address) noexcept {
  succeeded(HEDDLE_GPU(IpcCloseMemHandle)(address));
}

}  // namespace heddle::impl::vendor

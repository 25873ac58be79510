// vendor.hpp where matrices are in host memory: no device, no streams, nothing to wait for.
#include "comm/vendor/vendor.hpp"

#include <cstring>

namespace heddle::impl::vendor {

Stream stream_of(const ExecutionSpace& space) {
  // Host kernels are over when they return, but for backends that queue.
  space.fence("heddle::comm::event");
  return nullptr;
}
ExecutionSpace instance_on(Stream) {
  return {};
}
Stream create_stream(bool) {
  return nullptr;
}
void destroy_stream(Stream) noexcept {}

Event create_event(bool) {
  return nullptr;
}
void destroy_event(Event) noexcept {}
void record(Event, Stream) {}
bool is_past(Event) {
  return true;
}
void wait(Event) {}
void wait(Stream, Event) {}
double seconds_between(Event, Event) {
  return 0.0;
}

void copy(Stream, const Block& to, const Block& from) {
  for (std::size_t column = 0; column < to.columns; ++column) {
    std::memcpy(to.data + column * to.leading, from.data + column * from.leading, to.width);
  }
}

bool is_pinned_host(const void*) {
  return false;
}
bool pin(void*, std::size_t) {
  return true;
}
void unpin(void*) noexcept {}
DeviceIdentity device_identity(int) {
  return {};
}
MemoryInfo memory_info() {
  return {};
}

std::optional<Export> allocation_of(const void*) {
  return {};
}
bool export_allocation(Export&) {
  return false;
}
void* open_allocation(const Export&) noexcept {
  return nullptr;
}
void close_allocation(void*) noexcept {}

std::string last_error() {
  return {};
}

}  // namespace heddle::impl::vendor

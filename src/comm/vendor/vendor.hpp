// The vendor's runtime as the transports need it: streams, events, copies, memory shared among processes. Defined by
// one of cuda.cpp, hip.cpp and host.cpp; on the host everything is done when the call returns.
#pragma once

#include <heddle/core/scalar.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace heddle::impl::vendor {

using Stream = void*;
using Event = void*;

[[nodiscard]] Stream stream_of(const ExecutionSpace& space);
/// An instance whose work goes to `stream`, which has to outlive it.
[[nodiscard]] ExecutionSpace instance_on(Stream stream);
/// `urgent`: of the highest priority that the device has.
[[nodiscard]] Stream create_stream(bool urgent = false);
void destroy_stream(Stream stream) noexcept;

[[nodiscard]] Event create_event(bool timed);
void destroy_event(Event event) noexcept;
void record(Event event, Stream stream);
[[nodiscard]] bool is_past(Event event);
void wait(Event event);
void wait(Stream stream, Event event);
/// Seconds between two timed events that are past.
[[nodiscard]] double seconds_between(Event from, Event to);

/// `columns` runs of `width` bytes, `leading` bytes from one to the next; in any memory that the device reaches.
struct Block {
  std::byte* data = nullptr;
  std::size_t width = 0;
  std::size_t columns = 0;
  std::size_t leading = 0;
  [[nodiscard]] std::size_t bytes() const { return width * columns; }
  /// Bytes of a contiguous block.
  [[nodiscard]] std::span<std::byte> run() const { return {data, bytes()}; }
  [[nodiscard]] bool is_contiguous() const { return columns <= 1 || leading == width; }
};
/// to = from, ordered on the stream.
void copy(Stream stream, const Block& to, const Block& from);

/// Whether `data` is host memory that the device reaches: pinned, by any caller.
[[nodiscard]] bool is_pinned_host(const void* data);
/// Pins it for the device; false where it can't be.
[[nodiscard]] bool pin(void* data, std::size_t bytes);
void unpin(void* data) noexcept;

/// Identity of a device among all of the node, whatever number a rank knows it by; all zeros on the host. Needs no
/// Kokkos.
using DeviceIdentity = std::array<char, 16>;
[[nodiscard]] DeviceIdentity device_identity(int device);

struct MemoryInfo {
  std::size_t free = 0;
  std::size_t total = 0;
};
/// Bytes of memory of this rank's device; zeros on the host.
[[nodiscard]] MemoryInfo memory_info();

/// A device allocation as another process of the node opens it.
struct Export {
  std::array<char, 64> handle{};
  std::uint64_t owner = 0;  ///< A number of the process's own.
  std::uint64_t base = 0;   ///< Its address there.
  std::uint64_t size = 0;
  std::uint64_t id = 0;  ///< Differs from that of an earlier allocation at that address.
};
/// The allocation that holds `data`; empty if it can't be shared.
[[nodiscard]] std::optional<Export> allocation_of(const void* data);
/// Fills in the handle; false where the memory can't be shared (managed or pooled memory).
[[nodiscard]] bool export_allocation(Export& allocation);
/// Address of another process's allocation in this one, or null.
[[nodiscard]] void* open_allocation(const Export& allocation) noexcept;
void close_allocation(void* address) noexcept;

/// Message of the runtime about the last call that failed.
[[nodiscard]] std::string last_error();

}  // namespace heddle::impl::vendor

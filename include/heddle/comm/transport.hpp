// How a buffer gets from one rank to another.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/comm/request.hpp>
#include <heddle/core/scalar.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace heddle {

/// `staged`: through host memory and any MPI. On CPU backends, where a View is host memory, there is no stage.
enum class TransportKind { staged };

[[nodiscard]] std::string_view to_string(TransportKind kind);

/// Sends and receives contiguous buffers of the library's memory space, point to point and non-blocking.
///
/// Between two ranks, messages of one tag arrive in the order in which they were sent. A message of n bytes is matched
/// by a receive of n bytes. Zero bytes are neither sent nor received.
///
/// Work that fills a buffer must be ordered on the communicator's space() before send(); work on space() after a
/// completed receive sees the data. send() waits for that instance before it hands the buffer to MPI.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual TransportKind kind() const noexcept = 0;
  /// One line for people: why this transport.
  [[nodiscard]] virtual std::string reason() const = 0;

  template <Scalar T>
  [[nodiscard]] Request send(const Kokkos::View<const T*, MemorySpace>& buffer, int destination, int tag) {
    return send_bytes(buffer.data(), buffer.size() * sizeof(T), destination, tag, std::any(buffer));
  }
  template <Scalar T> [[nodiscard]] Request receive(const Kokkos::View<T*, MemorySpace>& buffer, int source, int tag) {
    return receive_bytes(buffer.data(), buffer.size() * sizeof(T), source, tag, std::any(buffer));
  }

 protected:
  Transport() = default;
  virtual Request send_bytes(const void* data, std::size_t bytes, int destination, int tag, std::any kept) = 0;
  virtual Request receive_bytes(void* data, std::size_t bytes, int source, int tag, std::any kept) = 0;
};

/// The fastest transport that works among the ranks of `comm`; HEDDLE_TRANSPORT=staged names one. Collective.
/// Throws Error(argument) where the variable names none.
[[nodiscard]] std::shared_ptr<Transport> make_transport(const Communicator& comm);

}  // namespace heddle

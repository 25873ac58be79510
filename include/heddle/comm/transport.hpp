// How a buffer gets from one rank to another.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/comm/event.hpp>
#include <heddle/comm/request.hpp>
#include <heddle/core/scalar.hpp>

#include <any>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// `peer`: the receiver's copy engine pulls from the sender's device memory, opened through the vendor's IPC handles;
/// one node, no host in the path. `direct`: an MPI that takes the memory as it is (on CPU backends, any). `staged`: in
/// chunks through pinned host buffers and any MPI.
enum class TransportKind { peer, direct, staged };

[[nodiscard]] std::string_view to_string(TransportKind kind);

/// Sends and receives column-major blocks, point to point and non-blocking.
///
/// Between two ranks, messages of one tag arrive in the order in which they were sent. A message of m x n elements is
/// matched by a receive of m x n. Empty messages are neither sent nor received. A rank may send to itself.
///
/// Blocks may be in device memory or in pinned host memory. Without events, work that fills a block must be ordered on
/// the communicator's space() before send(), and work on space() given before receive() may still use its block; work
/// on space() after a completed receive sees the data. With events, these say so instead, and Request::event() is what
/// the reader of the data waits for.
///
/// An operation goes on within test(), wait() and progress() of the ranks it concerns, nowhere else. Copies of this
/// handle are the same transport; transport_of() and make_transport() give one.
class Transport {
 public:
  /// What the three kinds of transports do.
  class Implementation;
  explicit Transport(std::shared_ptr<Implementation> implementation);

  [[nodiscard]] TransportKind kind() const noexcept;
  /// One line for people: why this transport.
  [[nodiscard]] const std::string& reason() const noexcept;
  /// Whether the columns of a block may lie apart (a leading dimension above the number of rows). Where not, only
  /// contiguous blocks are taken.
  [[nodiscard]] bool takes_blocks() const noexcept;
  /// Whether kernels of this rank may read what others send where it lies: receive_by().
  [[nodiscard]] bool shows_blocks() const noexcept;

  template <Scalar T> [[nodiscard]] Request send(const MatrixView<const T>& block, int destination, int tag) const {
    return begin_send(bytes_of(block), destination, tag, Event::on(space()), block);
  }
  template <Scalar T>
  [[nodiscard]] Request send(const MatrixView<const T>& block, int destination, int tag, const Event& ready) const {
    return begin_send(bytes_of(block), destination, tag, ready, block);
  }
  template <Scalar T> [[nodiscard]] Request receive(const MatrixView<T>& block, int source, int tag) const {
    const Event free = Event::on(space());
    return begin_receive(bytes_of(block), source, tag, std::span(&free, 1), block, Order::on_space);
  }
  template <Scalar T>
  [[nodiscard]] Request receive(const MatrixView<T>& block, int source, int tag, std::span<const Event> free) const {
    return begin_receive(bytes_of(block), source, tag, free, block, Order::by_events);
  }
  template <Scalar T>
  [[nodiscard]] Request send(const Kokkos::View<const T*, MemorySpace>& buffer, int destination, int tag) const {
    return begin_send(bytes_of(buffer), destination, tag, Event::on(space()), buffer);
  }
  template <Scalar T>
  [[nodiscard]] Request receive(const Kokkos::View<T*, MemorySpace>& buffer, int source, int tag) const {
    const Event free = Event::on(space());
    return begin_receive(bytes_of(buffer), source, tag, std::span(&free, 1), buffer, Order::on_space);
  }

  /// Receives by `read(block)`, a void(const MatrixView<const T>&) that gives work on space() which reads the sender's
  /// memory. Called once, within test(), wait() or progress(); the request is complete then, and the sender's when that
  /// work is done. Only where shows_blocks().
  template <Scalar T, class Read>
  [[nodiscard]] Request receive_by(Index rows, Index columns, int source, int tag, Read read) const {
    const auto width = static_cast<std::size_t>(rows) * sizeof(T);
    return begin_receive_by(
        {nullptr, width, static_cast<std::size_t>(columns), width}, source, tag,
        [rows, columns, read = std::move(read)](const Bytes& block) {
          read(MatrixView<const T>(static_cast<const T*>(block.data),
                                   Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1,
                                                        static_cast<std::size_t>(columns), block.leading / sizeof(T))));
        });
  }

  /// Lets every operation go on. Does not block.
  void progress() const;
  /// Returns when nothing that this rank began is under way any more, its last word to a sender included.
  void drain() const;
  /// From now on, operations note when their transfer began and ended (Request::begin(), event()).
  void set_timed(bool timed) const noexcept;

  [[nodiscard]] bool operator==(const Transport& other) const noexcept = default;

 private:
  /// `columns` runs of `width` bytes, `leading` bytes apart.
  struct Bytes {
    const void* data;
    std::size_t width;
    std::size_t columns;
    std::size_t leading;
  };
  /// What a completed receive puts after itself: later work on space(), or what waits for its event.
  enum class Order { on_space, by_events };
  template <class T> static Bytes bytes_of(const MatrixView<T>& block) {
    return {block.data(), block.extent(0) * sizeof(T), block.extent(1),
            block.extent(1) > 1 ? block.stride(1) * sizeof(T) : block.extent(0) * sizeof(T)};
  }
  template <class T> static Bytes bytes_of(const Kokkos::View<T*, MemorySpace>& buffer) {
    return {buffer.data(), buffer.size() * sizeof(T), 1, buffer.size() * sizeof(T)};
  }
  [[nodiscard]] const ExecutionSpace& space() const noexcept;
  [[nodiscard]] Request begin_send(const Bytes& block, int destination, int tag, const Event& ready,
                                   std::any kept) const;
  [[nodiscard]] Request begin_receive(const Bytes& block, int source, int tag, std::span<const Event> free,
                                      std::any kept, Order order) const;
  [[nodiscard]] Request begin_receive_by(const Bytes& shape, int source, int tag,
                                         std::function<void(const Bytes&)> read) const;

  std::shared_ptr<Implementation> implementation_;
};

/// The communicator's transport, chosen at the first call and kept: the fastest that works among its ranks, or the one
/// that HEDDLE_TRANSPORT=peer, direct or staged names (rank 0's word). Collective at the first call. Throws
/// Error(argument), on every rank alike, where the variable names none, or one that can't work here.
[[nodiscard]] Transport transport_of(const Communicator& comm);

/// A transport of this kind, whatever the environment says. Collective. Throws as transport_of.
[[nodiscard]] Transport make_transport(const Communicator& comm, TransportKind kind);

/// Whether a transport of this kind can work among the ranks, and why (not). Collective.
struct Availability {
  bool available = false;
  std::string reason;
};
[[nodiscard]] Availability availability(const Communicator& comm, TransportKind kind);

}  // namespace heddle

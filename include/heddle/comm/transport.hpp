// Transports, which move buffers of memory from one rank to another.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/comm/event.hpp>
#include <heddle/comm/request.hpp>
#include <heddle/core/scalar.hpp>

#include <any>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// How device memory gets from one rank to another. `peer`: the receiver's copy engine reads from the sender's device
/// memory, opened through the vendor's IPC handles; this works within one node and uses no host memory. `direct`: MPI
/// takes the memory as it is (on CPU backends any MPI does). `nccl`: NCCL, or RCCL on AMD GPUs, sends from device to
/// device on streams, with no host memory where the network can reach the devices; it takes some multiprocessors of the
/// device while messages travel. `staged`: the memory goes in chunks through pinned host buffers and any MPI.
enum class TransportKind { peer, direct, nccl, staged };

/// All kinds, in the order in which they are preferred where several work.
inline constexpr std::array transport_kinds = {TransportKind::peer, TransportKind::direct, TransportKind::nccl,
                                               TransportKind::staged};

/// The name of a kind: "peer", "direct", "nccl" or "staged".
[[nodiscard]] std::string_view to_string(TransportKind kind);

/// Sends and receives column-major blocks between two ranks, without blocking.
///
/// Between two ranks, messages of one tag arrive in the order in which they were sent. A message of m x n elements must
/// be received as m x n. Empty messages are neither sent nor received. A rank may send to itself.
///
/// Blocks may be in device memory or in pinned host memory. Without events, the work that fills a block must be ordered
/// on the communicator's space() before send(), and work given to space() before receive() may still use the block;
/// work given to space() after a completed receive sees the data. With events, the events say this instead, and the
/// reader of the data waits for Request::event().
///
/// An operation makes progress only within test(), wait() and progress() of the ranks that it concerns. wait(),
/// progress() and drain() throw an Error where another rank has failed inside a collective operation
/// (Communicator::together()), and, where HEDDLE_TIMEOUT is set, after so many seconds without any movement; the
/// messages under way are then given up, and the transport can't be used any more. Messages travel on a duplicate of
/// the communicator. Copies of this handle are the same transport; transport_of() and make_transport() return one.
class Transport {
 public:
  /// Interface that a kind of transport implements; internal to the library.
  class Implementation;
  /// A block as an implementation takes it: `columns` runs of `width` bytes, each `leading` bytes after the one before.
  struct Bytes {
    const void* data;
    std::size_t width;
    std::size_t columns;
    std::size_t leading;
  };
  /// Makes a handle of an implementation; for the library, which returns transports by transport_of() and
  /// make_transport().
  explicit Transport(std::shared_ptr<Implementation> implementation);

  /// How messages to and from rank `partner` travel; the same seen from there. partner == rank() for messages to
  /// itself. Throws Error(argument) where `partner` is no rank.
  [[nodiscard]] TransportKind kind(int partner) const;
  /// Why that way was chosen, in one line for people.
  [[nodiscard]] const std::string& reason(int partner) const;
  /// Whether all messages of all ranks travel in this way.
  [[nodiscard]] bool only(TransportKind kind) const noexcept;
  /// Whether the columns of a block may lie apart, that is, with a leading dimension above the number of rows, whoever
  /// sends and receives it. Otherwise only contiguous blocks are taken.
  [[nodiscard]] bool takes_blocks() const noexcept;
  /// Whether receive_by() works with rank `partner`: whether kernels may read a sent block in place.
  [[nodiscard]] bool shows_blocks(int partner) const;

  /// Sends `block` to rank `destination`, once the work given to space() so far has filled it.
  template <Scalar T> [[nodiscard]] Request send(const MatrixView<const T>& block, int destination, int tag) const {
    return begin_send(bytes_of(block), destination, tag, Event::on(space()), block);
  }
  /// Sends `block` to rank `destination`, once `ready` is past.
  template <Scalar T>
  [[nodiscard]] Request send(const MatrixView<const T>& block, int destination, int tag, const Event& ready) const {
    return begin_send(bytes_of(block), destination, tag, ready, block);
  }
  /// Receives `block` from rank `source`, once the work given to space() so far is done with the block.
  template <Scalar T> [[nodiscard]] Request receive(const MatrixView<T>& block, int source, int tag) const {
    const Event free = Event::on(space());
    return begin_receive(bytes_of(block), source, tag, std::span(&free, 1), block, Order::on_space);
  }
  /// Receives `block` from rank `source`, once all events of `free` are past.
  template <Scalar T>
  [[nodiscard]] Request receive(const MatrixView<T>& block, int source, int tag, std::span<const Event> free) const {
    return begin_receive(bytes_of(block), source, tag, free, block, Order::by_events);
  }
  /// Sends a contiguous `buffer` to rank `destination`, once the work given to space() so far has filled it.
  template <Scalar T>
  [[nodiscard]] Request send(const Kokkos::View<const T*, MemorySpace>& buffer, int destination, int tag) const {
    return begin_send(bytes_of(buffer), destination, tag, Event::on(space()), buffer);
  }
  /// Receives a contiguous `buffer` from rank `source`, once the work given to space() so far is done with it.
  template <Scalar T>
  [[nodiscard]] Request receive(const Kokkos::View<T*, MemorySpace>& buffer, int source, int tag) const {
    const Event free = Event::on(space());
    return begin_receive(bytes_of(buffer), source, tag, std::span(&free, 1), buffer, Order::on_space);
  }

  /// Receives rows x columns elements from rank `source` by read(block), a void(const MatrixView<const T>&), which
  /// gives work to space() that reads the sender's memory. It is called once, within test(), wait() or progress(); the
  /// request is complete then, and the sender's request when that work is done. Only for transports with
  /// shows_blocks().
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

  /// Lets every operation of this transport make progress. Does not block.
  void progress() const;
  /// Blocks until nothing that this rank began is under way any more, not even its last message to a sender.
  void drain() const;
  /// Whether operations from now on note when their transfers begin and end (Request::begin() and Request::event()).
  void set_timed(bool timed) const noexcept;

  [[nodiscard]] bool operator==(const Transport& other) const noexcept = default;

 private:
  /// Order of work behind a complete receive: all later work on space(), or only work that waits for its event.
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

/// The transport of a communicator: for each two ranks the first of transport_kinds that works between them, so that
/// ranks of one node may read each other's memory while nodes exchange messages. HEDDLE_TRANSPORT (as rank 0 sees it)
/// names those that are allowed, in the order of preference: "staged", or "peer,nccl". Chosen at the first call, which
/// is collective, and kept. Throws Error(argument), on every rank alike, where the variable names
/// something else, or where none of those that it names works between some two ranks.
[[nodiscard]] Transport transport_of(const Communicator& comm);

/// A transport of this kind, whatever the environment says. Collective. Throws Error(argument), on every rank alike,
/// where that kind can't work here.
[[nodiscard]] Transport make_transport(const Communicator& comm, TransportKind kind);

/// Whether a kind of transport can work among some ranks.
struct Availability {
  /// Whether it can.
  bool available = false;
  /// Why it can, or can't.
  std::string reason;
};
/// Whether a transport of this kind can work between all ranks, and why, or why not. Collective.
[[nodiscard]] Availability availability(const Communicator& comm, TransportKind kind);

}  // namespace heddle

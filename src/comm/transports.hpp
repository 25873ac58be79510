// The three transports, made for a communicator whose ranks can all use them.
#pragma once

#include "comm/transfer.hpp"
#include "comm/vendor.hpp"
#include <heddle/comm/transport.hpp>

namespace heddle {

/// A transport: each kind makes its messages, the rest is common.
class Transport::Implementation {
 public:
  Implementation(const ExecutionSpace& space, std::string reason);
  virtual ~Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[nodiscard]] virtual TransportKind kind() const noexcept = 0;
  [[nodiscard]] virtual bool takes_blocks() const noexcept = 0;
  [[nodiscard]] virtual bool shows_blocks() const noexcept { return false; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const ExecutionSpace& space() const noexcept { return space_; }

  Request begin_send(const Bytes& block, int destination, int tag, const Event& ready, std::any kept);
  Request begin_receive(const Bytes& block, int source, int tag, std::span<const Event> free, std::any kept,
                        Order order);
  Request begin_receive_by(const Bytes& shape, int source, int tag, std::function<void(const Bytes&)> read);
  void progress() { progress_->advance(); }
  void drain();
  void set_timed(bool timed) noexcept { timed_ = timed; }

 protected:
  using Bytes = Transport::Bytes;

  virtual std::shared_ptr<Request::Transfer> make_send(const Bytes& block, int destination, int tag,
                                                       const Event& ready) = 0;
  virtual std::shared_ptr<Request::Transfer> make_receive(const Bytes& block, int source, int tag,
                                                          std::span<const Event> free) = 0;
  virtual std::shared_ptr<Request::Transfer> make_receive_by(const Bytes& shape, int source, int tag,
                                                             std::function<void(const Bytes&)> read);
  /// For destructors: drain(), or, where an exception passes, leave what is under way to the end of the job.
  void close() noexcept;
  /// Nothing is under way: buffers may be given back.
  virtual void drained() {}
  [[nodiscard]] bool timed() const noexcept { return timed_; }

 private:
  /// Whether blocks like this one are taken.
  void require_taken(const char* operation, const Bytes& block) const;
  Request begin(std::shared_ptr<Request::Transfer> operation, std::any kept, const ExecutionSpace* order_on);

  ExecutionSpace space_;
  std::string reason_;
  std::shared_ptr<Request::Progress> progress_;
  bool timed_ = false;
};

namespace impl {

using TransportImplementation = Transport::Implementation;

/// A transport's block as the vendor's runtime takes it.
template <class Bytes> vendor::Block native(const Bytes& block) {
  void* const data = const_cast<void*>(block.data);
  return {static_cast<std::byte*>(data), block.width, block.columns, block.leading};
}

/// What a transport keeps of a communicator: it must not keep the communicator itself, which keeps the transport.
struct Ranks {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  ExecutionSpace space;
};

std::unique_ptr<TransportImplementation> make_direct_transport(const Ranks& ranks, std::string reason);
std::unique_ptr<TransportImplementation> make_staged_transport(const Ranks& ranks, std::string reason);
std::unique_ptr<TransportImplementation> make_peer_transport(const Ranks& ranks, std::string reason);

/// The fastest that works, or the one that the environment names; collective.
std::unique_ptr<TransportImplementation> choose_transport(const Communicator& comm);

/// Whether every rank can open every other's device memory; collective. Tries it: a call that fails is only an error.
Availability peer_availability(const Communicator& comm);

}  // namespace impl

}  // namespace heddle

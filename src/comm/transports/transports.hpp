// The transports, and one of several, made for a communicator whose ranks can use them.
#pragma once

#include "comm/failures/failures.hpp"
#include "comm/transports/links.hpp"
#include "comm/transports/transfer.hpp"
#include "comm/vendor/vendor.hpp"
#include <heddle/comm/transport.hpp>

#include <string>
#include <vector>

namespace heddle {

namespace impl {

/// State of a communicator that a transport keeps: it must not keep the communicator itself, which keeps the transport.
struct Ranks {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  ExecutionSpace space;
  std::shared_ptr<Failures> failures;  ///< Null where there is one rank.
  std::vector<int> node_of = {};       ///< By rank.

  [[nodiscard]] bool on_one_node(int partner) const {
    return node_of[static_cast<std::size_t>(partner)] == node_of[static_cast<std::size_t>(rank)];
  }
};

}  // namespace impl

/// A transport: each kind makes its messages, the rest is common.
class Transport::Implementation {
 public:
  using Bytes = Transport::Bytes;

  /// Duplicates the communicator of `ranks`, which is collective. Several transports that are used as one have one
  /// `progress`.
  Implementation(const impl::Ranks& ranks, std::string reason, std::shared_ptr<Request::Progress> progress = nullptr);
  virtual ~Implementation();
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[nodiscard]] virtual TransportKind kind(int partner) const noexcept = 0;
  [[nodiscard]] virtual bool only(TransportKind kind) const noexcept { return this->kind(ranks_.rank) == kind; }
  [[nodiscard]] virtual bool takes_blocks() const noexcept = 0;
  [[nodiscard]] virtual bool shows_blocks(int /*partner*/) const noexcept { return false; }
  [[nodiscard]] virtual const std::string& reason(int /*partner*/) const noexcept { return reason_; }
  [[nodiscard]] const ExecutionSpace& space() const noexcept { return ranks_.space; }
  void require_partner(int partner) const;

  Request begin_send(const Bytes& block, int destination, int tag, const Event& ready, std::any kept);
  Request begin_receive(const Bytes& block, int source, int tag, std::span<const Event> free, std::any kept,
                        Order order);
  Request begin_receive_by(const Bytes& shape, int source, int tag, std::function<void(const Bytes&)> read);
  void progress() { progress_->advance(); }
  void drain();
  virtual void set_timed(bool timed) noexcept { timed_ = timed; }

  virtual std::shared_ptr<Request::Transfer> make_send(const Bytes& block, int destination, int tag,
                                                       const Event& ready) = 0;
  virtual std::shared_ptr<Request::Transfer> make_receive(const Bytes& block, int source, int tag,
                                                          std::span<const Event> free) = 0;
  virtual std::shared_ptr<Request::Transfer> make_receive_by(const Bytes& shape, int source, int tag,
                                                             std::function<void(const Bytes&)> read);
  /// Called when nothing is under way: buffers may be given back.
  virtual void drained() {}

 protected:
  /// For destructors: drain(), or, if that fails, abandon the operations under way.
  void close() noexcept;
  [[nodiscard]] bool timed() const noexcept { return timed_; }
  /// The ranks, with the duplicate as their communicator.
  [[nodiscard]] const impl::Ranks& ranks() const noexcept { return ranks_; }
  [[nodiscard]] const std::shared_ptr<Request::Progress>& shared_progress() const noexcept { return progress_; }

 private:
  /// Whether blocks like this one are taken.
  void require_taken(const char* operation, const Bytes& block) const;
  Request begin(std::shared_ptr<Request::Transfer> operation, const MessageName& name, std::any kept,
                const ExecutionSpace* order_on);

  impl::Ranks ranks_;
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

using Progress = Request::Progress;
/// Make a transport of a kind that works between all ranks that will use it. Collective.
std::unique_ptr<TransportImplementation> make_direct_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress = nullptr);
std::unique_ptr<TransportImplementation> make_staged_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress = nullptr);
std::unique_ptr<TransportImplementation> make_peer_transport(const Ranks& ranks, std::string reason,
                                                             std::shared_ptr<Progress> progress = nullptr);
/// Transport by links of `maker`. A rank has at most `most_under_way` messages at once on the links to others, and as
/// many on those from others.
std::unique_ptr<TransportImplementation> make_linked_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress,
                                                               std::unique_ptr<LinkMaker> maker,
                                                               int most_under_way = 4);

/// A way for messages, and why it was chosen.
struct Way {
  TransportKind kind;
  std::string reason;
};
std::unique_ptr<TransportImplementation> make_transport_of(const Way& way, const Ranks& ranks,
                                                           std::shared_ptr<Progress> progress = nullptr);
/// One transport of several: messages with rank r travel by ways[of_partner[r]]. Collective; `ways` is the same on
/// every rank, and two ranks name the same way for each other.
std::unique_ptr<TransportImplementation> make_mixed_transport(const Ranks& ranks, const std::vector<Way>& ways,
                                                              std::vector<int> of_partner);

/// The fastest that works between each two ranks, of those that the environment allows; collective.
std::unique_ptr<TransportImplementation> choose_transport(const Communicator& comm);
/// State of `comm` that transports keep.
Ranks ranks_of(const Communicator& comm);

/// Whether the ranks of each node can open each other's device memory, by node. Collective. Tries it: a call that fails
/// is only an error.
std::vector<Availability> peer_availability(const Communicator& comm);

}  // namespace impl

}  // namespace heddle

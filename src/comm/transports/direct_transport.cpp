// Transport `direct`: MPI takes the buffers as they are.
#include "comm/transports/mpi_pieces.hpp"
#include "comm/transports/transfer.hpp"
#include "comm/transports/transports.hpp"
#include "comm/transports/turns.hpp"
#include "core/on_host.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

// A send or a receive: posted in its turn, once the device is past the events, complete when MPI is done.
class DirectMessage final : public Transfer {
 public:
  using Post = void (*)(void* data, int count, int partner, int tag, MPI_Comm comm, MPI_Request* request);

  DirectMessage(MPI_Comm comm, Turns& turns, std::span<std::byte> data, const Turns::Key& key,
                std::span<const Event> after, bool receives, Post post, const MessageCut& cut)
      : comm_(comm),
        turns_(turns),
        key_(key),
        data_(data),
        after_(after.begin(), after.end()),
        receives_(receives),
        post_(post),
        pieces_(cut) {
    turns_.enter(key_, this);
  }

  void advance() override {
    const auto post = [&](std::size_t offset, int count, MPI_Request* request) {
      post_(data_.data() + offset, count, key_.first, key_.second, comm_, request);
    };
    if (!pieces_.started()) {
      // MPI knows nothing of streams.
      if (turns_.place(key_, this) > 0 ||
          !std::all_of(after_.begin(), after_.end(), [](const Event& event) { return event.done(); })) {
        return;
      }
      pieces_.start(data_.size(), post);
      if (pieces_.all_posted()) turns_.leave(key_);
    }
    if (!finished_ && pieces_.test()) {
      complete_ = true;
      finished_ = true;
    } else if (!pieces_.all_posted()) {
      pieces_.go_on(post);
      if (pieces_.all_posted()) turns_.leave(key_);
    }
  }
  bool has_stopped() override { return !receives_ || finished_ || pieces_.has_stopped(); }

 private:
  void stop() override {
    if (receives_ && !finished_) pieces_.cancel();
  }

  MPI_Comm comm_;
  Turns& turns_;
  Turns::Key key_;
  std::span<std::byte> data_;
  std::vector<Event> after_;
  bool receives_;
  Post post_;
  MpiPieces pieces_;
};

class DirectTransport final : public TransportImplementation {
 public:
  DirectTransport(const Ranks& ranks, std::string reason, std::shared_ptr<Progress> progress)
      : TransportImplementation(ranks, std::move(reason), std::move(progress)) {}
  ~DirectTransport() override { close(); }

  TransportKind kind(int /*partner*/) const noexcept override { return TransportKind::direct; }
  bool takes_blocks() const noexcept override { return false; }

  std::shared_ptr<Transfer> make_send(const Bytes& block, int destination, int tag, const Event& ready) override {
    return std::make_shared<DirectMessage>(
        ranks().comm, sends_, native(block).run(), Turns::Key(destination, tag), std::span(&ready, 1), false,
        [](void* data, int count, int partner, int key, MPI_Comm comm, MPI_Request* request) {
          checked(MPI_Isend(data, count, MPI_BYTE, partner, key, comm, request), "MPI_Isend");
        },
        cut_for(destination));
  }
  std::shared_ptr<Transfer> make_receive(const Bytes& block, int source, int tag,
                                         std::span<const Event> free) override {
    return std::make_shared<DirectMessage>(
        ranks().comm, receives_, native(block).run(), Turns::Key(source, tag), free, true,
        [](void* data, int count, int partner, int key, MPI_Comm comm, MPI_Request* request) {
          checked(MPI_Irecv(data, count, MPI_BYTE, partner, key, comm, request), "MPI_Irecv");
        },
        cut_for(source));
  }

 private:
  // Between nodes two ranks often share one connection, in which what one of them sends goes in order: a word that the
  // other waits for, before it sends anything in its turn, comes after all the data ahead of it. With whole bands
  // ahead, the link was idle one way a fifth of the time. A GPU-aware MPI moves device memory by itself.
  [[nodiscard]] MessageCut cut_for(int partner) const {
    return on_host && !ranks().on_one_node(partner) ? cut_between_nodes : MessageCut{};
  }

  Turns sends_;
  Turns receives_;
};

}  // namespace

std::unique_ptr<TransportImplementation> make_direct_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress) {
  return std::make_unique<DirectTransport>(ranks, std::move(reason), std::move(progress));
}

}  // namespace heddle::impl

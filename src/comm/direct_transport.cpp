// MPI takes the buffers as they are.
#include "comm/mpi_pieces.hpp"
#include "comm/transfer.hpp"
#include "comm/transports.hpp"
#include "comm/turns.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

// A send or a receive: posted in its turn, once the device is past the events, complete when MPI is done.
class DirectMessage final : public Transfer {
 public:
  using Post = void (*)(void* data, int count, int partner, int tag, MPI_Comm comm, MPI_Request* request);

  DirectMessage(MPI_Comm comm, Turns& turns, std::span<std::byte> data, const Turns::Key& key,
                std::span<const Event> after, bool receives, Post post)
      : comm_(comm),
        turns_(turns),
        key_(key),
        data_(data),
        after_(after.begin(), after.end()),
        receives_(receives),
        post_(post) {
    turns_.enter(key_, this);
  }

  void advance() override {
    if (!pieces_.started()) {
      // MPI knows nothing of streams.
      if (turns_.place(key_, this) > 0 ||
          !std::all_of(after_.begin(), after_.end(), [](const Event& event) { return event.done(); })) {
        return;
      }
      pieces_.start(data_.size(), [&](std::size_t offset, int count, MPI_Request* request) {
        post_(data_.data() + offset, count, key_.first, key_.second, comm_, request);
      });
      turns_.leave(key_);
    }
    if (!finished_ && pieces_.test()) {
      complete_ = true;
      finished_ = true;
    }
  }
  bool has_stopped() override { return !receives_ || finished_ || pieces_.test(); }

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
        });
  }
  std::shared_ptr<Transfer> make_receive(const Bytes& block, int source, int tag,
                                         std::span<const Event> free) override {
    return std::make_shared<DirectMessage>(
        ranks().comm, receives_, native(block).run(), Turns::Key(source, tag), free, true,
        [](void* data, int count, int partner, int key, MPI_Comm comm, MPI_Request* request) {
          checked(MPI_Irecv(data, count, MPI_BYTE, partner, key, comm, request), "MPI_Irecv");
        });
  }

 private:
  Turns sends_;
  Turns receives_;
};

}  // namespace

std::unique_ptr<TransportImplementation> make_direct_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress) {
  return std::make_unique<DirectTransport>(ranks, std::move(reason), std::move(progress));
}

}  // namespace heddle::impl

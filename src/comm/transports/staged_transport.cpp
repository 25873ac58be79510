// Transport `staged`: through pinned host buffers, in chunks, two of each message at a time: one is copied while the
// other travels.
#include "comm/failures/checked.hpp"
#include "comm/transports/transfer.hpp"
#include "comm/transports/transports.hpp"
#include "comm/transports/turns.hpp"
#include "comm/vendor/queue.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace heddle::impl {
namespace {

// Large enough for PCIe and shared memory to be at their rates, small enough to overlap within a band.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

// A block cut into chunks; sender and receiver cut alike, whatever their leading dimensions.
class Chunks {
 public:
  explicit Chunks(const vendor::Block& block) : block_(block) {
    columns_ = std::max<std::size_t>(chunk_bytes / block.width, 1);
    width_ = std::min(block.width, chunk_bytes);
    across_ = (block.width + width_ - 1) / width_;
    count_ = across_ * ((block.columns + columns_ - 1) / columns_);
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] vendor::Block operator[](std::size_t k) const {
    const std::size_t row = k % across_ * width_;
    const std::size_t column = k / across_ * columns_;
    return {block_.data + row + column * block_.leading, std::min(width_, block_.width - row),
            std::min(columns_, block_.columns - column), block_.leading};
  }

 private:
  vendor::Block block_;
  std::size_t columns_;
  std::size_t width_;
  std::size_t across_;
  std::size_t count_;
};

using HostStage = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;

vendor::Block block_in(const HostStage& stage, const vendor::Block& like) {
  return {stage.data(), like.width, like.columns, like.width};
}

// State that the operations of one transport share.
struct StagedShared {
  Ranks ranks;
  Turns sends;
  Turns receives;
  CopyQueue outgoing;
  std::map<int, CopyQueue> incoming;  // By tag: a copy that waits for its target holds up no other stream.
  std::vector<HostStage> stages;      // Unused stages; kept, since pinning is slow.

  [[nodiscard]] HostStage take() {
    if (stages.empty()) {
      return HostStage(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::comm::stage"), chunk_bytes);
    }
    HostStage stage = stages.back();
    stages.pop_back();
    return stage;
  }
};

// A message cut into chunks: chunk k has slot k mod 2 from when it begins until it is over.
class StagedMessage : public Transfer {
 public:
  StagedMessage(StagedShared& shared, const vendor::Block& block, int partner, int tag, bool timed)
      : shared_(shared), chunks_(block), key_(partner, tag), timed_(timed) {}

 protected:
  struct Slot {
    HostStage stage;
    Event copied;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  [[nodiscard]] Slot& slot(std::size_t chunk) { return slots_[chunk % slots_.size()]; }
  [[nodiscard]] bool has_free_slot() const { return begun_ < chunks_.count() && begun_ < over_ + slots_.size(); }
  Slot& begin_slot() {
    Slot& next = slot(begun_);
    if (next.stage.data() == nullptr) {
      next.stage = shared_.take();
    }
    ++begun_;
    return next;
  }
  void end_slot() {
    if (++over_ == chunks_.count()) {
      finished_ = true;
      for (Slot& one : slots_) {
        if (one.stage.data() != nullptr) {
          shared_.stages.push_back(std::exchange(one.stage, {}));
        }
      }
    }
  }

  StagedShared& shared_;
  Chunks chunks_;
  Turns::Key key_;
  bool timed_;
  std::array<Slot, 2> slots_;
  std::size_t begun_ = 0;
  std::size_t passed_ = 0;  // Chunks past their first half: a send's in MPI's hands, a receive's out of them.
  std::size_t over_ = 0;
};

class StagedSend final : public StagedMessage {
 public:
  StagedSend(StagedShared& shared, const vendor::Block& block, int destination, int tag, Event ready)
      : StagedMessage(shared, block, destination, tag, false), ready_(std::move(ready)) {
    shared_.sends.enter(key_, this);
  }

  void advance() override {
    const bool has_turn = complete_ || shared_.sends.place(key_, this) == 0;
    if (finished_ || !has_turn || !ready_.done()) {
      return;
    }
    while (over_ < passed_ && is_over(slot(over_).request)) {
      end_slot();
    }
    while (has_free_slot()) {
      const vendor::Block chunk = chunks_[begun_];
      Slot& next = begin_slot();
      shared_.outgoing.copy(block_in(next.stage, chunk), chunk);
      next.copied = shared_.outgoing.event();
    }
    while (passed_ < begun_ && slot(passed_).copied.done()) {
      Slot& next = slot(passed_);
      checked(MPI_Isend(next.stage.data(), static_cast<int>(chunks_[passed_].bytes()), MPI_BYTE, key_.first,
                        key_.second, shared_.ranks.comm, &next.request),
              "MPI_Isend");
      if (++passed_ == chunks_.count()) {
        complete_ = true;
        shared_.sends.leave(key_);
      }
    }
  }

 private:
  Event ready_;
};

class StagedReceive final : public StagedMessage {
 public:
  StagedReceive(StagedShared& shared, const vendor::Block& block, int source, int tag, std::span<const Event> free,
                bool timed)
      : StagedMessage(shared, block, source, tag, timed),
        free_(free.begin(), free.end()),
        queue_(shared.incoming[tag]) {
    shared_.receives.enter(key_, this);
  }

  void advance() override {
    if (finished_) {
      return;
    }
    while (over_ < passed_ && slot(over_).copied.done()) {
      end_slot();
    }
    if (begun_ < chunks_.count() && shared_.receives.place(key_, this) == 0) {
      while (has_free_slot()) {
        const vendor::Block chunk = chunks_[begun_];
        Slot& next = begin_slot();
        checked(MPI_Irecv(next.stage.data(), static_cast<int>(chunk.bytes()), MPI_BYTE, key_.first, key_.second,
                          shared_.ranks.comm, &next.request),
                "MPI_Irecv");
      }
      if (begun_ == chunks_.count()) {
        shared_.receives.leave(key_);
      }
    }
    while (passed_ < begun_ && is_over(slot(passed_).request)) {
      Slot& next = slot(passed_);
      if (passed_ == 0) {
        queue_.after(free_);
        free_.clear();
        begin_ = timed_ ? queue_.event(true) : Event();
      }
      const vendor::Block chunk = chunks_[passed_];
      queue_.copy(chunk, block_in(next.stage, chunk));
      next.copied = queue_.event(timed_);
      if (++passed_ == chunks_.count()) {
        event_ = next.copied;
        complete_ = true;
      }
    }
  }

 private:
  std::vector<Event> free_;
  CopyQueue& queue_;
};

class StagedTransport final : public TransportImplementation {
 public:
  StagedTransport(const Ranks& ranks, std::string reason, std::shared_ptr<Progress> progress)
      : TransportImplementation(ranks, std::move(reason), std::move(progress)) {
    shared_.ranks = this->ranks();
  }
  ~StagedTransport() override { close(); }

  TransportKind kind(int /*partner*/) const noexcept override { return TransportKind::staged; }
  bool takes_blocks() const noexcept override { return true; }

  std::shared_ptr<Transfer> make_send(const Bytes& block, int destination, int tag, const Event& ready) override {
    return std::make_shared<StagedSend>(shared_, native(block), destination, tag, ready);
  }
  std::shared_ptr<Transfer> make_receive(const Bytes& block, int source, int tag,
                                         std::span<const Event> free) override {
    return std::make_shared<StagedReceive>(shared_, native(block), source, tag, free, timed());
  }

 private:
  StagedShared shared_;
};

}  // namespace

std::unique_ptr<TransportImplementation> make_staged_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress) {
  return std::make_unique<StagedTransport>(ranks, std::move(reason), std::move(progress));
}

}  // namespace heddle::impl

// The receiver pulls from the sender's device memory, which it opens through the vendor's IPC handles; or its kernels
// read there themselves (receive_by).
//
// A sender says in a small MPI message where its block lies; the receiver's copy engine pulls it, ordered by events
// among the receiver's own streams; another small message says that the block was read. No host waits for a device:
// both messages are sent by whoever polls next. Events shared between processes, the alternative, save none of the
// messages (a wait is only valid once the other process has recorded), and cost a wait at the head of a stream that
// other copies share.
#include "comm/failures/checked.hpp"
#include "comm/transports/tags.hpp"
#include "comm/transports/transfer.hpp"
#include "comm/transports/transports.hpp"
#include "comm/transports/turns.hpp"
#include "comm/vendor/mappings.hpp"
#include "comm/vendor/queue.hpp"
#include "core/on_host.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

namespace heddle::impl {
namespace {

// Location of a block, as the sender announces it.
struct Descriptor {
  vendor::Export allocation;  // base 0: the sender's own address space, for messages to itself.
  std::uint64_t offset = 0;
  std::uint64_t width = 0;
  std::uint64_t columns = 0;
  std::uint64_t leading = 0;
  int acknowledgement = 0;  // Tag of the message that says that it was read.
};

// Exports of this rank's allocations: making a handle costs tens of microseconds, asking for its id less than one.
class Exports {
 public:
  // Empty if the memory can't be shared.
  std::optional<vendor::Export> find(const void* data) {
    if (vendor::is_pinned_host(data)) {
      return {};
    }
    auto allocation = vendor::allocation_of(data);
    if (!allocation) {
      return {};
    }
    if (const auto known = entries_.find(allocation->base);
        known != entries_.end() && known->second.id == allocation->id) {
      return known->second;
    }
    if (!vendor::export_allocation(*allocation)) {
      return {};
    }
    entries_[allocation->base] = *allocation;
    return allocation;
  }

 private:
  std::map<std::uint64_t, vendor::Export> entries_;
};

// A copy of a block in device memory of its own: of host memory, which others can't open, or of device memory that
// can't be shared. Messages of one block to several ranks share it.
struct PeerStage {
  using Buffer = Kokkos::View<std::byte*, MemorySpace>;
  vendor::Block source;
  Buffer buffer;
  Event copied;
};

bool same(const vendor::Block& one, const vendor::Block& other) {
  return one.data == other.data && one.width == other.width && one.columns == other.columns &&
         one.leading == other.leading;
}

struct PeerShared {
  Ranks ranks;
  Turns sends;
  Exports exports;
  std::shared_ptr<Mappings> mappings = Mappings::of_process();
  std::map<int, CopyQueue> incoming;  // By order_of(tag): a copy that waits for its target holds up no other.
  CopyQueue staging;
  std::vector<std::weak_ptr<PeerStage>> stages;
  std::vector<PeerStage::Buffer> buffers;          // Of stages that are over, kept: others have them open.
  std::map<Turns::Key, std::size_t> stages_shown;  // Stages that a receiver may be reading, by receiver and tag.
  AnswerTags acknowledgements;

  // Stages that messages to one receiver may hold: one is read while the next is filled. A receiver reads in the order
  // of sending, so that none waits for another's.
  static constexpr std::size_t most_stages = 2;

  [[nodiscard]] std::shared_ptr<PeerStage> staged(const vendor::Block& source) {
    std::erase_if(stages, [](const auto& stage) { return stage.expired(); });
    for (const auto& stage : stages) {
      if (auto alive = stage.lock(); alive && same(alive->source, source)) {
        return alive;
      }
    }
    return {};
  }
  [[nodiscard]] std::shared_ptr<PeerStage> make_stage(const vendor::Block& source) {
    std::shared_ptr<PeerStage> stage(new PeerStage{source, {}, {}}, [this](PeerStage* over) {
      buffers.push_back(over->buffer);
      delete over;
    });
    const auto fits = std::find_if(buffers.begin(), buffers.end(),
                                   [&](const PeerStage::Buffer& buffer) { return buffer.size() >= source.bytes(); });
    if (fits != buffers.end()) {
      stage->buffer = *fits;
      buffers.erase(fits);
    } else {
      stage->buffer = PeerStage::Buffer(
          Kokkos::view_alloc(ranks.space, Kokkos::WithoutInitializing, "heddle::comm::stage"), source.bytes());
    }
    staging.copy({stage->buffer.data(), source.width, source.columns, source.width}, source);
    stage->copied = staging.event();
    stages.push_back(stage);
    return stage;
  }
};

class PeerSend final : public Transfer {
 public:
  PeerSend(PeerShared& shared, const vendor::Block& block, int destination, int tag, Event ready)
      : shared_(shared), block_(block), key_(destination, tag), ready_(std::move(ready)) {
    if (destination != shared_.ranks.rank) {
      allocation_ = shared_.exports.find(block.data);
    } else if (shared_.ranks.size == 1 || !vendor::is_pinned_host(block.data)) {
      allocation_.emplace();
    }
    // Host memory goes by a stage to this rank too: it crosses the bus once for all receivers.
    needs_stage_ = !allocation_;
    shared_.sends.enter(key_, this);
  }

  void advance() override {
    if (!described_) {
      if (needs_stage_ && !stage_ && !take_stage()) {
        return;
      }
      if (shared_.sends.place(key_, this) > 0 || !ready_.done() || (stage_ && !stage_->copied.done())) {
        return;
      }
      describe();
    }
    if (!complete_) {
      if (is_over(acknowledgement_)) {
        complete_ = true;
        if (stage_) {
          stage_.reset();
          --shared_.stages_shown[key_];
        }
      }
    }
    if (complete_ && !finished_) finished_ = is_over(message_);
  }

 private:
  bool take_stage() {
    if (!ready_.done() || shared_.stages_shown[key_] + shared_.sends.place(key_, this) >= PeerShared::most_stages) {
      return false;
    }
    stage_ = shared_.staged(block_);
    if (!stage_) {
      stage_ = shared_.make_stage(block_);
    }
    return true;
  }

  void describe() {
    vendor::Block block = block_;
    if (stage_) {
      block = {stage_->buffer.data(), block_.width, block_.columns, block_.width};
      allocation_ = shared_.exports.find(block.data);
      if (!allocation_) {
        throw Error(ErrorKind::computation,
                    message_of("peer transport: device memory can't be shared: ", vendor::last_error()));
      }
    }
    descriptor_ = {*allocation_,  reinterpret_cast<std::uint64_t>(block.data) - allocation_->base,
                   block.width,   block.columns,
                   block.leading, shared_.acknowledgements.next()};
    checked(
        MPI_Irecv(nullptr, 0, MPI_BYTE, key_.first, descriptor_.acknowledgement, shared_.ranks.comm, &acknowledgement_),
        "MPI_Irecv");
    checked(
        MPI_Isend(&descriptor_, sizeof(descriptor_), MPI_BYTE, key_.first, key_.second, shared_.ranks.comm, &message_),
        "MPI_Isend");
    shared_.sends.leave(key_);
    shared_.stages_shown[key_] += stage_ ? 1 : 0;
    described_ = true;
  }

  PeerShared& shared_;
  vendor::Block block_;
  Turns::Key key_;
  Event ready_;
  std::optional<vendor::Export> allocation_;
  bool needs_stage_ = false;
  std::shared_ptr<PeerStage> stage_;
  Descriptor descriptor_;
  bool described_ = false;
  MPI_Request message_ = MPI_REQUEST_NULL;
  MPI_Request acknowledgement_ = MPI_REQUEST_NULL;
};

using Reader = std::function<void(const vendor::Block&)>;

class PeerReceive final : public Transfer {
 public:
  // With a reader, which takes the block where it lies, `block` is its shape alone.
  PeerReceive(PeerShared& shared, const vendor::Block& block, int source, int tag, std::span<const Event> free,
              bool timed, Reader reader = {})
      : shared_(shared),
        block_(block),
        source_(source),
        queue_(shared.incoming[order_of(tag)]),
        free_(free.begin(), free.end()),
        timed_(timed),
        reader_(std::move(reader)) {
    checked(MPI_Irecv(&descriptor_, sizeof(descriptor_), MPI_BYTE, source, tag, shared.ranks.comm, &message_),
            "MPI_Irecv");
  }

  void advance() override {
    if (!complete_) {
      if (!is_over(message_)) return;
      pull();
      complete_ = true;
    }
    if (!acknowledged_ && event_.done()) {
      mapping_.reset();
      checked(MPI_Isend(nullptr, 0, MPI_BYTE, source_, descriptor_.acknowledgement, shared_.ranks.comm, &message_),
              "MPI_Isend");
      acknowledged_ = true;
    }
    if (acknowledged_ && !finished_) finished_ = is_over(message_);
  }

 private:
  void stop() override {
    // Copies under way still read the sender's memory, which its owner can free once nobody has it open: a message that
    // was given up is kept for good.
    if (!complete_) return;
    event_.wait();
    mapping_.reset();
  }

  void pull() {
    if (descriptor_.width * descriptor_.columns != block_.bytes()) {
      throw Error(ErrorKind::argument, message_of("receive: ", block_.bytes(), " bytes are expected of rank ", source_,
                                                  ", ", descriptor_.width * descriptor_.columns, " were sent"));
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a message holds the address.
    auto* const sent = reinterpret_cast<std::byte*>(descriptor_.allocation.base + descriptor_.offset);
    vendor::Block from{sent, descriptor_.width, descriptor_.columns, descriptor_.leading};
    if (source_ != shared_.ranks.rank) {
      mapping_ = shared_.mappings->open(descriptor_.allocation);
      from.data = mapping_->address() + descriptor_.offset;
    }
    if (reader_) {
      require(from.width == block_.width, "receive: a block of ", block_.width, " bytes a column, sent ", from.width);
      begin_ = timed_ ? Event::on(shared_.ranks.space, true) : Event();
      reader_(from);
      event_ = Event::on(shared_.ranks.space, timed_);
      return;
    }
    queue_.after(free_);
    free_.clear();
    begin_ = timed_ ? queue_.event(true) : Event();
    vendor::Block to = block_;
    if (to.width != from.width) {
      // A run of bytes at one end, columns at the other.
      require(to.is_contiguous() || from.is_contiguous(), "receive: blocks of different shape that are not contiguous");
      if (to.is_contiguous()) {
        to = {to.data, from.width, from.columns, from.width};
      } else {
        from = {from.data, to.width, to.columns, to.width};
      }
    }
    queue_.copy(to, from);
    event_ = queue_.event(timed_);
  }

  PeerShared& shared_;
  vendor::Block block_;
  int source_;
  CopyQueue& queue_;
  std::vector<Event> free_;
  bool timed_;
  Reader reader_;
  Descriptor descriptor_;
  std::shared_ptr<Mapping> mapping_;
  bool acknowledged_ = false;
  MPI_Request message_ = MPI_REQUEST_NULL;
};

class PeerTransport final : public TransportImplementation {
 public:
  PeerTransport(const Ranks& ranks, std::string reason, std::shared_ptr<Progress> progress)
      : TransportImplementation(ranks, std::move(reason), std::move(progress)) {
    shared_.ranks = this->ranks();
  }
  ~PeerTransport() override { close(); }

  TransportKind kind(int /*partner*/) const noexcept override { return TransportKind::peer; }
  bool takes_blocks() const noexcept override { return true; }
  bool shows_blocks(int /*partner*/) const noexcept override { return true; }

  std::shared_ptr<Transfer> make_send(const Bytes& block, int destination, int tag, const Event& ready) override {
    return std::make_shared<PeerSend>(shared_, native(block), destination, tag, ready);
  }
  std::shared_ptr<Transfer> make_receive(const Bytes& block, int source, int tag,
                                         std::span<const Event> free) override {
    return std::make_shared<PeerReceive>(shared_, native(block), source, tag, free, timed());
  }
  std::shared_ptr<Transfer> make_receive_by(const Bytes& shape, int source, int tag,
                                            std::function<void(const Bytes&)> read) override {
    return std::make_shared<PeerReceive>(shared_, native(shape), source, tag, std::span<const Event>(), timed(),
                                         [read = std::move(read)](const vendor::Block& from) {
                                           read({from.data, from.width, from.columns, from.leading});
                                         });
  }
  void drained() override { shared_.mappings->end_operation(); }

 private:
  PeerShared shared_;
};

}  // namespace

std::unique_ptr<TransportImplementation> make_peer_transport(const Ranks& ranks, std::string reason,
                                                             std::shared_ptr<Progress> progress) {
  return std::make_unique<PeerTransport>(ranks, std::move(reason), std::move(progress));
}

std::vector<Availability> peer_availability(const Communicator& comm) {
  const auto nodes = static_cast<std::size_t>(comm.nodes());
  if (on_host) return std::vector<Availability>(nodes, {false, "there is no device memory in this build"});
  if (comm.size() == 1) return {{true, "there is one rank"}};
  // Each rank shows a word of its own and reads those of its node's others.
  using Words = Kokkos::View<std::uint64_t*, MemorySpace>;
  const auto word_of = [](int rank) { return 0x6865646400000000ULL + static_cast<std::uint64_t>(rank); };
  const Words mine(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::comm::probe"), 1);
  Kokkos::deep_copy(comm.space(), mine, word_of(comm.rank()));
  comm.space().fence("heddle::comm::probe");
  std::string trouble;
  vendor::Export shown;
  std::uint64_t offset = 0;
  if (auto allocation = vendor::allocation_of(mine.data()); !allocation || !vendor::export_allocation(*allocation)) {
    trouble = message_of("device memory of rank ", comm.rank(), " can't be shared: ", vendor::last_error());
  } else {
    shown = *allocation;
    offset = reinterpret_cast<std::uint64_t>(mine.data()) - shown.base;
  }
  struct Shown {
    vendor::Export allocation;
    std::uint64_t offset;
    int works;
  };
  const Shown my_word{shown, offset, trouble.empty() ? 1 : 0};
  const auto mappings = Mappings::of_process();
  std::vector<Shown> words(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const Shown>(&my_word, 1), std::span(words));
  for (int rank = 0; rank < comm.size() && trouble.empty(); ++rank) {
    const Shown& word = words[static_cast<std::size_t>(rank)];
    if (rank == comm.rank() || word.works == 0 || comm.node_of(rank) != comm.node_of(comm.rank())) {
      continue;
    }
    try {
      const auto mapping = mappings->open(word.allocation);
      std::uint64_t read = 0;
      CopyQueue queue;
      queue.copy({reinterpret_cast<std::byte*>(&read), sizeof(read), 1, sizeof(read)},
                 {mapping->address() + word.offset, sizeof(read), 1, sizeof(read)});
      queue.event().wait();
      if (read != word_of(rank)) {
        trouble = message_of("rank ", comm.rank(), " reads other device memory of rank ", rank, " than that shows");
      }
    } catch (const Error& error) {
      trouble = message_of("rank ", comm.rank(), " can't read device memory of rank ", rank, ": ", error.what());
    }
  }
  // Report the trouble of the lowest rank that has any. No rank may free its word before this reduction.
  std::vector<int> in_trouble(nodes, 0);
  in_trouble[static_cast<std::size_t>(comm.node_of(comm.rank()))] = trouble.empty() ? 0 : 1;
  comm.all_reduce(std::span<int>(in_trouble), Reduction::maximum);
  const int first = comm.all_reduce(trouble.empty() ? comm.size() : comm.rank(), Reduction::minimum);
  if (first < comm.size()) comm.broadcast(trouble, first);
  std::vector<Availability> found;
  for (const int node : in_trouble) {
    found.push_back(node == 0
                        ? Availability{true, nodes == 1 ? "every rank can read every other's device memory"
                                                        : "every rank of a node can read every other's device memory"}
                        : Availability{false, trouble});
  }
  return found;
}

}  // namespace heddle::impl

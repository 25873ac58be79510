// Transport by links: a vendor's library sends from device to device, on streams, with no host in the path.
//
// A message occupies both devices from when its two ends are given to their links until it is over, and the ends of a
// link must be given in one order. So none is given before both ranks are ready for it: the sender announces it in a
// small MPI message once its data are there; the receiver, once the place for them is free, gives its end to the link
// and tells the sender its place in the link's order; the sender gives its end in that place. A rank has few messages
// under way at once, so that all of them find room on its device. None waits forever: what a rank sends is waited for
// on the other device already, so it ends and makes room for the next, and what a rank receives waits for such a
// sender.
#include "comm/failures/checked.hpp"
#include "comm/transports/links.hpp"
#include "comm/transports/tags.hpp"
#include "comm/transports/transfer.hpp"
#include "comm/transports/transports.hpp"
#include "comm/transports/turns.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace heddle::impl {
namespace {

// This rank's end of the link to, or from, one partner.
class LinkEnd {
 public:
  // End of a link to `partner`, which is sent the id at once, or of one from `partner`, which sends the id.
  LinkEnd(const Ranks& ranks, LinkMaker& maker, bool sends, int partner)
      : maker_(maker), sends_(sends), partner_(partner) {
    if (sends_) {
      id_ = maker_.new_id();
      checked(MPI_Isend(id_.data(), sizeof(id_), MPI_BYTE, partner_, tag_link, ranks.comm, &message_), "MPI_Isend");
      link_ = maker_.open(id_, true, partner_);
    } else {
      checked(MPI_Irecv(id_.data(), sizeof(id_), MPI_BYTE, partner_, tag_link, ranks.comm, &message_), "MPI_Irecv");
    }
  }
  LinkEnd(const LinkEnd&) = delete;
  LinkEnd& operator=(const LinkEnd&) = delete;

  // Whether the next message can be given to it.
  [[nodiscard]] bool ready() {
    if (message_ != MPI_REQUEST_NULL && is_over(message_) && !sends_) link_ = maker_.open(id_, false, partner_);
    return link_ && link_->ready();
  }
  [[nodiscard]] Link& link() const { return *link_; }
  // Messages given so far.
  [[nodiscard]] std::int64_t given() const { return given_; }
  void count() { ++given_; }

  void close() {
    if (link_) link_->close();
  }
  void abort() noexcept {
    if (link_) link_->abort();
  }

 private:
  LinkMaker& maker_;
  bool sends_;
  int partner_;
  LinkId id_{};
  MPI_Request message_ = MPI_REQUEST_NULL;
  std::unique_ptr<Link> link_;
  std::int64_t given_ = 0;
};

// State that the messages of one transport share.
struct LinkedShared {
  Ranks ranks;
  std::unique_ptr<LinkMaker> maker;
  int most_under_way = 1;  // On the device, each way, on all links together.
  Turns sends;
  std::map<int, LinkEnd> outgoing;  // By partner.
  std::map<int, LinkEnd> incoming;
  int sent = 0;  // Under way.
  int received = 0;
  AnswerTags places;

  [[nodiscard]] LinkEnd& end(bool outward, int partner) {
    auto& ends = outward ? outgoing : incoming;
    const auto found = ends.find(partner);
    if (found != ends.end()) return found->second;
    return ends
        .emplace(std::piecewise_construct, std::forward_as_tuple(partner),
                 std::forward_as_tuple(ranks, *maker, outward, partner))
        .first->second;
  }
};

// Announcement of a sender.
struct Announcement {
  std::uint64_t bytes = 0;
  int place = 0;  // Tag of the message with the place in the link's order.
};

class LinkedMessage : public Transfer {
 public:
  LinkedMessage(LinkedShared& shared, bool sends, std::span<std::byte> data, int partner)
      : shared_(shared), end_(shared.end(sends, partner)), data_(data), partner_(partner) {}

 protected:
  // Whether this message's end can be given to the link, as one of few that are under way on the device.
  [[nodiscard]] bool may_give(int& under_way) {
    if (!end_.ready() || under_way == shared_.most_under_way) return false;
    ++under_way;
    counted_ = &under_way;
    return true;
  }
  // The device has completed the message.
  void release() {
    if (counted_ != nullptr) --*counted_;
    counted_ = nullptr;
  }

  LinkedShared& shared_;
  LinkEnd& end_;
  std::span<std::byte> data_;
  int partner_;
  Announcement announcement_;
  std::int64_t place_ = 0;
  bool given_ = false;
  MPI_Request message_ = MPI_REQUEST_NULL;
  MPI_Request answer_ = MPI_REQUEST_NULL;

 private:
  // A message without its other end occupies the device for good.
  void stop() override {
    if (given_ && counted_ != nullptr) end_.abort();
  }

  int* counted_ = nullptr;  // Counter of messages under way that includes this one.
};

class LinkedSend final : public LinkedMessage {
 public:
  LinkedSend(LinkedShared& shared, std::span<std::byte> data, int destination, int tag, Event ready)
      : LinkedMessage(shared, true, data, destination), key_(destination, tag), data_ready_(std::move(ready)) {
    shared_.sends.enter(key_, this);
  }

  void advance() override {
    if (!announced_) {
      if (shared_.sends.place(key_, this) > 0 || !data_ready_.done()) return;
      announce();
    }
    if (!given_) {
      if (!placed_) placed_ = is_over(answer_);
      if (!placed_ || place_ != end_.given() || !may_give(shared_.sent)) return;
      end_.link().send(data_.data(), data_.size());
      end_.count();
      given_ = true;
    }
    if (!on_stream_) {
      if (!end_.ready()) return;
      over_ = end_.link().event(false);
      on_stream_ = true;
    }
    if (!complete_ && over_.done()) {
      complete_ = true;
      release();
    }
    if (complete_ && !finished_) finished_ = is_over(message_);
  }

 private:
  void announce() {
    announcement_ = {data_.size(), shared_.places.next()};
    checked(MPI_Irecv(&place_, sizeof(place_), MPI_BYTE, partner_, announcement_.place, shared_.ranks.comm, &answer_),
            "MPI_Irecv");
    checked(MPI_Isend(&announcement_, sizeof(announcement_), MPI_BYTE, partner_, key_.second, shared_.ranks.comm,
                      &message_),
            "MPI_Isend");
    shared_.sends.leave(key_);
    announced_ = true;
  }

  Turns::Key key_;
  Event data_ready_;
  Event over_;
  bool announced_ = false;
  bool placed_ = false;
  bool on_stream_ = false;
};

class LinkedReceive final : public LinkedMessage {
 public:
  LinkedReceive(LinkedShared& shared, std::span<std::byte> data, int source, int tag, std::span<const Event> free,
                bool timed)
      : LinkedMessage(shared, false, data, source), free_(free.begin(), free.end()), timed_(timed) {
    checked(MPI_Irecv(&announcement_, sizeof(announcement_), MPI_BYTE, source, tag, shared.ranks.comm, &message_),
            "MPI_Irecv");
  }

  void advance() override {
    if (!announced_) {
      if (!is_over(message_)) return;
      require(announcement_.bytes == data_.size(), "receive: ", data_.size(), " bytes are expected of rank ", partner_,
              ", ", announcement_.bytes, " were sent");
      announced_ = true;
    }
    if (!given_) {
      if (!std::all_of(free_.begin(), free_.end(), [](const Event& event) { return event.done(); }) ||
          !may_give(shared_.received)) {
        return;
      }
      give();
    }
    if (!complete_) {
      if (!end_.ready()) return;
      event_ = end_.link().event(timed_);
      complete_ = true;
    }
    if (!arrived_ && event_.done()) {
      arrived_ = true;
      release();
    }
    if (arrived_ && !finished_) finished_ = is_over(answer_);
  }

 private:
  void give() {
    begin_ = timed_ ? end_.link().event(true) : Event();
    place_ = end_.given();
    end_.link().receive(data_.data(), data_.size());
    end_.count();
    given_ = true;
    checked(MPI_Isend(&place_, sizeof(place_), MPI_BYTE, partner_, announcement_.place, shared_.ranks.comm, &answer_),
            "MPI_Isend");
  }

  std::vector<Event> free_;
  bool timed_;
  bool announced_ = false;
  bool arrived_ = false;
};

class LinkedTransport final : public TransportImplementation {
 public:
  LinkedTransport(const Ranks& ranks, std::string reason, std::shared_ptr<Progress> progress,
                  std::unique_ptr<LinkMaker> maker, int most_under_way)
      : TransportImplementation(ranks, std::move(reason), std::move(progress)),
        to_itself_(make_peer_transport(ranks, "the rank itself", shared_progress())) {
    shared_.ranks = this->ranks();
    shared_.maker = std::move(maker);
    shared_.most_under_way = most_under_way;
  }
  ~LinkedTransport() override {
    close();
    close_links();
  }

  TransportKind kind(int /*partner*/) const noexcept override { return TransportKind::nccl; }
  bool takes_blocks() const noexcept override { return false; }
  void set_timed(bool timed) noexcept override {
    TransportImplementation::set_timed(timed);
    to_itself_->set_timed(timed);
  }
  void drained() override { to_itself_->drained(); }

  std::shared_ptr<Transfer> make_send(const Bytes& block, int destination, int tag, const Event& ready) override {
    if (destination == ranks().rank) return to_itself_->make_send(block, destination, tag, ready);
    return std::make_shared<LinkedSend>(shared_, native(block).run(), destination, tag, ready);
  }
  std::shared_ptr<Transfer> make_receive(const Bytes& block, int source, int tag,
                                         std::span<const Event> free) override {
    if (source == ranks().rank) return to_itself_->make_receive(block, source, tag, free);
    return std::make_shared<LinkedReceive>(shared_, native(block).run(), source, tag, free, timed());
  }

 private:
  // All at once, as each waits for its other end, for as long as a rank may take to come.
  void close_links() noexcept {
    if (shared_progress()->abandoned() || shared_progress()->dirty()) return;
    const auto deadline = std::chrono::steady_clock::now() + Progress::longest_stop;
    std::vector<LinkEnd*> open;
    for (auto* const ends : {&shared_.outgoing, &shared_.incoming}) {
      for (auto& [partner, end] : *ends) open.push_back(&end);
    }
    const auto each = [&](const auto& is_closed) {
      std::erase_if(open, [&](LinkEnd* end) {
        try {
          return is_closed(*end);
        } catch (...) {
          return true;
        }
      });
    };
    each([](LinkEnd& end) {
      end.close();
      return false;
    });
    while (!open.empty() && std::chrono::steady_clock::now() < deadline) {
      each([](LinkEnd& end) { return end.ready(); });
    }
  }

  std::unique_ptr<TransportImplementation> to_itself_;  // Copies of the device, for messages to this rank itself.
  LinkedShared shared_;
};

}  // namespace

std::unique_ptr<TransportImplementation> make_linked_transport(const Ranks& ranks, std::string reason,
                                                               std::shared_ptr<Progress> progress,
                                                               std::unique_ptr<LinkMaker> maker, int most_under_way) {
  return std::make_unique<LinkedTransport>(ranks, std::move(reason), std::move(progress), std::move(maker),
                                           most_under_way);
}

}  // namespace heddle::impl

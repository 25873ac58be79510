// Links whose messages go by MPI, for tests of what gives them their messages: as strict as a vendor's about the order
// of the two ends, and as slow to begin.
#pragma once

#include "comm/transports/links.hpp"
#include "comm/transports/transports.hpp"
#include "comm/vendor/queue.hpp"
#include <heddle/comm/communicator.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>

namespace heddle::test {

/// Counts of all links of one transport.
struct LinkRecord {
  int most_sent = 0;      ///< Sends that one rank had on its links at once, at most.
  int most_received = 0;  ///< Receives.
  int opened = 0;
  int closed = 0;
  int aborted = 0;
};

class MpiLink final : public impl::Link {
 public:
  MpiLink(MPI_Comm comm, int partner, int tag, LinkRecord& record, int (&under_way)[2])
      : comm_(comm), partner_(partner), tag_(tag), record_(record), under_way_(under_way) {}

  bool ready() override {
    // A message that has begun is not over at once.
    if (busy_ > 0) {
      --busy_;
      return false;
    }
    // The one that came first ends first, whatever others do.
    while (!messages_.empty()) {
      int done = 0;
      MPI_Test(&messages_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
      --under_way_[messages_.front().receives ? 1 : 0];
      messages_.pop_front();
    }
    if (closing_ && !counted_) {
      ++record_.closed;
      counted_ = true;
    }
    return true;
  }
  void send(const void* data, std::size_t bytes) override {
    begin(false, [&](MPI_Request* request) {
      MPI_Issend(data, static_cast<int>(bytes), MPI_BYTE, partner_, tag_, comm_, request);
    });
    record_.most_sent = std::max(record_.most_sent, under_way_[0]);
  }
  void receive(void* data, std::size_t bytes) override {
    begin(true, [&](MPI_Request* request) {
      MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, partner_, tag_, comm_, request);
    });
    record_.most_received = std::max(record_.most_received, under_way_[1]);
  }
  Event event(bool timed) const override { return queue_.event(timed); }
  void close() override {
    closing_ = true;
    busy_ = 3;
  }
  void abort() noexcept override {
    ++record_.aborted;
    for (Message& message : messages_) {
      if (message.receives) MPI_Cancel(&message.request);
      MPI_Request_free(&message.request);
    }
    messages_.clear();
  }

 private:
  struct Message {
    bool receives = false;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  template <class Begin> void begin(bool receives, const Begin& start) {
    messages_.push_back({receives, MPI_REQUEST_NULL});
    ++under_way_[receives ? 1 : 0];
    start(&messages_.back().request);
    busy_ = 2;
  }

  MPI_Comm comm_;
  int partner_;
  int tag_;
  LinkRecord& record_;
  int (&under_way_)[2];
  impl::CopyQueue queue_;
  std::list<Message> messages_;
  int busy_ = 5;
  bool closing_ = false;
  bool counted_ = false;
};

class MpiLinks final : public impl::LinkMaker {
 public:
  explicit MpiLinks(std::shared_ptr<LinkRecord> record, MPI_Comm comm) : record_(std::move(record)) {
    MPI_Comm_dup(comm, &comm_);
  }
  ~MpiLinks() override { MPI_Comm_free(&comm_); }

  impl::LinkId new_id() override {
    impl::LinkId id{};
    ++ids_;
    std::memcpy(id.data(), &ids_, sizeof(ids_));
    return id;
  }
  std::unique_ptr<impl::Link> open(const impl::LinkId& id, bool /*sends*/, int partner) override {
    // The sender's own number: ids of several senders may be alike.
    int number = 0;
    std::memcpy(&number, id.data(), sizeof(number));
    ++record_->opened;
    return std::make_unique<MpiLink>(comm_, partner, number, *record_, under_way_);
  }

 private:
  std::shared_ptr<LinkRecord> record_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int ids_ = 0;
  int under_way_[2] = {0, 0};
};

/// A transport by such links. Collective.
inline Transport linked_transport(const Communicator& comm,
                                  const std::shared_ptr<LinkRecord>& record = std::make_shared<LinkRecord>(),
                                  int most_under_way = 4) {
  struct Holder {
    Communicator comm;
    std::unique_ptr<impl::TransportImplementation> transport;
  };
  const auto holder = std::make_shared<Holder>(
      Holder{comm, impl::make_linked_transport(impl::ranks_of(comm), "links of a test", nullptr,
                                               std::make_unique<MpiLinks>(record, comm.native()), most_under_way)});
  return Transport(std::shared_ptr<Transport::Implementation>(holder, holder->transport.get()));
}

}  // namespace heddle::test

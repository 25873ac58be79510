// Operations that a transport has under way.
#pragma once

#include "comm/failures/failures.hpp"
#include <heddle/comm/request.hpp>
#include <heddle/core/error.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace heddle {

/// One message on this rank's side. complete(): Request::test() returns true. finished(): nothing is left to do, which
/// can be later (the sender has yet to hear that its buffer was read).
class Request::Transfer {
 public:
  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Goes on as far as it can without blocking.
  virtual void advance() = 0;
  /// Give the message up: no caller waits for it. Once has_stopped(), nothing is written to the caller's memory, and
  /// nothing is read from another rank's; data sent may still be read until the receiver has given up, too.
  void give_up() {
    if (!given_up_) stop();
    given_up_ = true;
  }
  /// After give_up(): false as long as data of a sender that still lets MPI go on may arrive.
  [[nodiscard]] virtual bool has_stopped() { return true; }
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] const Event& event() const { return event_; }
  [[nodiscard]] const Event& begin() const { return begin_; }
  /// Mark the message as failed: it makes no more progress.
  void set_failed() { failed_ = true; }
  void require_not_failed() const {
    if (failed_) throw Error(ErrorKind::computation, "a message has failed before, and nothing waits for it any more");
  }

 protected:
  bool complete_ = false;
  bool finished_ = false;
  Event event_;
  Event begin_;

 private:
  virtual void stop() {}

  bool failed_ = false;
  bool given_up_ = false;
};

/// Description of a message in the errors of those that wait for it.
struct MessageName {
  bool sent = false;
  int partner = 0;
  int tag = 0;
  std::size_t bytes = 0;
};

/// All operations of a transport that are not finished, in the order in which they began.
class Request::Progress {
 public:
  /// `failures` may be null: there is one rank.
  explicit Progress(std::shared_ptr<impl::Failures> failures);

  void add(std::shared_ptr<Transfer> operation, const MessageName& name) {
    under_way_.push_back({std::move(operation), name});
    patience_.reset();
  }
  /// Lets all go on. Throws where another rank has failed, where nothing has moved for HEDDLE_TIMEOUT seconds, or where
  /// all were abandoned; and what advance(operation) throws.
  void advance();
  [[nodiscard]] bool idle() const { return under_way_.empty(); }
  /// Lets one operation go on. Throws what it throws, and has dropped it then: it is given up and kept, as MPI or the
  /// device may still touch it; whoever waits for it keeps its buffers.
  void advance(Transfer& operation);
  /// Whether messages of other ranks may be left that nobody takes.
  [[nodiscard]] bool dirty() const { return has_dropped_ || !idle(); }
  /// For messages whose sender, as a rule, is there.
  static constexpr std::chrono::seconds longest_stop{5};
  /// Nobody waits any more for what is under way, whose buffers stay as they are. Returns when all of it has stopped,
  /// or at the deadline: data of a sender that is gone can be half arrived forever.
  void abandon(std::chrono::steady_clock::time_point deadline) noexcept;
  [[nodiscard]] bool abandoned() const { return abandoned_; }
  void require_not_abandoned() const;

 private:
  void drop(Transfer& operation) noexcept;

  struct Operation {
    std::shared_ptr<Transfer> transfer;
    MessageName name;
  };
  std::shared_ptr<impl::Failures> failures_;
  impl::Patience patience_;
  std::vector<Operation> under_way_;
  bool has_dropped_ = false;
  bool abandoned_ = false;
};

namespace impl {

using Transfer = Request::Transfer;

}  // namespace impl

}  // namespace heddle

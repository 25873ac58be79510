// What a transport has under way.
#pragma once

#include "comm/failures.hpp"
#include <heddle/comm/request.hpp>
#include <heddle/core/error.hpp>

#include <any>
#include <cstddef>
#include <memory>
#include <vector>

namespace heddle {

/// One message on this rank's side. complete(): what its Request waits for. finished(): nothing is left to do, which
/// can be later (the sender is still to be told that its buffer was read).
class Request::Transfer {
 public:
  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Goes on as far as it can without blocking.
  virtual void advance() = 0;
  /// Nobody waits any more. Afterwards nothing is written to the caller's memory, and nothing is read from another
  /// rank's; what is sent may still be read until the receiver has given up, too.
  virtual void give_up() {}
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] const Event& event() const { return event_; }
  [[nodiscard]] const Event& begin() const { return begin_; }
  /// It failed, and nobody lets it go on any more.
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
  bool failed_ = false;
};

/// What a message is, for whom waits for it.
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
  /// all were abandoned; and what an operation throws, which is dropped then.
  void advance();
  [[nodiscard]] bool idle() const { return under_way_.empty(); }
  /// Gives up an operation that failed, and keeps it and its buffers, as MPI or the device may still touch them.
  void drop(const Transfer* operation, std::any buffers) noexcept;
  /// Whether messages of other ranks may be left that nobody takes.
  [[nodiscard]] bool dirty() const { return has_dropped_ || !idle(); }
  /// Nobody waits any more for what is under way, whose buffers stay as they are.
  void abandon() noexcept;
  [[nodiscard]] bool abandoned() const { return abandoned_; }
  void require_not_abandoned() const;

 private:
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

// What a transport has under way.
#pragma once

#include <heddle/comm/request.hpp>

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
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] const Event& event() const { return event_; }
  [[nodiscard]] const Event& begin() const { return begin_; }

 protected:
  bool complete_ = false;
  bool finished_ = false;
  Event event_;
  Event begin_;
};

/// All operations of a transport that are not finished, in the order in which they began.
class Request::Progress {
 public:
  void add(std::shared_ptr<Transfer> operation) { under_way_.push_back(std::move(operation)); }
  void advance() {
    for (const auto& operation : under_way_) {
      operation->advance();
    }
    std::erase_if(under_way_, [](const auto& operation) { return operation->finished(); });
  }
  [[nodiscard]] bool idle() const { return under_way_.empty(); }

 private:
  std::vector<std::shared_ptr<Transfer>> under_way_;
};

namespace impl {

using Transfer = Request::Transfer;

}  // namespace impl

}  // namespace heddle

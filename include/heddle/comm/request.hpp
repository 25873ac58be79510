// An operation under way, and the buffers it still needs.
#pragma once

#include <heddle/comm/event.hpp>

#include <any>
#include <memory>
#include <optional>

namespace heddle {

/// A non-blocking send or receive. It keeps the Views it reads or writes alive until it is complete.
///
/// A send is complete when its buffer may be written again. A receive is complete when its data are there for work that
/// runs after event(): on CPU backends at once, on GPUs perhaps while the copy is still under way.
///
/// Move-only. Destroying one that is still under way waits for it: a buffer is never released while it is in use.
class Request {
 public:
  /// One message on this rank's side, and all that a transport has under way.
  class Transfer;
  class Progress;

  /// Of nothing: complete.
  Request() = default;
  /// Of a transport. `order_on`: completion puts the instance's later work after event().
  Request(std::shared_ptr<Transfer> operation, std::shared_ptr<Progress> progress, std::any kept,
          const ExecutionSpace* order_on = nullptr);
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request();

  /// True once the operation is complete (at once for an empty one); lets this one go on. Does not block.
  [[nodiscard]] bool test();
  /// Returns when the operation is complete and nothing of it is left to do; lets all operations of its transport go
  /// on. (Who only tests calls Transport::drain() before blocking in something else.)
  void wait();
  /// Whether there is something left to wait for.
  [[nodiscard]] bool active() const noexcept { return operation_ != nullptr; }
  /// Of a complete receive: when its data are there. Empty for sends.
  [[nodiscard]] const Event& event() const noexcept { return event_; }
  /// Of a complete operation of a timed transport: when its transfer began. Empty where that is not known.
  [[nodiscard]] const Event& begin() const noexcept { return begin_; }

 private:
  void complete();

  std::shared_ptr<Transfer> operation_;
  std::shared_ptr<Progress> progress_;
  std::any kept_;
  std::optional<ExecutionSpace> order_on_;
  Event event_;
  Event begin_;
};

}  // namespace heddle

// A send or receive under way, and the buffers that it still needs.
#pragma once

#include <heddle/comm/event.hpp>

#include <any>
#include <memory>
#include <optional>

namespace heddle {

/// A non-blocking send or receive. It keeps the Views that it reads or writes alive until it is complete.
///
/// A send is complete when its buffer may be written again. A receive is complete when its data are there for work that
/// runs after event(): on CPU backends at once, on GPUs perhaps while the copy is still under way.
///
/// Move-only. Destroying one that is still under way waits for it: a buffer is never released while it is in use.
class Request {
 public:
  /// One message on this rank's side, and all that a transport has under way; both internal to the library.
  class Transfer;
  class Progress;

  /// Makes an empty request, which is complete.
  Request() = default;
  /// Makes the request of an operation of a transport. With `order_on`, completion orders the later work of that
  /// instance after event().
  Request(std::shared_ptr<Transfer> operation, std::shared_ptr<Progress> progress, std::any kept,
          const ExecutionSpace* order_on = nullptr);
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request();

  /// Whether the operation is complete (always so for an empty one); it also lets this operation make progress. Does
  /// not block.
  [[nodiscard]] bool test();
  /// Blocks until the operation is complete and nothing of it is left to do, and lets all operations of its transport
  /// make progress meanwhile. A caller that only uses test() must call Transport::drain() before it blocks in something
  /// else.
  void wait();
  /// Whether there is something left to wait for.
  [[nodiscard]] bool active() const noexcept { return operation_ != nullptr; }
  /// Event after which the data of a complete receive are there; empty for sends.
  [[nodiscard]] const Event& event() const noexcept { return event_; }
  /// Event at which the transfer of a complete operation began, if Transport::set_timed() is on; empty if that is
  /// not known.
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

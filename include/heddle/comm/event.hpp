// A point in the work of a device that other work, or the host, can wait for.
#pragma once

#include <heddle/core/scalar.hpp>

#include <memory>

namespace heddle {

/// Marks how far an execution space instance, or a copy, has come. Copies share the mark. Empty, and on CPU backends,
/// where work is done when it returns, it is always past.
class Event {
 public:
  Event() = default;
  /// After all work given to `space` so far. `timed`: seconds_since() will be asked. Does not block on GPUs.
  [[nodiscard]] static Event on(const ExecutionSpace& space, bool timed = false);

  /// Whether the device is past it. Does not block.
  [[nodiscard]] bool done() const;
  /// Blocks the host until it is.
  void wait() const;
  /// Work given to `space` from now on runs after it. Does not block.
  void before(const ExecutionSpace& space) const;
  /// Device seconds from `earlier` to this one, both timed and past; on CPU backends the host's clock when each was
  /// made.
  [[nodiscard]] double seconds_since(const Event& earlier) const;

  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace heddle

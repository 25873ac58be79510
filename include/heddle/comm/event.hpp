// A point in the work of a device that other work, or the host, can wait for.
#pragma once

#include <heddle/core/scalar.hpp>

#include <memory>

namespace heddle {

/// A mark of how far an execution space instance, or a copy, has come. Copies share the mark. An empty event is always
/// past, and so is any event on CPU backends, where work is done when it returns.
class Event {
 public:
  Event() = default;
  /// An event that is past when all work given to `space` so far is done. `timed` says that seconds_since() will be
  /// asked. Does not block on GPUs.
  [[nodiscard]] static Event on(const ExecutionSpace& space, bool timed = false);
  /// The same for a stream of the vendor's runtime (cudaStream_t, hipStream_t) that the caller made.
  [[nodiscard]] static Event on_stream(void* stream);

  /// Whether the device has passed this mark. Does not block.
  [[nodiscard]] bool done() const;
  /// Blocks the host until the device has passed this mark.
  void wait() const;
  /// Orders work given to `space` from now on after this event. Does not block.
  void before(const ExecutionSpace& space) const;
  /// Seconds on the device from `earlier` to this event, both timed and past; on CPU backends, seconds of the host's
  /// clock between the times when the events were made.
  [[nodiscard]] double seconds_since(const Event& earlier) const;

  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace heddle

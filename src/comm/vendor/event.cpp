// Events of execution spaces, and copy queues.
#include "comm/vendor/queue.hpp"

#include <chrono>

namespace heddle {

struct Event::State {
  State(bool timed, impl::vendor::Stream stream)
      : event(impl::vendor::create_event(timed)), time(std::chrono::steady_clock::now()) {
    impl::vendor::record(event, stream);
  }
  ~State() { impl::vendor::destroy_event(event); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  impl::vendor::Event event;
  std::chrono::steady_clock::time_point time;
};

Event Event::on(const ExecutionSpace& space, bool timed) {
  return Event(std::make_shared<State>(timed, impl::vendor::stream_of(space)));
}

Event Event::on_stream(void* stream) {
  return Event(std::make_shared<State>(false, stream));
}

bool Event::done() const {
  return !state_ || impl::vendor::is_past(state_->event);
}

void Event::wait() const {
  if (state_) {
    impl::vendor::wait(state_->event);
  }
}

void Event::before(const ExecutionSpace& space) const {
  if (state_ && state_->event != nullptr) {
    impl::vendor::wait(impl::vendor::stream_of(space), state_->event);
  }
}

double Event::seconds_since(const Event& earlier) const {
  if (!state_ || !earlier.state_) {
    return 0.0;
  }
  return state_->event != nullptr ? impl::vendor::seconds_between(earlier.state_->event, state_->event)
                                  : std::chrono::duration<double>(state_->time - earlier.state_->time).count();
}

namespace impl {

CopyQueue::CopyQueue(bool urgent) : stream_(vendor::create_stream(urgent)) {}

CopyQueue::~CopyQueue() {
  vendor::destroy_stream(stream_);
}

void CopyQueue::after(std::span<const Event> events) {
  for (const Event& event : events) {
    if (event.state()) {
      vendor::wait(stream_, event.state()->event);
    }
  }
}

void CopyQueue::copy(const vendor::Block& to, const vendor::Block& from) {
  if (to.bytes() > 0) {
    vendor::copy(stream_, to, from);
  }
}

Event CopyQueue::event(bool timed) const {
  return Event(std::make_shared<Event::State>(timed, stream_));
}

}  // namespace impl
}  // namespace heddle

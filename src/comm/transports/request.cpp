// Completion, progress and abandonment of sends and receives.
#include "comm/transports/tags.hpp"
#include "comm/transports/transfer.hpp"
#include <heddle/comm/request.hpp>
#include <heddle/core/error.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace heddle {
namespace {

using Clock = std::chrono::steady_clock;

// False if the message has begun to arrive, and has not come to its end.
bool stops(Request::Transfer& operation) noexcept {
  try {
    operation.give_up();
    return operation.has_stopped();
  } catch (...) {
    // It stays as it is, and whoever waits for the other ranks is told.
    return true;
  }
}

void give_up_on(Request::Transfer& operation) noexcept {
  const auto deadline = Clock::now() + Request::Progress::longest_stop;
  while (!stops(operation) && Clock::now() < deadline) {
  }
}

}  // namespace

Request::Progress::Progress(std::shared_ptr<impl::Failures> failures)
    : failures_(std::move(failures)), patience_(failures_ ? failures_->timeout() : 0.0) {}

void Request::Progress::require_not_abandoned() const {
  if (abandoned_) {
    throw Error(ErrorKind::computation,
                "a transport's messages were given up when a rank failed: plans and transports made before can't be "
                "used any more");
  }
}

void Request::Progress::advance() {
  require_not_abandoned();
  for (const Operation& operation : under_way_) advance(*operation.transfer);
  const std::size_t moved =
      std::erase_if(under_way_, [](const Operation& operation) { return operation.transfer->finished(); });
  if (moved > 0) patience_.reset();
  if (failures_) failures_->poll();
  if (!under_way_.empty() && patience_.is_over()) {
    const MessageName& name = under_way_.front().name;
    throw Error(ErrorKind::computation,
                message_of("has waited ", patience_.limit(), " s (HEDDLE_TIMEOUT) for rank ", name.partner,
                           name.sent ? " to take " : " to send ", name.bytes, " bytes of ", impl::stream_of(name.tag)));
  }
}

void Request::Progress::advance(Transfer& operation) {
  try {
    operation.advance();
  } catch (...) {
    drop(operation);
    throw;
  }
}

void Request::Progress::drop(Transfer& operation) noexcept {
  has_dropped_ = true;
  operation.set_failed();
  give_up_on(operation);
  const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const Operation& one) { return one.transfer.get() == &operation; });
  if (found == under_way_.end()) return;
  impl::keep_forever(std::move(found->transfer));
  under_way_.erase(found);
}

void Request::Progress::abandon(Clock::time_point deadline) noexcept {
  if (abandoned_) return;
  std::size_t stopped = 0;
  do {
    stopped = static_cast<std::size_t>(
        std::count_if(under_way_.begin(), under_way_.end(), [](const Operation& one) { return stops(*one.transfer); }));
  } while (stopped < under_way_.size() && Clock::now() < deadline);
  if (!under_way_.empty()) impl::keep_forever(std::move(under_way_));
  under_way_.clear();
  abandoned_ = true;
}

Request::Request(std::shared_ptr<Transfer> operation, std::shared_ptr<Progress> progress, std::any kept,
                 const ExecutionSpace* order_on)
    : operation_(std::move(operation)), progress_(std::move(progress)), kept_(std::move(kept)) {
  if (order_on != nullptr) {
    order_on_ = *order_on;
  }
}

Request::Request(Request&& other) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    wait();
    operation_ = std::move(other.operation_);
    progress_ = std::move(other.progress_);
    kept_ = std::move(other.kept_);
    order_on_ = std::move(other.order_on_);
    event_ = std::move(other.event_);
    begin_ = std::move(other.begin_);
  }
  return *this;
}

Request::~Request() {
  if (!active()) return;
  if (std::uncaught_exceptions() == 0 && !progress_->abandoned()) {
    try {
      wait();
      return;
    } catch (...) {  // NOLINT(bugprone-empty-catch)
      // It stays under way, and whoever lets its transport go on next is told.
    }
  }
  // The other side may never answer, or answer later. An abandoned operation has had its time to stop.
  if (!progress_->abandoned()) give_up_on(*operation_);
  impl::keep_forever(std::move(kept_));
  impl::keep_forever(std::move(operation_));
}

bool Request::test() {
  if (operation_) {
    progress_->require_not_abandoned();
    operation_->require_not_failed();
    progress_->advance(*operation_);
    if (operation_->complete()) {
      complete();
    }
  }
  return !operation_;
}

void Request::wait() {
  if (operation_) {
    // Wait beyond complete(), to the end: the caller may next block in a call without progress, while the sender still
    // waits for the last message.
    while (!operation_->finished()) {
      operation_->require_not_failed();
      progress_->advance();
    }
    complete();
  }
}

void Request::complete() {
  event_ = operation_->event();
  begin_ = operation_->begin();
  if (order_on_) {
    event_.before(*order_on_);
    order_on_.reset();
  }
  operation_.reset();
  kept_.reset();
}

}  // namespace heddle

#include "comm/transfer.hpp"
#include <heddle/comm/request.hpp>
#include <heddle/core/error.hpp>

#include <exception>
#include <utility>

namespace heddle {

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
  if (active() && std::uncaught_exceptions() > 0) {
    // The other side may never answer: the job ends, and the buffers with it.
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the job ends at once.
    static_cast<void>(new std::any(std::move(kept_)));
    return;
  }
  try {
    wait();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // It stays under way, and whoever lets its transport go on next is told.
  }
}

bool Request::test() {
  if (operation_) {
    operation_->advance();
    if (operation_->complete()) {
      complete();
    }
  }
  return !operation_;
}

void Request::wait() {
  if (operation_) {
    // To the end, beyond complete(): who waits may next block in something that lets nothing go on, while the sender
    // still waits to be told.
    while (!operation_->finished()) {
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

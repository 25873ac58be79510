#include <heddle/comm/request.hpp>

#include <utility>

namespace heddle {

Request::Request(std::vector<MPI_Request> pieces, std::any kept, std::function<void()> finish)
    : pieces_(std::move(pieces)), kept_(std::move(kept)), finish_(std::move(finish)), active_(true) {}

Request::Request(Request&& other) noexcept
    : pieces_(std::move(other.pieces_)),
      kept_(std::move(other.kept_)),
      finish_(std::move(other.finish_)),
      active_(std::exchange(other.active_, false)) {}

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    wait();
    pieces_ = std::move(other.pieces_);
    kept_ = std::move(other.kept_);
    finish_ = std::move(other.finish_);
    active_ = std::exchange(other.active_, false);
  }
  return *this;
}

Request::~Request() {
  wait();
}

bool Request::test() {
  if (active_) {
    int done = 0;
    MPI_Testall(static_cast<int>(pieces_.size()), pieces_.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) {
      complete();
    }
  }
  return !active_;
}

void Request::wait() {
  if (active_) {
    MPI_Waitall(static_cast<int>(pieces_.size()), pieces_.data(), MPI_STATUSES_IGNORE);
    complete();
  }
}

void Request::complete() {
  active_ = false;
  pieces_.clear();
  if (const auto finish = std::exchange(finish_, nullptr)) {
    finish();
  }
  kept_.reset();
}

}  // namespace heddle

// An operation under way, and the buffers it still needs.
#pragma once

#include <mpi.h>

#include <any>
#include <functional>
#include <vector>

namespace heddle {

/// A non-blocking send or receive. It keeps the Views it reads or writes alive until it is complete.
///
/// Move-only. Destroying one that is still under way waits for it: a buffer is never released while MPI uses it.
class Request {
 public:
  Request() = default;
  /// `pieces`: the MPI requests of one message; `kept`: whatever owns its buffers; `finish`: run once, on completion,
  /// by the test() or wait() that sees it.
  Request(std::vector<MPI_Request> pieces, std::any kept, std::function<void()> finish = {});
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request();

  /// True once the operation is complete (at once for an empty one); lets MPI make progress. Does not block.
  [[nodiscard]] bool test();
  /// Returns when the operation is complete.
  void wait();
  /// Whether there is something left to wait for.
  [[nodiscard]] bool active() const noexcept { return active_; }

 private:
  void complete();

  std::vector<MPI_Request> pieces_;
  std::any kept_;
  std::function<void()> finish_;
  bool active_ = false;
};

}  // namespace heddle

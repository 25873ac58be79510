// Notices of one rank's failure to the ranks that wait for it.
#pragma once

#include "comm/failures/checked.hpp"
#include <heddle/comm/request.hpp>
#include <heddle/core/error.hpp>

#include <mpi.h>

#include <any>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::impl {

/// Message of a rank to the others when it can't go on.
struct Notice {
  int kind = 0;
  int meeting = 0;  ///< Meetings that the rank has been at: it may be ahead of others by one.
  char text[1016] = {};
};

/// How long something has been waited for. Time in which nobody asked (a product was computed) does not count.
class Patience {
 public:
  /// `limit`: seconds; 0 for no limit.
  explicit Patience(double limit) : limit_(limit), asked_(std::chrono::steady_clock::now()) {}
  /// Something has moved.
  void reset() { waited_ = 0.0; }
  /// Whether nothing has moved for `limit` seconds of asking.
  [[nodiscard]] bool is_over();
  [[nodiscard]] double limit() const { return limit_; }

 private:
  double limit_;
  double waited_ = 0.0;
  std::chrono::steady_clock::time_point asked_;
};

/// The failures of one communicator's ranks.
///
/// A rank that throws inside a collective operation sends a message (the notice) to every other rank. Ranks that wait
/// poll, find the notice, and stop waiting. Then all meet, learn which failed, and each throws the same Error; if
/// messages or collective calls were cut short, fresh communicators and transports replace the old ones, so that the
/// next operation does not receive leftovers of the last.
class Failures {
 public:
  /// Holder of a communicator and transports that must be replaced when operations were cut short.
  class Owner {
   public:
    /// Forgets transports, and takes `fresh` in place of the communicator on which operations were cut short.
    virtual void start_afresh(MPI_Comm fresh) = 0;

   protected:
    ~Owner() = default;
  };

  /// Collective. `timeout`: seconds after which a wait without any movement is an error; 0 for none.
  Failures(MPI_Comm parent, double timeout);
  ~Failures();
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  /// The owner may end first, as transports may live longer: it then sets nullptr.
  void set_owner(Owner* owner) { owner_ = owner; }
  /// Watch the operations of a transport, until they are cut short.
  void watch(const std::shared_ptr<Request::Progress>& progress);

  /// Throws where the ranks can't work together any more.
  void require_usable() const;

  /// Scopes may nest; the outermost one meets the other ranks.
  void enter() noexcept { ++depth_; }
  void leave() noexcept { --depth_; }

  /// Throws where another rank has failed: at once the Error on which all agree if this is in no scope, else one that
  /// the outermost scope must give to fail().
  void poll();
  /// In a handler: rethrows what is being handled; in the outermost scope as the Error on which all ranks agree.
  [[noreturn]] void fail();

  /// Blocks until the requests are over, polling. `call` names the wait in a timeout's error. `kept` holds their
  /// buffers, kept forever if the requests are given up.
  void complete(std::span<MPI_Request> requests, const char* call, std::any kept);

  [[nodiscard]] double timeout() const { return timeout_; }

 private:
  [[noreturn]] void settle(const std::optional<Error>& mine);
  void announce(const Error& error);
  // One word of each rank; nothing if some ranks don't come.
  std::optional<std::vector<int>> meet(int mine);
  [[nodiscard]] bool over_in_time(MPI_Request* request) const;
  [[nodiscard]] bool receive_notices(const std::vector<int>& flags);
  void abandon_transfers();
  [[nodiscard]] bool start_afresh();
  [[noreturn]] void give_up(const std::optional<Error>& mine);
  void expect_notice();
  [[nodiscard]] const std::pair<int, Notice>* notice_of(const std::function<bool(int)>& is_wanted) const;
  [[nodiscard]] bool is_dirty();

  double timeout_;
  std::chrono::duration<double> patience_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  Owner* owner_ = nullptr;
  std::vector<std::weak_ptr<Request::Progress>> watched_;
  int depth_ = 0;
  bool interrupted_ = false;    // poll() has thrown since the last meeting.
  bool in_collective_ = false;  // In a call that is not over, or that was cut short.
  bool has_abandoned_ = false;  // Messages were given up since the last meeting.
  Notice incoming_;
  MPI_Request expected_ = MPI_REQUEST_NULL;
  std::vector<std::pair<int, Notice>> notices_;  // For the next meeting, by rank; and from ranks that are ahead.
  int meetings_ = 0;
  std::chrono::steady_clock::time_point first_notice_;
  std::optional<Error> broken_;  // Ranks did not meet: nothing works any more.
};

}  // namespace heddle::impl

// Notices of one rank's failure to the others, and the meeting after which all throw one Error.
#include "comm/failures/failures.hpp"

#include "comm/failures/group.hpp"
#include "comm/transports/rest.hpp"
#include "comm/transports/transfer.hpp"
#include "core/current_error.hpp"

#include <algorithm>
#include <string>

namespace heddle::impl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int tag_notice = 1;
// Operations that are nearly over may still end: ranks that find an error together each throw their own.
constexpr std::chrono::milliseconds grace(100);
// Ranks may compute before they look.
constexpr std::chrono::duration<double> usual_patience(10.0);
// If the caller has set a limit, the others have waited as long.
constexpr std::chrono::duration<double> patience_after_timeout(3.0);

constexpr int failed_itself = 1;
constexpr int has_work_cut_short = 2;

bool mpi_is_over() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

Error error_of(int rank, const Notice& notice) {
  return {static_cast<ErrorKind>(notice.kind), message_of("rank ", rank, ": ", notice.text)};
}

}  // namespace

bool Patience::is_over() {
  if (limit_ <= 0.0) return false;
  const auto now = Clock::now();
  constexpr double longest_gap = 0.1;
  waited_ += std::min(longest_gap, std::chrono::duration<double>(now - asked_).count());
  asked_ = now;
  return waited_ >= limit_;
}

Failures::Failures(MPI_Comm parent, double timeout)
    : timeout_(timeout), patience_(timeout > 0.0 ? patience_after_timeout : usual_patience) {
  comm_ = duplicate_of(parent, nullptr);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  expect_notice();
}

Failures::~Failures() {
  if (mpi_is_over() || broken_) {
    // A notice must not arrive in this object any more.
    if (broken_ && !mpi_is_over()) MPI_Cancel(&expected_);
    return;
  }
  MPI_Cancel(&expected_);
  MPI_Wait(&expected_, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm_);
}

void Failures::expect_notice() {
  checked(MPI_Irecv(&incoming_, sizeof(incoming_), MPI_BYTE, MPI_ANY_SOURCE, tag_notice, comm_, &expected_),
          "MPI_Irecv");
}

void Failures::watch(const std::shared_ptr<Request::Progress>& progress) {
  std::erase_if(watched_, [](const auto& one) { return one.expired(); });
  watched_.push_back(progress);
}

void Failures::require_usable() const {
  if (broken_) throw Error(*broken_);
}

// For the next meeting, from a rank that is wanted.
const std::pair<int, Notice>* Failures::notice_of(const std::function<bool(int)>& is_wanted) const {
  const auto found = std::find_if(notices_.begin(), notices_.end(), [&](const auto& one) {
    return one.second.meeting == meetings_ && is_wanted(one.first);
  });
  return found == notices_.end() ? nullptr : &*found;
}

void Failures::poll() {
  require_usable();
  int came = 0;
  MPI_Status status;
  checked(MPI_Test(&expected_, &came, &status), "MPI_Test");
  if (came != 0) {
    if (notices_.empty()) first_notice_ = Clock::now();
    notices_.emplace_back(status.MPI_SOURCE, incoming_);
    expect_notice();
  }
  if (notices_.empty() || Clock::now() - first_notice_ < grace) return;
  const auto* const notice = notice_of([](int) { return true; });
  if (notice == nullptr) return;
  interrupted_ = true;
  if (depth_ == 0) settle(std::nullopt);
  const Error error = error_of(notice->first, notice->second);
  // Before the caller's buffers are freed.
  abandon_transfers();
  throw Error(error);
}

void Failures::fail() {
  if (depth_ > 1) throw;
  if (broken_) throw current_error();
  if (interrupted_) settle(std::nullopt);
  settle(current_error());
}

void Failures::complete(std::span<MPI_Request> requests, const char* call, std::any kept) {
  // Set until the call is over: if this throws, the call has been cut short.
  in_collective_ = true;
  try {
    Patience patience(timeout_);
    const Rest rest;
    for (int done = 0; done == 0;) {
      checked(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), call);
      if (done != 0) break;
      poll();
      if (patience.is_over()) {
        throw Error(ErrorKind::computation,
                    message_of("has waited ", timeout_, " s (HEDDLE_TIMEOUT) for other ranks in ", call));
      }
      rest.take();
    }
  } catch (...) {
    keep_forever(std::move(kept));
    throw;
  }
  in_collective_ = false;
}

void Failures::announce(const Error& error) {
  const auto notice = std::make_shared<Notice>();
  notice->kind = static_cast<int>(error.kind());
  notice->meeting = meetings_;
  const std::string text = error.what();
  text.copy(notice->text, std::min(text.size(), sizeof(notice->text) - 1));
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    // The send is not waited for: the other rank may not poll before this rank is gone.
    MPI_Request request = MPI_REQUEST_NULL;
    checked(MPI_Isend(notice.get(), sizeof(Notice), MPI_BYTE, other, tag_notice, comm_, &request), "MPI_Isend");
    checked(MPI_Request_free(&request), "MPI_Request_free");
  }
  keep_forever(notice);  // A kilobyte for each failure.
}

bool Failures::over_in_time(MPI_Request* request) const {
  const auto deadline = Clock::now() + patience_;
  for (int done = 0;;) {
    if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (Clock::now() > deadline) return false;
  }
}

std::optional<std::vector<int>> Failures::meet(int mine) {
  struct Words {
    int mine;
    std::vector<int> all;
  };
  const auto words = std::make_shared<Words>(Words{mine, std::vector<int>(static_cast<std::size_t>(size_))});
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Iallgather(&words->mine, 1, MPI_INT, words->all.data(), 1, MPI_INT, comm_, &request) != MPI_SUCCESS ||
      !over_in_time(&request)) {
    keep_forever(words);
    return {};
  }
  return words->all;
}

bool Failures::receive_notices(const std::vector<int>& flags) {
  const auto announced = [&](int rank) { return (flags[static_cast<std::size_t>(rank)] & failed_itself) != 0; };
  const auto deadline = Clock::now() + patience_;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_ || !announced(rank)) continue;
    while (notice_of([&](int from) { return from == rank; }) == nullptr) {
      int came = 0;
      MPI_Status status;
      if (MPI_Test(&expected_, &came, &status) != MPI_SUCCESS || Clock::now() > deadline) return false;
      if (came == 0) continue;
      notices_.emplace_back(status.MPI_SOURCE, incoming_);
      expect_notice();
    }
  }
  return true;
}

bool Failures::is_dirty() {
  return in_collective_ || has_abandoned_ || std::any_of(watched_.begin(), watched_.end(), [](const auto& one) {
           const auto progress = one.lock();
           return progress && progress->dirty();
         });
}

void Failures::abandon_transfers() {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience_);
  for (const auto& one : watched_) {
    const auto progress = one.lock();
    if (!progress || progress->idle()) continue;
    has_abandoned_ = true;
    progress->abandon(deadline);
  }
}

bool Failures::start_afresh() {
  // Other ranks may have had messages under way on transports that are idle here: none can be used any more.
  for (const auto& one : watched_) {
    if (const auto progress = one.lock()) progress->abandon(Clock::now());
  }
  watched_.clear();
  // Storage of its own, since MPI writes it when all ranks have come.
  const auto fresh = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Comm_idup(comm_, fresh.get(), &request) != MPI_SUCCESS || !over_in_time(&request)) {
    keep_forever(fresh);
    return false;
  }
  if (owner_ != nullptr) {
    owner_->start_afresh(*fresh);
  } else {
    MPI_Comm_free(fresh.get());
  }
  return true;
}

void Failures::give_up(const std::optional<Error>& mine) {
  abandon_transfers();
  const auto* const notice = notice_of([](int) { return true; });
  const Error error = mine                ? Error(mine->kind(), message_of("rank ", rank_, ": ", mine->what()))
                      : notice != nullptr ? error_of(notice->first, notice->second)
                                          : Error(ErrorKind::computation, "another rank failed");
  broken_ = Error(
      ErrorKind::computation,
      message_of("these ranks can't work together any more, as some did not answer after a failure: ", error.what()));
  throw Error(error);
}

void Failures::settle(const std::optional<Error>& mine) {
  if (mine) announce(*mine);
  const auto flags = meet((mine ? failed_itself : 0) | (is_dirty() ? has_work_cut_short : 0));
  if (!flags) give_up(mine);
  const auto failed = [](int flag) { return (flag & failed_itself) != 0; };
  const auto lowest = static_cast<int>(std::find_if(flags->begin(), flags->end(), failed) - flags->begin());
  if (!receive_notices(*flags)) give_up(mine);
  if (std::any_of(flags->begin(), flags->end(), [](int flag) { return (flag & has_work_cut_short) != 0; }) &&
      !start_afresh()) {
    give_up(mine);
  }
  const auto* const said = notice_of([&](int rank) { return rank == lowest; });
  const std::optional<Error> others = said == nullptr ? std::nullopt : std::optional(error_of(lowest, said->second));
  // The notices left are from ranks that have failed again already.
  ++meetings_;
  std::erase_if(notices_, [&](const auto& one) { return one.second.meeting < meetings_; });
  first_notice_ = Clock::now();
  interrupted_ = false;
  in_collective_ = false;
  has_abandoned_ = false;
  // Each rank reports in its own words an error that all have found alike.
  if (mine && std::all_of(flags->begin(), flags->end(), failed)) throw Error(*mine);
  if (lowest == rank_) throw Error(mine->kind(), message_of("rank ", rank_, ": ", mine->what()));
  throw others ? Error(*others) : Error(ErrorKind::computation, "another rank failed");
}

}  // namespace heddle::impl

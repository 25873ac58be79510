// Data longer than MPI's int counts, in pieces.
#pragma once

#include "comm/failures/group.hpp"

#include <mpi.h>

#include <algorithm>
#include <any>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace heddle::impl {

/// The most bytes of one message of MPI. Functions that cut data take it as an argument, so that tests cut small data
/// too.
inline constexpr std::size_t most_message_bytes = std::size_t{1} << 30;
/// The most bytes of one collective call. Its data pass through a copy, which stays where MPI may still touch it when a
/// rank fails; copying takes a small part of the time that the data travel.
inline constexpr std::size_t most_collective_bytes = std::size_t{1} << 24;

/// MPI datatype of an element of this many bytes.
class MpiElement {
 public:
  explicit MpiElement(std::size_t bytes) {
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~MpiElement() { MPI_Type_free(&type_); }
  MpiElement(const MpiElement&) = delete;
  MpiElement& operator=(const MpiElement&) = delete;
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The bytes of rank `root` on every rank. Collective.
void broadcast_in_pieces(void* data, std::size_t bytes, int root, const Group& group,
                         std::size_t most = most_collective_bytes);

/// The bytes of every rank, in order of rank. Collective; every rank gives as many.
void all_gather_in_pieces(const void* mine, std::size_t bytes, void* all, const Group& group,
                          std::size_t most = most_collective_bytes);

/// Element by element over the ranks, in place, the same bits on every rank. Collective. The bits of a sum may
/// depend on where pieces begin, and so on `most`.
template <class T>
void all_reduce_in_pieces(std::span<T> values, MPI_Datatype type, MPI_Op operation, const Group& group,
                          std::size_t most = most_collective_bytes) {
  int rank = 0;
  MPI_Comm_rank(group.comm, &rank);
  const std::size_t longest = std::max<std::size_t>(most / sizeof(T), 1);
  // To one rank and out again: MPI_Allreduce may round differently from rank to rank, this can't.
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), longest));
    const int count = static_cast<int>(piece.size());
    const auto copy = std::make_shared<std::vector<T>>(piece.begin(), piece.end());
    MPI_Request request = MPI_REQUEST_NULL;
    checked(rank == 0 ? MPI_Ireduce(MPI_IN_PLACE, copy->data(), count, type, operation, 0, group.comm, &request)
                      : MPI_Ireduce(copy->data(), nullptr, count, type, operation, 0, group.comm, &request),
            "MPI_Ireduce");
    group.complete(request, "a reduction", copy);
    checked(MPI_Ibcast(copy->data(), count, type, 0, group.comm, &request), "MPI_Ibcast");
    group.complete(request, "a reduction", copy);
    std::copy(copy->begin(), copy->end(), piece.begin());
    values = values.subspan(piece.size());
  }
}

/// out[r] of every rank to rank r, into in[r'] there, which is as long. Collective. `kept` has the buffers of both.
void exchange_in_pieces(const std::vector<std::span<const std::byte>>& out, const std::vector<std::span<std::byte>>& in,
                        int tag, const Group& group, std::any kept = {}, std::size_t most = most_message_bytes);

/// How a message is cut: the most bytes of a piece, and how many pieces may be under way side by side: `least`, or as
/// many as come in `ahead` seconds at the message's rate so far, so that neither a slow link has much in its queues nor
/// a fast one has nothing to do between two looks.
struct MessageCut {
  std::size_t most = most_message_bytes;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  double ahead = 0.0;
};
inline constexpr MessageCut cut_between_nodes{std::size_t{96} << 10, 2, 0.01};

/// One message as MPI requests; start(offset, count, request) posts each piece.
class MpiPieces {
 public:
  explicit MpiPieces(const MessageCut& cut = {}) : cut_(cut) {}

  template <class Start> void start(std::size_t bytes, const Start& start) {
    bytes_ = bytes;
    pieces_.assign((bytes + cut_.most - 1) / cut_.most, MPI_REQUEST_NULL);
    started_ = true;
    begin_ = std::chrono::steady_clock::now();
    go_on(start);
  }
  /// Posts as many of the pieces as may be under way.
  template <class Start> void go_on(const Start& start) {
    for (const std::size_t most = side_by_side(); posted_ < pieces_.size() && posted_ - over_ < most; ++posted_) {
      const std::size_t offset = posted_ * cut_.most;
      start(offset, static_cast<int>(std::min(cut_.most, bytes_ - offset)), &pieces_[posted_]);
    }
  }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool all_posted() const { return started_ && posted_ == pieces_.size(); }
  /// Whether all pieces are over.
  [[nodiscard]] bool test() {
    while (over_ < posted_) {
      int done = 0;
      checked(MPI_Test(&pieces_[over_], &done, MPI_STATUS_IGNORE), "a message");
      if (done == 0) return false;
      ++over_;
    }
    return over_ == pieces_.size();
  }
  /// After cancel(): whether nothing of what was posted is under way any more.
  [[nodiscard]] bool has_stopped() {
    static_cast<void>(test());
    return over_ == posted_;
  }
  /// Cancel the message. Once a receive has_stopped(), nothing is written any more. A piece that has begun to arrive
  /// can't be cancelled; it comes to its end as the sender lets MPI go on.
  void cancel();

 private:
  [[nodiscard]] std::size_t side_by_side() const {
    if (over_ == 0 || cut_.ahead == 0.0) return cut_.least;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    return std::max(cut_.least, static_cast<std::size_t>(static_cast<double>(over_) * cut_.ahead / taken.count()));
  }

  MessageCut cut_;
  std::chrono::steady_clock::time_point begin_;
  std::size_t bytes_ = 0;
  std::vector<MPI_Request> pieces_;
  std::size_t posted_ = 0;
  std::size_t over_ = 0;  // Pieces before this one are over.
  bool started_ = false;
};

}  // namespace heddle::impl

// Data longer than MPI's int counts, in pieces.
#pragma once

#include "comm/group.hpp"

#include <mpi.h>

#include <algorithm>
#include <any>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace heddle::impl {

/// The most bytes of one message of MPI. What cuts data takes it as an argument, so that tests cut small data too.
inline constexpr std::size_t most_message_bytes = std::size_t{1} << 30;
/// The most bytes of one collective call. Its data pass through a copy, which stays where MPI may still touch it when a
/// rank fails; copying takes a small part of the time that the data travel.
inline constexpr std::size_t most_collective_bytes = std::size_t{1} << 24;

/// An element of so many bytes, as MPI moves it.
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

/// Element by element over the ranks, in place, the same bits on every rank. Collective. Where a piece begins may be
/// seen in the bits of a sum, as `most` may.
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

/// One message as MPI requests; start(offset, count, request) posts each piece.
class MpiPieces {
 public:
  explicit MpiPieces(std::size_t most = most_message_bytes) : most_(most) {}

  template <class Start> void start(std::size_t bytes, const Start& start) {
    // Several pieces of a long message can be under way side by side.
    pieces_.assign((bytes + most_ - 1) / most_, MPI_REQUEST_NULL);
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      start(k * most_, static_cast<int>(std::min(most_, bytes - k * most_)), &pieces_[k]);
    }
    started_ = true;
  }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool test() {
    int done = 0;
    checked(MPI_Testall(static_cast<int>(pieces_.size()), pieces_.data(), &done, MPI_STATUSES_IGNORE), "a message");
    return done != 0;
  }
  /// Of a receive: once test(), nothing is written any more. What has begun to arrive can't be cancelled; it comes to
  /// its end as the sender lets MPI go on.
  void cancel();

 private:
  std::size_t most_;
  std::vector<MPI_Request> pieces_;
  bool started_ = false;
};

}  // namespace heddle::impl

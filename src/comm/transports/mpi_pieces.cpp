// MPI operations on data longer than an int counts, in pieces.
#include "comm/transports/mpi_pieces.hpp"

#include <cstring>

namespace heddle::impl {
namespace {

using Bytes = std::vector<std::byte>;

}  // namespace

MPI_Comm duplicate_of(MPI_Comm comm, Failures* failures) {
  // Storage of its own, since MPI writes it when all ranks have come.
  const auto place = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
  if (failures == nullptr) {
    checked(MPI_Comm_dup(comm, place.get()), "MPI_Comm_dup");
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    checked(MPI_Comm_idup(comm, place.get(), &request), "MPI_Comm_idup");
    Group(comm, failures).complete(request, "the making of a communicator", place);
  }
  checked(MPI_Comm_set_errhandler(*place, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return *place;
}

void broadcast_in_pieces(void* data, std::size_t bytes, int root, const Group& group, std::size_t most) {
  auto* const begin = static_cast<std::byte*>(data);
  for (std::size_t at = 0; at < bytes; at += most) {
    const std::size_t piece = std::min(most, bytes - at);
    const auto copy = std::make_shared<Bytes>(begin + at, begin + at + piece);
    MPI_Request request = MPI_REQUEST_NULL;
    checked(MPI_Ibcast(copy->data(), static_cast<int>(piece), MPI_BYTE, root, group.comm, &request), "MPI_Ibcast");
    group.complete(request, "a broadcast", copy);
    std::memcpy(begin + at, copy->data(), piece);
  }
}

void all_gather_in_pieces(const void* mine, std::size_t bytes, void* all, const Group& group, std::size_t most) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(group.comm, &rank);
  MPI_Comm_size(group.comm, &size);
  auto* const place = static_cast<std::byte*>(all);
  const std::size_t whole = bytes * static_cast<std::size_t>(size);
  if (bytes == 0) return;
  std::memcpy(place + static_cast<std::size_t>(rank) * bytes, mine, bytes);
  if (whole <= most) {
    const auto copy = std::make_shared<Bytes>(place, place + whole);
    MPI_Request request = MPI_REQUEST_NULL;
    checked(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, copy->data(), static_cast<int>(bytes), MPI_BYTE,
                           group.comm, &request),
            "MPI_Iallgather");
    group.complete(request, "a gathering", copy);
    std::memcpy(place, copy->data(), whole);
    return;
  }
  // Pieces of one rank are contiguous and those of several are not, so each rank's are sent on their own.
  for (int r = 0; r < size; ++r) {
    broadcast_in_pieces(place + static_cast<std::size_t>(r) * bytes, bytes, r, group, most);
  }
}

void exchange_in_pieces(const std::vector<std::span<const std::byte>>& out, const std::vector<std::span<std::byte>>& in,
                        int tag, const Group& group, std::any kept, std::size_t most) {
  std::vector<MPI_Request> requests;
  for (std::size_t r = 0; r < in.size(); ++r) {
    for (std::size_t at = 0; at < in[r].size(); at += most) {
      const auto piece = in[r].subspan(at, std::min(most, in[r].size() - at));
      checked(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(r), tag, group.comm,
                        &requests.emplace_back()),
              "MPI_Irecv");
    }
  }
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (std::size_t at = 0; at < out[r].size(); at += most) {
      const auto piece = out[r].subspan(at, std::min(most, out[r].size() - at));
      checked(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(r), tag, group.comm,
                        &requests.emplace_back()),
              "MPI_Isend");
    }
  }
  group.complete(requests, "an exchange", std::move(kept));
}

void MpiPieces::cancel() {
  for (MPI_Request& piece : pieces_) {
    if (piece != MPI_REQUEST_NULL) checked(MPI_Cancel(&piece), "MPI_Cancel");
  }
}

}  // namespace heddle::impl

#include "comm/mpi_pieces.hpp"

#include <cstring>

namespace heddle::impl {

void broadcast_in_pieces(void* data, std::size_t bytes, int root, MPI_Comm comm, std::size_t most) {
  auto* const begin = static_cast<std::byte*>(data);
  for (std::size_t at = 0; at < bytes; at += most) {
    MPI_Bcast(begin + at, static_cast<int>(std::min(most, bytes - at)), MPI_BYTE, root, comm);
  }
}

void all_gather_in_pieces(const void* mine, std::size_t bytes, void* all, MPI_Comm comm, std::size_t most) {
  if (bytes <= most) {
    MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, comm);
    return;
  }
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  auto* const place = static_cast<std::byte*>(all);
  // Pieces of one rank lie together and those of several do not: so each rank's on their own.
  std::memcpy(place + static_cast<std::size_t>(rank) * bytes, mine, bytes);
  for (int r = 0; r < size; ++r) {
    broadcast_in_pieces(place + static_cast<std::size_t>(r) * bytes, bytes, r, comm, most);
  }
}

void exchange_in_pieces(const std::vector<std::span<const std::byte>>& out, const std::vector<std::span<std::byte>>& in,
                        int tag, MPI_Comm comm, std::size_t most) {
  std::vector<MPI_Request> requests;
  for (std::size_t r = 0; r < in.size(); ++r) {
    for (std::size_t at = 0; at < in[r].size(); at += most) {
      const auto piece = in[r].subspan(at, std::min(most, in[r].size() - at));
      MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(r), tag, comm,
                &requests.emplace_back());
    }
  }
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (std::size_t at = 0; at < out[r].size(); at += most) {
      const auto piece = out[r].subspan(at, std::min(most, out[r].size() - at));
      MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(r), tag, comm,
                &requests.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace heddle::impl

// Reductions over ranks by functions of the caller.
#include "comm/reductions.hpp"

#include "comm/transports/mpi_pieces.hpp"

#include <algorithm>
#include <vector>

namespace heddle::impl {
namespace {

// Numbers of elements of one message on each rank, and their offsets.
struct Pieces {
  explicit Pieces(std::size_t ranks) : counts(ranks), places(ranks) {}
  std::vector<int> counts;
  std::vector<int> places;
};

}  // namespace

int all_reduce_by_shares(const void* from, void* receive, std::size_t count, std::size_t bytes, MPI_Comm comm,
                         const SumOfShares& sum) {
  int size = 1;
  int rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const auto ranks = static_cast<std::size_t>(size);
  Pieces all(ranks);
  for (std::size_t k = 0; k < ranks; ++k) {
    all.places[k] = static_cast<int>(count * k / ranks);
    all.counts[k] = static_cast<int>(count * (k + 1) / ranks) - all.places[k];
  }
  const auto share = static_cast<std::size_t>(all.counts[static_cast<std::size_t>(rank)]);
  Pieces mine(ranks);
  for (std::size_t k = 0; k < ranks; ++k) {
    mine.counts[k] = static_cast<int>(share);
    mine.places[k] = static_cast<int>(k * share);
  }
  const MpiElement element(bytes);
  std::vector<std::byte> terms(share * ranks * bytes);
  if (const int error = MPI_Alltoallv(from, all.counts.data(), all.places.data(), element.type(), terms.data(),
                                      mine.counts.data(), mine.places.data(), element.type(), comm);
      error != MPI_SUCCESS) {
    return error;
  }
  std::vector<std::byte> sums(share * bytes);
  sum(terms.data(), sums.data(), share, size);
  return MPI_Allgatherv(sums.data(), static_cast<int>(share), element.type(), receive, all.counts.data(),
                        all.places.data(), element.type(), comm);
}

}  // namespace heddle::impl

// Reductions over ranks by functions of the caller, without MPI operations.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>

namespace heddle::impl {

/// sums = f(terms): `terms` holds for each of `ranks` ranks, in order of rank, `share` elements side by side, and sums
/// has `share` elements.
using SumOfShares = std::function<void(const void* terms, void* sums, std::size_t share, int ranks)>;

/// As MPI_Allreduce, of elements of `bytes` bytes each, fewer than 2^31 of them: each rank gets all ranks' terms of a
/// share of the elements, computes their sums by `sum`, and sends these to all. So each sum is computed once, from all
/// its terms in order of rank. Collective; gives MPI's error code. `from` and `receive` may be one.
[[nodiscard]] int all_reduce_by_shares(const void* from, void* receive, std::size_t count, std::size_t bytes,
                                       MPI_Comm comm, const SumOfShares& sum);

}  // namespace heddle::impl

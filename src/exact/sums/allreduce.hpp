// Reductions over ranks in pieces, since MPI's counts are int.
#pragma once

#include <heddle/exact/distributed.hpp>

#include <cstddef>

namespace heddle::exact::impl {

/// Numbers of elements and of accumulators that are reduced at once; a rank keeps a copy of that many elements. Tests
/// use fewer.
inline constexpr std::size_t most_reduced_elements = std::size_t{1} << 24;
inline constexpr std::size_t most_reduced_sums = std::size_t{1} << 20;

/// exact::allreduce() of numbers of T. Collective.
template <RealScalar T>
int allreduce_reals(const void* send, void* receive, std::size_t count, MPI_Comm comm,
                    std::size_t most = most_reduced_elements);

/// exact::all_reduce(). Collective.
template <RealScalar T>
void all_reduce_sums(const Communicator& comm, std::span<Accumulator<T>> sums, std::size_t most = most_reduced_sums);

}  // namespace heddle::exact::impl

// Counts of a sweep over all ranks.
#pragma once

#include "eigen/dense/convergence.hpp"
#include <heddle/comm/communicator.hpp>

#include <array>
#include <span>

namespace heddle::eigen::impl {

/// The counts of all ranks together.
template <class R> SweepCounts<R> counts_of_all(const Communicator& comm, SweepCounts<R> counts) {
  std::array<double, 2> most = {static_cast<double>(counts.largest), static_cast<double>(counts.sine)};
  comm.all_reduce(std::span<double>(most), Reduction::maximum);
  counts.largest = static_cast<R>(most[0]);
  counts.sine = static_cast<R>(most[1]);
  counts.rotations = comm.all_reduce(counts.rotations, Reduction::sum);
  return counts;
}

}  // namespace heddle::eigen::impl

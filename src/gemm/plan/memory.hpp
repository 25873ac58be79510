// What a plan of products takes of a device's memory.
#pragma once

#include "gemm/plan/schedule.hpp"
#include <heddle/comm/communicator.hpp>

namespace heddle::impl {

/// Bytes of the bands that a plan holds on a rank: those that lie whole on its device take no slot.
[[nodiscard]] double bytes_of_bands(const Product& product, const RankSchedule& schedule, double element_bytes,
                                    int rank);

/// Of a band of each factor and a tile, where one of the layouts that they come in is not what blas::gemm() takes as it
/// is: a rank's own part of a matrix, or a buffer without gaps; 0 where it takes all.
template <Scalar T> [[nodiscard]] double bytes_of_copies(const Product& product, int rank);

/// For the residues of four bands: a third of what is free on any rank; 0 on CPU backends, where nobody knows.
/// Collective.
[[nodiscard]] double memory_for_residues(const Communicator& comm);

/// Says what would fit before an allocation fails: throws Error(computation), on every rank alike. Collective.
void require_memory(const Communicator& comm, const Product& product, double needed);

}  // namespace heddle::impl

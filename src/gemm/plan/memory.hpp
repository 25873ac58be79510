// Memory that a plan of products takes of a device.
#pragma once

#include "core/on_host.hpp"
#include "gemm/plan/facts.hpp"
#include <heddle/comm/communicator.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::impl {

/// Whether an operand's own part must come to the device as that of other ranks does: on GPUs, from host memory.
[[nodiscard]] inline bool is_streamed(const Placement& placement) {
  return !on_host && placement.residence() == Residence::host;
}

/// Bytes that a plan takes of one rank's device.
struct Footprint {
  double bands = 0.0;     ///< Slots for bands of A and B; those that lie whole on the device take none.
  double residues = 0.0;  ///< Residues of bands and the 32-bit sums of emulated products.
  double tiles = 0.0;     ///< Buffers for tiles of C.
  double copies = 0.0;    ///< Copies of bands and tiles for the vendor's BLAS: see bytes_of_copies().
  double messages = 0.0;  ///< Buffers of messages: see bytes_of_messages().
  double layers = 0.0;    ///< Partial tiles of layers: see bytes_of_layers().

  [[nodiscard]] double total() const { return bands + residues + tiles + copies + messages + layers; }
};

/// Tiles of C that a GPU holds at once while they are small, of so many bytes each: up to 16, in at most 512 MiB.
[[nodiscard]] inline double small_tiles(double tile_bytes) {
  return std::floor(std::min(16.0, 0x1p29 / tile_bytes));
}

/// Tiles of C that a rank holds at once: one is filled on each of the `lanes`, one is on its way to its owners, and one
/// is spare. On GPUs at least small_tiles(). If C is in host memory and finished tiles wait for the bus, it is as many
/// as `room_bytes` takes, no more than the rank computes.
[[nodiscard]] std::size_t tile_buffers(const Product& product, const RankSchedule& schedule, double element_bytes,
                                       std::size_t lanes, double room_bytes);

/// Memory that a plan with so many tile buffers takes of the rank. schedules[r]: what rank r loads and computes.
template <Scalar T>
[[nodiscard]] Footprint footprint_of(const PlanFacts& facts, const std::vector<RankSchedule>& schedules, int rank,
                                     std::size_t lanes, std::size_t tile_buffers);

/// Tiles of C from one rank that wait to be added at once.
inline constexpr std::size_t landings_of_a_source = 2;

/// Bytes of a rank's buffers for messages: pieces of bands as they come in, where a message can't land in its band;
/// pieces of this rank's part of A and B as they leave, each once for all receivers; tiles of other ranks before they
/// are added to C; pieces of this rank's tiles.
[[nodiscard]] double bytes_of_messages(const Product& product, const std::vector<RankSchedule>& schedules,
                                       double element_bytes, int rank, std::size_t tile_buffers);

/// Bytes of the bands that a plan holds on a rank: those that lie whole on its device take no slot.
[[nodiscard]] double bytes_of_bands(const Product& product, const RankSchedule& schedule, double element_bytes,
                                    int rank);

/// Bytes of a rank's copies of its part of C: one for each layer but the first, where partial tiles wait to be added.
[[nodiscard]] double bytes_of_layers(const Product& product, double element_bytes, int rank);

/// Bytes of a copy of one band of each factor and of one tile, if blas::gemm() does not take one of their layouts as it
/// is: that of a rank's own part of a matrix, or of a buffer without gaps. 0 if it takes all of them.
template <Scalar T>
[[nodiscard]] double bytes_of_copies(const Product& product, int rank, MathMode math = MathMode::automatic);

/// Bytes that the residues of four bands may take: a third of what is free on the rank with the least; 0 on CPU
/// backends, whose free memory is not known. Collective.
[[nodiscard]] double memory_for_residues(const Communicator& comm);

/// Throws Error(memory), on every rank alike, if `needed` bytes are more than a rank's device has free, and says which
/// tile would fit. Collective.
void require_memory(const Communicator& comm, const Product& product, double needed);

}  // namespace heddle::impl

// The tile model: predicted time of a product, and the tile it recommends.
#pragma once

#include "gemm/plan/schedule.hpp"
#include <heddle/gemm/tile_model.hpp>

namespace heddle::impl {

/// Bytes and operations of one element of a product.
struct ElementCost {
  double bytes = 8.0;
  double flops_per_multiply_add = 2.0;
};

/// Shape of the product, for the bounds on its tile.
[[nodiscard]] ProductShape shape_of(const Product& product, const ElementCost& cost);

/// Bytes per second between two ranks; 0: transfers take no time.
[[nodiscard]] double bandwidth_between(const MachineRates& rates, bool on_one_node);

/// Seconds of the slowest rank. Its products run one after the other at the rate measured for the tile, less what the
/// device loses with time, each when its bands are there; the bands come one after the other, as fast as the link is
/// where ranks that load from one owner share it, through the bus where they are in host memory, each when its slot is
/// free (kernel efficiency, warmth, start, contention, latency). The whole is no shorter than the busier direction of
/// the link or of the bus; the last tile's way home is added (drain), and the passes over what is copied: pieces into
/// their band, tiles into C, the partial tiles of layers. If copies and products share the cores, only the measured
/// share hides: within a node, and of what a slower link brings from another, which is more.
[[nodiscard]] double predicted_seconds(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                       int bands_per_pass);

/// Parts of that time, on the slowest rank.
struct PredictedTimes {
  double seconds = 0.0;        ///< All of it.
  double products = 0.0;       ///< Time of its products alone, one after the other.
  double within_nodes = 0.0;   ///< Time of the busier direction of its link within its node.
  double between_nodes = 0.0;  ///< The same between nodes; 0 where both are one link.
  double bus = 0.0;            ///< Time of transfers on its bus.
};
[[nodiscard]] PredictedTimes predicted_times(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                             const std::vector<RankSchedule>& schedules);

/// The same machine with emulated products, which were measured, in place of the BLAS's.
[[nodiscard]] MachineRates emulated_rates(MachineRates rates);

/// Bands of op(A) a pass holds: all of a rank's where its workspace takes them, else as many as fit twice (those in use
/// and those on their way), at least one.
[[nodiscard]] int bands_that_fit(const Product& product, double element_bytes, std::size_t workspace_bytes);

/// Whether tiles of a C in host memory go home only once the bands of A and B have come: if products take longer than
/// all transfers on the bus, which is slower with traffic both ways.
[[nodiscard]] bool tiles_wait_for_bands(const MachineRates& rates, const ElementCost& cost, const Product& product,
                                        const std::vector<Workload>& work);

/// Set held_b to a few bands, and first_held_b, for ranks whose first bands of A travel too, to as many as the
/// workspace takes beside these.
void hold_bands_of_b(Product& product, int bands_per_pass, double element_bytes, std::size_t workspace_bytes);

/// Hold bands of B as hold_bands_of_b() does. Return the bands of A in a pass: as many as are `asked` for and exist or,
/// if that is 0, as fit, but at most `most`.
[[nodiscard]] int settle_bands(Product& product, int asked, int most, double element_bytes,
                               std::size_t workspace_bytes);

/// GemmOptions::workspace_bytes where it is left open: an eighth of a device's memory, or three quarters of its free
/// memory if less, the least of all ranks; 1 GiB on CPUs. Collective.
[[nodiscard]] std::size_t default_workspace_bytes(const Communicator& comm);

}  // namespace heddle::impl

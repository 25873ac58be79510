// Predicted time and memory of a distributed product on a described machine.
#pragma once

#include <heddle/gemm/gemm.hpp>

#include <string>

namespace heddle {

/// Equal nodes with equally many ranks each, numbered node by node.
struct ClusterShape {
  int nodes = 1;           ///< Number of nodes.
  int ranks_per_node = 1;  ///< Ranks of each node: one for each GPU, or for a share of its cores.
  /// Whether the ranks are GPUs, which decides how tiles are chosen and what is held; else they are CPU threads.
  bool on_gpus = true;
};

/// The most ranks that a prediction is made for.
inline constexpr int most_ranks_predicted = 65536;

/// Longest of the times that the slowest rank's products and links take alone; `products` if none of the links takes
/// longer.
enum class Bottleneck { products, links_within_nodes, links_between_nodes };
/// "products", "links within nodes" or "links between nodes".
[[nodiscard]] std::string to_string(Bottleneck bottleneck);

/// A predicted product.
struct GemmPrediction {
  double seconds = 0.0;  ///< Time of the slowest rank.
  double gflops = 0.0;   ///< Rate of all ranks together, in 10^9 flops per second.
  /// The share of the transfers' time, on the slowest rank, that products hide; 1 where nothing travels.
  double hidden_share = 1.0;
  Bottleneck bottleneck = Bottleneck::products;  ///< The longest of the three times alone.
  Index tile = 0;                                ///< N_i.
  ProcessGrid grid;                              ///< The grid of ranks, or of those of each group of layers.
  int layers = 0;                                ///< L: the runs of the inner dimension that are multiplied apart.
  int bands_per_pass = 0;                        ///< Bands of op(A) that a rank holds.
  Arithmetic arithmetic = Arithmetic::native;    ///< Native or emulated.
  double bytes_received = 0.0;                   ///< Bytes from other ranks, summed over all ranks.
  double bytes_between_nodes = 0.0;              ///< Those of bytes_received from other nodes.
  /// Bytes that the rank with the largest need takes of its device: its parts of A, B and C, bands, tiles, layers,
  /// residues of emulated products, and on GPUs the workspaces of cuBLAS.
  double memory_bytes = 0.0;
  double planning_seconds = 0.0;  ///< Time that the choice of grid and tile took here.
};

/// Predicts C = A B with A and C in row bands and B in column bands over all ranks of the cluster, A of rows x inner
/// and B of inner x columns. Nothing is computed or moved, and MPI is not needed: the plan is the one that GemmPlan
/// makes for these ranks, with `options`, and the time is the tile model's from `rates`. GemmOptions::rates is ignored,
/// and workspace_bytes 0 stands for 16 GiB on GPUs and for 1 GiB on CPUs.
///
/// T is float, double or a complex type. Throws Error(argument) as GemmPlan does, and for a cluster without ranks.
template <Scalar T>
[[nodiscard]] GemmPrediction predict_gemm(const ClusterShape& cluster, Index rows, Index columns, Index inner,
                                          const MachineRates& rates, const GemmOptions& options = {});

/// The same with A, B and C in these placements over the ranks of the cluster. Throws Error(argument) for shapes that
/// don't fit and for a placement over more ranks.
template <Scalar T>
[[nodiscard]] GemmPrediction predict_gemm(const ClusterShape& cluster, const Placement& a, const Placement& b,
                                          const Placement& c, const MachineRates& rates,
                                          const GemmOptions& options = {});

}  // namespace heddle

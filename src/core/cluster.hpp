// Exchange of the best rows among the blocks of a cluster, in each other's fast memory. CUDA alone.
#pragma once

#include "core/fast_barrier.hpp"
#include "core/simd.hpp"
#include <heddle/core/scalar.hpp>

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

namespace heddle::impl {

/// Threads of a warp, blocks of a cluster at most, and a position behind all rows.
inline constexpr int cluster_lanes = 32;
inline constexpr int most_cluster = 16;
inline constexpr int no_row = 1 << 30;

/// A candidate row for the pivot.
struct alignas(16) Candidate {
  std::uint64_t rank;  ///< Value of pivot_rank().
  int position;        ///< Number of the row in the panel; no_row if there is none.
  int unused;
};

/// The lane of a warp whose candidate has the largest rank and, of equal ones, the first position. One reduction tells
/// where the upper halves of ranks differ, which they nearly always do.
inline __device__ int best_lane(std::uint64_t rank, int position) {
  constexpr unsigned all = 0xffffffffU;
  const auto high = static_cast<unsigned>(rank >> 32U);
  const unsigned most_high = __reduce_max_sync(all, high);
  unsigned who = __ballot_sync(all, high == most_high);
  if ((who & (who - 1U)) != 0U) {
    const unsigned low = high == most_high ? static_cast<unsigned>(rank) : 0U;
    const unsigned most_low = __reduce_max_sync(all, low);
    const bool largest = high == most_high && low == most_low;
    const int first = __reduce_min_sync(all, largest ? position : no_row);
    who = __ballot_sync(all, largest && position == first);
  }
  return __ffs(static_cast<int>(who)) - 1;
}

/// Map an address in a block's fast memory to its address in the cluster's.
inline __device__ unsigned address_in(int block, unsigned address) {
  unsigned there = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

/// Counts the bytes that other blocks write into this one's fast memory: a thread that has waited for a step's
/// bytes may read them, without a barrier of the cluster or a fence. One thread expects them, once a phase.
struct Arrivals : FastBarrier {
  __device__ void begin() const { FastBarrier::begin(1); }
  __device__ void wait(unsigned phase) const { FastBarrier::wait(phase & 1U); }
  /// Write 16 bytes into a block's fast memory, where its arrivals count them; `place` and `counter` are addresses in
  /// this block.
  __device__ static void send(int block, const void* place, const void* counter, const int4& value) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     address_in(block, shared_address(place))),
                 "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(address_in(block, shared_address(counter)))
                 : "memory");
  }
};

/// The best row of each block of a cluster in a step, as every block receives it.
template <int packs> struct RowsOfBlocks {
  static constexpr unsigned bytes_each = (packs + 1) * sizeof(int4);  ///< Bytes that one block sends to each.
  int4 rows[most_cluster][packs];
  Candidate candidates[most_cluster];
};

/// Send a row in fast memory and its candidate to all blocks of the cluster, by one warp.
template <int packs>
__device__ void send_to_blocks(const cooperative_groups::cluster_group& cluster, const int4 (&row)[packs],
                               const Candidate& candidate, RowsOfBlocks<packs>& place, const std::uint64_t& counter) {
  static_assert(packs <= cluster_lanes && cluster_lanes % packs == 0 && sizeof(Candidate) == sizeof(int4));
  const int lane = static_cast<int>(threadIdx.x) % cluster_lanes;
  const auto blocks = static_cast<int>(cluster.num_blocks());
  const auto block = static_cast<int>(cluster.block_rank());
  const int4 mine = row[lane % packs];
  for (int target = lane / packs; target < blocks; target += cluster_lanes / packs) {
    Arrivals::send(target, &place.rows[block][lane % packs], &counter, mine);
  }
  if (lane < blocks) {
    Arrivals::send(lane, &place.candidates[block], &counter, *reinterpret_cast<const int4*>(&candidate));
  }
}

/// Blocks of a cluster, and threads of each.
struct ClusterShape {
  int blocks;
  int threads;
};
/// For so many rows, `each` of them a thread: as few threads as hold them, but 128 a block and two blocks at least,
/// which compute-sanitizer wants where blocks write into each other's memory. `most_threads` is a multiple of 64.
inline ClusterShape cluster_shape(Index rows, int each, int most_blocks, int most_threads) {
  ClusterShape shape{std::min(2, most_blocks), 128};
  while (shape.blocks < most_blocks && Index{shape.blocks} * shape.threads * each < rows) shape.blocks *= 2;
  while (shape.threads < most_threads && Index{shape.blocks} * shape.threads * each < rows) shape.threads += 64;
  return shape;
}

/// Arguments that cudaLaunchKernelEx() needs to start one cluster. Refers to itself, and so is neither copied nor
/// moved.
struct ClusterLaunch {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};

  ClusterLaunch(const ExecutionSpace& space, const ClusterShape& shape) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(shape.blocks);
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
    config.blockDim = dim3(static_cast<unsigned>(shape.threads));
    config.stream = space.cuda_stream();
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;
};

/// Whether the device has clusters.
inline bool has_clusters(const ExecutionSpace& space) {
  int clusters = 0;
  return cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, space.cuda_device()) == cudaSuccess &&
         clusters != 0;
}
/// Blocks that a cluster of this kernel may have, 8 or 16, with so many threads each; 0 where not even 8. More than 8
/// are allowed for later launches of the kernel.
template <class Kernel> int most_blocks_of_cluster(const ExecutionSpace& space, Kernel* kernel, int threads) {
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  for (int blocks = most_cluster; blocks >= 8; blocks /= 2) {
    const ClusterLaunch launch(space, {blocks, threads});
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) == cudaSuccess && clusters > 0) return blocks;
    static_cast<void>(cudaGetLastError());
  }
  return 0;
}

/// A thread's rows, 1, 2 or 4, where a cluster of so many blocks is to hold all; 0 where it can't.
inline int rows_each_of_cluster(Index rows, int most_blocks, int most_threads) {
  for (const int each : {1, 2, 4}) {
    if (rows <= Index{most_blocks} * most_threads * each) return each;
  }
  return 0;
}

}  // namespace heddle::impl

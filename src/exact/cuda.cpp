// LU factorization of a few columns by one cluster of multiprocessors, and CUB's radix sort of elements by their keys,
// in CUDA.
#include "core/cluster.hpp"
#include "core/instantiate.hpp"
#include "exact/keyed/keyed_device.hpp"
#include "exact/lu/cluster_leaf.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cooperative_groups.h>
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::exact::impl {
namespace {

using heddle::impl::Arrivals;
using heddle::impl::best_lane;
using heddle::impl::Candidate;
using heddle::impl::no_row;
using heddle::impl::RowsOfBlocks;
using Cluster = cooperative_groups::cluster_group;

constexpr int most_threads = 320;  // More would need more fast memory than a block has by default.
constexpr int lanes = heddle::impl::cluster_lanes;
constexpr int most_warps = most_threads / lanes;
constexpr unsigned all_lanes = 0xffffffffU;

// Fast memory of a block of threads. Each step has its own place for the rows that blocks send; these are the leaf's
// rows of U as well.
template <Scalar T, int most> struct ClusterShared {
  static constexpr int packs = static_cast<int>(most * sizeof(T) / sizeof(int4));
  alignas(8) std::uint64_t arrivals[most];
  RowsOfBlocks<packs> of_blocks[most];
  // The block's best row, from the step's column on, as it is sent, and its sums.
  int4 row[packs];
  InnerSum<T> sums[most];
  T value;
  int place;
  // For alternate steps, since a warp may be in the next step before another has read them.
  Candidate best_of_warps[2][most_warps];
  ExactSum<T> exact[most_warps];
};

// State of a thread throughout the leaf: the sums of its rows, column j in [0] in step j, and the current positions of
// its rows.
template <Scalar T, int most, int each> struct ClusterRows {
  InnerSum<T> sum[each][most];
  T value[each];  // Elements of the step's column.
  int position[each];
  std::uint64_t senders;  // Four bits a step: the block that sent the pivot's row.
};

// The steps of ExactLeaf, except that a block rounds its best row itself before it sends it.
template <Scalar T, int most, int each> struct ClusterLeaf {
  using Shared = ClusterShared<T, most>;
  using Rows = ClusterRows<T, most, each>;
  static_assert(most * each == device_leaf_columns<T> && most <= 16 && heddle::impl::most_cluster <= 16);

  DeviceColumns<T> columns;
  LeafPlace leaf;
  SumBounds<T> bounds;
  Kokkos::View<Index*, MemorySpace> pivots;  // Pivots of the whole matrix and, last, info.
  DeviceMoves moves;

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % lanes; }
  static __device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x) / lanes; }
  // Returns the original position of a thread's row r, where its data are.
  __device__ __forceinline__ int place_of(int r) const {
    const auto threads = static_cast<int>(blockDim.x);
    return static_cast<int>(leaf.row) + (static_cast<int>(blockIdx.x) * each + r) * threads +
           static_cast<int>(threadIdx.x);
  }
  // Returns true if a row now at this position has no pivot yet in step j.
  __device__ __forceinline__ bool is_candidate(int position, int j) const {
    return position >= leaf.row + j && position < columns.m;
  }
  // Returns element (k, c) of U in the leaf.
  static __device__ __forceinline__ T element_of_u(const Shared& shared, std::uint64_t senders, int k, int c) {
    const auto sender = static_cast<unsigned>(senders >> static_cast<unsigned>(4 * k)) & 15U;
    return reinterpret_cast<const T*>(shared.of_blocks[k].rows[sender])[c - k];
  }

  // Sums element c of the leaf in the row whose data are at `place`, by a warp; the result is lane `owner`'s value. The
  // leaf has the row's elements of L in the columns before column `known`, and U's.
  __device__ T sum_exactly(Shared& shared, std::uint64_t senders, int owner, Index place, int c, int known) const {
    ExactSum<T>& exact = shared.exact[warp()];
    if (lane() == owner) exact = {};
    __syncwarp();
    columns.add_known(exact, place, leaf.column + c, leaf.row, lane(), lanes);
    if (lane() < known) {
      const T u = element_of_u(shared, senders, lane(), c);
      for_each_product(columns.at(place, leaf.column + lane()), -u, [&](int p, Real<T> x, Real<T> y) {
        exact.part[p].add_product_atomically(static_cast<double>(x), static_cast<double>(y));
      });
    }
    __syncwarp();
    T value(0);
    if (lane() == owner) {
      exact.add(columns.at(place, leaf.column + c));
      value = exact.value();
    }
    __syncwarp();
    return value;
  }
  // Sums column j's elements in the open rows of a warp's lanes; the first lane's row is at `place`.
  HEDDLE_APART __device__ T close_column(Shared& shared, std::uint64_t senders, Index place, int j, bool is_open,
                                         T value) const {
    for (unsigned open = __ballot_sync(all_lanes, is_open); open != 0; open &= open - 1U) {
      const int owner = __ffs(static_cast<int>(open)) - 1;
      const T found = sum_exactly(shared, senders, owner, place + owner, j, j);
      if (lane() == owner) value = found;
    }
    return value;
  }
  // Sums the open elements of the block's best row, a lane for each from column j on.
  HEDDLE_APART __device__ T close_row(Shared& shared, std::uint64_t senders, int j, bool is_open, T value) const {
    for (unsigned open = __ballot_sync(all_lanes, is_open); open != 0; open &= open - 1U) {
      const int owner = __ffs(static_cast<int>(open)) - 1;
      const T found = sum_exactly(shared, senders, owner, shared.place, j + owner, j);
      if (lane() == owner) value = found;
    }
    return value;
  }
  // Writes sums to memory while another is summed exactly, as ExactLeaf does.
  __device__ __forceinline__ void put_away(const Rows& rows, int j) const {
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      HEDDLE_UNROLL
      for (int c = 0; c < most; ++c) {
        if (place_of(r) < columns.m && c < leaf.width - j) {
          columns.sum(place_of(r), leaf.column + j + c) = rows.sum[r][c];
        }
      }
    }
  }
  __device__ __forceinline__ void take_back(Rows& rows, int j) const {
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      HEDDLE_UNROLL
      for (int c = 0; c < most; ++c) {
        rows.sum[r][c] = {};
        if (place_of(r) < columns.m && c < leaf.width - j) {
          rows.sum[r][c] = columns.sum(place_of(r), leaf.column + j + c);
        }
      }
    }
  }

  // Rounds the elements of column j.
  __device__ __forceinline__ void round_column(Shared& shared, Rows& rows, int j) const {
    bool is_open[each];
    bool any = false;
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      rows.value[r] = T(0);
      is_open[r] = is_candidate(rows.position[r], j) && !bounds.rounds(rows.sum[r][0], rows.value[r]);
      any = any || is_open[r];
    }
    if (__any_sync(all_lanes, any) != 0) {
      put_away(rows, j);
      HEDDLE_UNROLL
      for (int r = 0; r < each; ++r) {
        rows.value[r] = close_column(shared, rows.senders, Index{place_of(r) - lane()}, j, is_open[r], rows.value[r]);
      }
      take_back(rows, j);
    }
  }
  // Proposes the best of the warp's rows to its block.
  __device__ __forceinline__ void propose(Shared& shared, const Rows& rows, int j) const {
    std::uint64_t rank = 0;
    int at = no_row;
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      if (is_candidate(rows.position[r], j)) {
        const std::uint64_t of_row = pivot_rank(rows.value[r]);
        if (of_row > rank || (of_row == rank && rows.position[r] < at)) {
          rank = of_row;
          at = rows.position[r];
        }
      }
    }
    if (lane() == best_lane(rank, at)) shared.best_of_warps[j & 1][warp()] = {rank, at, 0};
  }
  // The warp that has the best row of its block, if any is left: rounds the row from column j on, a lane for each
  // element, and sends it to all blocks.
  __device__ __forceinline__ void send(const Cluster& cluster, Shared& shared, Rows& rows, int j,
                                       const Candidate& best) const {
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      if (rows.position[r] == best.position) {
        HEDDLE_UNROLL
        for (int c = 0; c < most; ++c) shared.sums[c] = rows.sum[r][c];
        shared.value = rows.value[r];
        shared.place = place_of(r);
      }
    }
    __syncwarp();
    T u(0);
    bool is_open = false;
    if (best.position != no_row && lane() < leaf.width - j) {
      if (lane() == 0) {
        u = shared.value;
      } else {
        is_open = !bounds.rounds(shared.sums[lane()], u);
      }
    }
    if (__any_sync(all_lanes, is_open) != 0) {
      put_away(rows, j);
      u = close_row(shared, rows.senders, j, is_open, u);
      take_back(rows, j);
    }
    if (lane() < most) reinterpret_cast<T*>(shared.row)[lane()] = u;
    __syncwarp();
    send_to_blocks(cluster, shared.row, best, shared.of_blocks[j], shared.arrivals[j]);
  }
  // Waits for the rows of all blocks, and finds the best.
  __device__ __forceinline__ Candidate receive(const Cluster& cluster, Shared& shared, Rows& rows, int j) const {
    Arrivals{heddle::impl::shared_address(&shared.arrivals[j])}.wait(0);
    const RowsOfBlocks<Shared::packs>& sent = shared.of_blocks[j];
    const Candidate other =
        lane() < static_cast<int>(cluster.num_blocks()) ? sent.candidates[lane()] : Candidate{0, no_row, 0};
    const int sender = best_lane(other.rank, other.position);
    rows.senders |= static_cast<std::uint64_t>(sender) << static_cast<unsigned>(4 * j);
    return sent.candidates[sender];
  }
  // Computes column j of L, and subtracts its products with the pivot's row.
  __device__ __forceinline__ void eliminate(const Shared& shared, Rows& rows, int j, int chosen) const {
    const int top = static_cast<int>(leaf.row) + j;
    const auto sender = static_cast<unsigned>(rows.senders >> static_cast<unsigned>(4 * j));
    const T* const u = reinterpret_cast<const T*>(shared.of_blocks[j].rows[sender]);
    const T pivot = u[0];
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      if (rows.position[r] == chosen) {
        rows.position[r] = top;
      } else if (rows.position[r] == top) {
        rows.position[r] = chosen;
      }
      const bool below = is_candidate(rows.position[r], j + 1);
      T& value = rows.value[r];
      if (below && pivot != T(0)) value = quotient(value, pivot);
      // Exact sums of earlier steps still needed the matrix's original element.
      if (is_candidate(rows.position[r], j)) columns.at(place_of(r), leaf.column + j) = value;
      HEDDLE_UNROLL
      for (int c = 0; c + 1 < most; ++c) {
        rows.sum[r][c] = rows.sum[r][c + 1];
        if (below && c + 1 < leaf.width - j) rows.sum[r][c].add_product(value, -u[c + 1]);
      }
    }
  }
  // Writes U behind the pivots of former pivots' rows.
  __device__ __forceinline__ void finish(const Shared& shared, const Rows& rows) const {
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      const int place = place_of(r);
      if (place < columns.m) {
        const int k = rows.position[r] - static_cast<int>(leaf.row);
        for (int c = k + 1; c < leaf.width; ++c) {
          columns.at(place, leaf.column + c) = element_of_u(shared, rows.senders, k, c);
        }
        if (rows.position[r] != place) moves.append(rows.position[r], place);
      }
    }
  }

  __device__ __forceinline__ void begin(const Cluster& cluster, Shared& shared, Rows& rows) const {
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      rows.position[r] = place_of(r);
      HEDDLE_UNROLL
      for (int c = 0; c < most; ++c) {
        if (place_of(r) < columns.m && c < leaf.width) rows.sum[r][c] = columns.sum(place_of(r), leaf.column + c);
      }
    }
    rows.senders = 0;
    if (threadIdx.x == 0) {
      for (int j = 0; j < leaf.width; ++j) {
        Arrivals{heddle::impl::shared_address(&shared.arrivals[j])}.begin();
      }
      Arrivals::have_begun();
      for (int j = 0; j < leaf.width; ++j) {
        Arrivals{heddle::impl::shared_address(&shared.arrivals[j])}.expect(static_cast<unsigned>(cluster.num_blocks()) *
                                                                           RowsOfBlocks<Shared::packs>::bytes_each);
      }
      if (blockIdx.x == 0) moves.clear();
    }
    // No block may write into another's fast memory before that block runs and its counters are set.
    cluster.sync();
  }

  __device__ __forceinline__ void run(Shared& shared) const {
    const Cluster cluster = cooperative_groups::this_cluster();
    const auto warps = static_cast<int>(blockDim.x) / lanes;
    const bool speaks = blockIdx.x == 0 && threadIdx.x == 0;
    Rows rows;
    begin(cluster, shared, rows);
    for (int j = 0; j < leaf.width; ++j) {
      round_column(shared, rows, j);
      propose(shared, rows, j);
      __syncthreads();
      const Candidate* const of_warps = shared.best_of_warps[j & 1];
      const Candidate mine = lane() < warps ? of_warps[lane()] : Candidate{0, no_row, 0};
      const int from = best_lane(mine.rank, mine.position);
      if (warp() == from) send(cluster, shared, rows, j, of_warps[from]);
      const Candidate chosen = receive(cluster, shared, rows, j);
      eliminate(shared, rows, j, chosen.position);
      if (speaks) {
        pivots(leaf.row + j) = chosen.position;
        Index& info = pivots(pivots.extent(0) - 1);
        if (chosen.rank == pivot_rank_of_zero && info == 0) info = leaf.row + j + 1;
      }
    }
    finish(shared, rows);
  }
};

template <Scalar T, int most, int each>
__global__ void __launch_bounds__(most_threads, 1)
    exact_cluster_leaf(const __grid_constant__ ClusterLeaf<T, most, each> leaf) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  // As bytes, since shared memory takes no types with constructors.
  using Shared = ClusterShared<T, most>;
  __shared__ alignas(Shared) unsigned char memory[sizeof(Shared)];
  leaf.run(*reinterpret_cast<Shared*>(memory));
#endif
}

template <Scalar T, int each> constexpr int columns_of = static_cast<int>(device_leaf_columns<T>) / each;
template <Scalar T, int each> constexpr auto* kernel = &exact_cluster_leaf<T, columns_of<T, each>, each>;

// With four rows a thread and fewer columns, the sums of the rest of a panel would go through memory so often that
// ExactLeaf is as fast.
constexpr int most_each = 2;
int rows_each(Index rows, int most_blocks) {
  const int each = heddle::impl::rows_each_of_cluster(rows, most_blocks, most_threads);
  return each <= most_each ? each : 0;
}

template <Scalar T, int each>
cudaError_t start(const heddle::impl::ClusterLaunch& launch, const DeviceColumns<T>& columns, const LeafPlace& leaf,
                  const SumBounds<T>& bounds, const Kokkos::View<Index*, MemorySpace>& pivots,
                  const DeviceMoves& moves) {
  const ClusterLeaf<T, columns_of<T, each>, each> work{columns, leaf, bounds, pivots, moves};
  return cudaLaunchKernelEx(&launch.config, kernel<T, each>, work);
}

}  // namespace

template <Scalar T> ClusterLeaves<T>::ClusterLeaves(const ExecutionSpace& space) {
  if (!heddle::impl::has_clusters(space)) return;
  most_blocks_ = std::min(heddle::impl::most_blocks_of_cluster(space, kernel<T, 1>, most_threads),
                          heddle::impl::most_blocks_of_cluster(space, kernel<T, 2>, most_threads));
}

template <Scalar T> Index ClusterLeaves<T>::width(Index rows) const {
  const int each = rows_each(rows, most_blocks_);
  return each == 0 ? 0 : device_leaf_columns<T> / each;
}

template <Scalar T>
void ClusterLeaves<T>::factor(const ExecutionSpace& space, const DeviceColumns<T>& columns, const LeafPlace& leaf,
                              const SumBounds<T>& bounds, const Kokkos::View<Index*, MemorySpace>& pivots,
                              const DeviceMoves& moves) const {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::cluster_leaf");
  const Index rows = columns.m - leaf.row;
  const int each = rows_each(rows, most_blocks_);
  const heddle::impl::ClusterLaunch launch(space, heddle::impl::cluster_shape(rows, each, most_blocks_, most_threads));
  const cudaError_t status = each == 1 ? start<T, 1>(launch, columns, leaf, bounds, pivots, moves)
                                       : start<T, 2>(launch, columns, leaf, bounds, pivots, moves);
  require(status == cudaSuccess, "exact::lu: a cluster of ", launch.config.gridDim.x,
          " blocks could not be started: ", cudaGetErrorString(status));
}

#define HEDDLE_INSTANTIATE(T) template class ClusterLeaves<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

namespace {

// An element as raw bytes for CUB.
template <std::size_t bytes> struct Moved;
template <> struct Moved<4> { using type = std::uint32_t; };
template <> struct Moved<8> { using type = std::uint64_t; };
template <> struct Moved<16> { using type = ulonglong2; };

}  // namespace

template <Scalar T, class I>
void sort_by_keys(heddle::impl::Workspace& workspace, const I* keys, const T* elements, I* sorted_keys,
                  T* sorted_elements, Index count, int bits) {
  using Element = typename Moved<sizeof(T)>::type;
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    const cudaError_t status = cub::DeviceRadixSort::SortPairs(
        scratch, bytes, keys, sorted_keys, reinterpret_cast<const Element*>(elements),
        reinterpret_cast<Element*>(sorted_elements), count, 0, bits, workspace.space().cuda_stream());
    if (status != cudaSuccess) {
      throw Error(ErrorKind::computation, message_of("exact: the radix sort failed: ", cudaGetErrorString(status)));
    }
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  const auto scratch = workspace.take<char>("heddle::exact::sort", static_cast<Index>(bytes) + 1);
  sort(scratch.data(), bytes);
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template void sort_by_keys<T, std::int32_t>(heddle::impl::Workspace&, const std::int32_t*, const T*, std::int32_t*, \
                                              T*, Index, int);                                                        \
  template void sort_by_keys<T, std::int64_t>(heddle::impl::Workspace&, const std::int64_t*, const T*, std::int64_t*, \
                                              T*, Index, int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::impl

// Columns of an LU panel factored by one cluster of multiprocessors, for CUDA.
#include "core/cluster.hpp"
#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/lu/cluster_leaf.hpp"
#include "solve/lu/device_leaf.hpp"
#include "solve/lu/pivot.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

namespace heddle::impl {
namespace {

constexpr int most_threads = 512;
constexpr int lanes = cluster_lanes;
constexpr int most_warps = most_threads / lanes;

template <Scalar T> struct ClusterLeafWork {
  Elements<T> P;
  Index first;
  Index rows;
  int width;
  Index* pivots;
  Index* info;
  // The data of RowMoves.
  Index* moves;
  Index most_moves;
};

// State in the fast memory of a block of threads. Data that blocks write is double-buffered by step: a block writes for
// the step after next only when all have written for the next, which they do behind their last read. The candidates of
// warps are double-buffered too, since a warp may be in the next step before another has read them.
template <Scalar T, int most> struct ClusterLeafShared {
  static constexpr int packs = static_cast<int>(most * sizeof(T) / sizeof(int4));
  alignas(8) std::uint64_t arrivals[2];
  int chosen[most];
  int4 best_row[packs];
  RowsOfBlocks<packs> of_blocks[2];
  Candidate best_of_warps[2][most_warps];
};

// Elements that are sent together.
template <Scalar T> struct alignas(16) Pack {
  static constexpr int count = static_cast<int>(16 / sizeof(T));
  T element[count];
};

// Send the best row of a block, and its size, from the warp that has it to all blocks of the cluster.
template <Scalar T, int most, int each>
__device__ void send_row(const cooperative_groups::cluster_group& cluster, ClusterLeafShared<T, most>& shared, int turn,
                         const T (&a)[each][most], const int (&position)[each], const Candidate& best) {
  constexpr int packs = most / Pack<T>::count;
  auto* const kept = reinterpret_cast<Pack<T>*>(shared.best_row);
  HEDDLE_UNROLL
  for (int r = 0; r < each; ++r) {
    if (position[r] == best.position) {
      HEDDLE_UNROLL
      for (int p = 0; p < packs; ++p) {
        Pack<T> pack;
        HEDDLE_UNROLL
        for (int c = 0; c < Pack<T>::count; ++c) pack.element[c] = a[r][p * Pack<T>::count + c];
        kept[p] = pack;
      }
    }
  }
  __syncwarp();
  send_to_blocks(cluster, shared.best_row, best, shared.of_blocks[turn], shared.arrivals[turn]);
}

// A thread keeps `each` rows of up to `most` columns in registers from beginning to end; rows do not move, only their
// numbers change. In a step the warp that has the best row of a block sends it to all blocks, and each warp finds the
// best of all for itself.
template <Scalar T, int most, int each>
__global__ void __launch_bounds__(most_threads, 1) cluster_leaf(ClusterLeafWork<T> work) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  namespace cg = cooperative_groups;
  __shared__ ClusterLeafShared<T, most> shared;
  using Sent = RowsOfBlocks<ClusterLeafShared<T, most>::packs>;
  constexpr int turned = most < 4 ? most : 4;  // Steps between which register indices are compile-time constants.
  static_assert(turned % Pack<T>::count == 0 && most % turned == 0);
  const cg::cluster_group cluster = cg::this_cluster();
  const auto blocks = static_cast<int>(cluster.num_blocks());
  const auto block = static_cast<int>(cluster.block_rank());
  const auto thread = static_cast<int>(threadIdx.x);
  const auto threads = static_cast<int>(blockDim.x);
  const int warp = thread / lanes;
  const int warps = threads / lanes;
  const int lane = thread % lanes;
  const auto top = static_cast<int>(work.first);
  const bool is_first = block == 0 && thread == 0;

  T a[each][most];
  int position[each];
  for (int r = 0; r < each; ++r) {
    position[r] = top + (block * each + r) * threads + thread;
    const bool here = position[r] < work.rows;
    for (int c = 0; c < most; ++c) a[r][c] = here && c < work.width ? work.P(position[r], work.first + c) : T(0);
  }
  const auto begin_of = [&](int r) { return top + (block * each + r) * threads + thread; };
  const Arrivals arrivals[2] = {{shared_address(&shared.arrivals[0])}, {shared_address(&shared.arrivals[1])}};
  if (thread == 0) {
    arrivals[0].begin();
    arrivals[1].begin();
    Arrivals::have_begun();
  }
  if (is_first) work.moves[0] = 0;
  Index first_zero = 0;
  // No block may write into another's fast memory before that one runs.
  cluster.sync();

  // Column j is in a[][0] if j is a multiple of `turned`.
  for (int start = 0; start < work.width; start += turned) {
    HEDDLE_UNROLL
    for (int u = 0; u < turned; ++u) {
      const int j = start + u;
      if (j < work.width) {
        const int turn = j & 1;
        std::uint64_t rank = 0;
        int at = no_row;
        HEDDLE_UNROLL
        for (int r = 0; r < each; ++r) {
          if (position[r] >= top + j && position[r] < work.rows) {
            const std::uint64_t of_row = exact::impl::pivot_rank(a[r][u]);
            if (of_row > rank || (of_row == rank && position[r] < at)) {
              rank = of_row;
              at = position[r];
            }
          }
        }
        if (lane == best_lane(rank, at)) shared.best_of_warps[turn][warp] = {rank, at, 0};
        __syncthreads();
        const Candidate mine = lane < warps ? shared.best_of_warps[turn][lane] : Candidate{0, no_row, 0};
        const int from = best_lane(mine.rank, mine.position);
        if (warp == from) send_row<T, most, each>(cluster, shared, turn, a, position, shared.best_of_warps[turn][from]);
        if (thread == 0) arrivals[turn].expect(static_cast<unsigned>(blocks) * Sent::bytes_each);
        arrivals[turn].wait(static_cast<unsigned>(j / 2));
        const Candidate other = lane < blocks ? shared.of_blocks[turn].candidates[lane] : Candidate{0, no_row, 0};
        const int sender = best_lane(other.rank, other.position);
        const Candidate chosen = shared.of_blocks[turn].candidates[sender];
        const auto* const row = reinterpret_cast<const Pack<T>*>(shared.of_blocks[turn].rows[sender]);
        if (thread == 0) shared.chosen[j] = chosen.position;
        if (chosen.rank == exact::impl::pivot_rank_of_zero && first_zero == 0) first_zero = work.first + j + 1;
        const T pivot = row[u / Pack<T>::count].element[u % Pack<T>::count];
        const PivotDivisor<T> divide(pivot);
        HEDDLE_UNROLL
        for (int r = 0; r < each; ++r) {
          if (position[r] == chosen.position) {
            position[r] = top + j;
          } else if (position[r] == top + j) {
            position[r] = chosen.position;
          }
          if (position[r] > top + j && position[r] < work.rows) {
            if (pivot != T(0)) a[r][u] = divide(a[r][u]);
            const T minus = -a[r][u];
            HEDDLE_UNROLL
            for (int c = u + 1; c < turned; ++c) {
              a[r][c] = multiply_add(minus, row[c / Pack<T>::count].element[c % Pack<T>::count], a[r][c]);
            }
            // Columns that are already done are left out a few at a time.
            HEDDLE_UNROLL
            for (int g = turned; g < most; g += turned) {
              if (start + g < work.width) {
                HEDDLE_UNROLL
                for (int p = g / Pack<T>::count; p < (g + turned) / Pack<T>::count; ++p) {
                  const Pack<T> pack = row[p];
                  HEDDLE_UNROLL
                  for (int c = 0; c < Pack<T>::count; ++c) {
                    T& x = a[r][p * Pack<T>::count + c];
                    x = multiply_add(minus, pack.element[c], x);
                  }
                }
              }
            }
          }
        }
      }
    }
    HEDDLE_UNROLL
    for (int r = 0; r < each; ++r) {
      T kept[turned];
      HEDDLE_UNROLL
      for (int c = 0; c < turned; ++c) kept[c] = a[r][c];
      HEDDLE_UNROLL
      for (int c = 0; c < most - turned; ++c) a[r][c] = a[r][c + turned];
      HEDDLE_UNROLL
      for (int c = 0; c < turned; ++c) a[r][most - turned + c] = kept[c];
    }
  }
  if (is_first) {
    for (int j = 0; j < work.width; ++j) work.pivots[work.first + j] = shared.chosen[j];
    if (first_zero != 0 && *work.info == 0) *work.info = first_zero;
  }
  // After n turns column c is in a[][most - n turned + c].
  const int shift = most - (work.width + turned - 1) / turned * turned;
  HEDDLE_UNROLL
  for (int r = 0; r < each; ++r) {
    const int begin = begin_of(r);
    if (begin < work.rows) {
      HEDDLE_UNROLL
      for (int c = 0; c < most; ++c) {
        if (c >= shift && c - shift < work.width) work.P(position[r], work.first + c - shift) = a[r][c];
      }
      if (position[r] != begin) {
        const Index k = Kokkos::atomic_fetch_add(&work.moves[0], Index{1});
        work.moves[1 + k] = position[r];
        work.moves[1 + work.most_moves + k] = begin;
      }
    }
  }
#endif
}

template <Scalar T, int each> constexpr auto* kernel = &cluster_leaf<T, static_cast<int>(leaf_width<T>) / each, each>;

template <Scalar T, int each> int most_blocks_of(const ExecutionSpace& space) {
  return most_blocks_of_cluster(space, kernel<T, each>, most_threads);
}

}  // namespace

template <Scalar T> ClusterLeaves<T>::ClusterLeaves(const ExecutionSpace& space) {
  if (!has_clusters(space)) return;
  most_blocks_ = std::min({most_blocks_of<T, 1>(space), most_blocks_of<T, 2>(space), most_blocks_of<T, 4>(space)});
}

template <Scalar T> Index ClusterLeaves<T>::width(Index rows) const {
  const int each = rows_each_of_cluster(rows, most_blocks_, most_threads);
  return each == 0 ? 0 : leaf_width<T> / each;
}

template <Scalar T>
void ClusterLeaves<T>::factor(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                              const Kokkos::View<Index*, MemorySpace>& pivots,
                              const Kokkos::View<Index*, MemorySpace>& info, const RowMoves& moves) const {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::cluster_leaf");
  const auto rows = static_cast<Index>(panel.extent(0));
  const int each = rows_each_of_cluster(rows - begin, most_blocks_, most_threads);
  const ClusterLaunch launch(space, cluster_shape(rows - begin, each, most_blocks_, most_threads));
  const ClusterLeafWork<T> work{
      Elements<T>(panel), begin,       rows, static_cast<int>(end - begin), pivots.data(), info.data(),
      moves.data.data(),  moves.most()};
  const cudaError_t status = each == 1   ? cudaLaunchKernelEx(&launch.config, kernel<T, 1>, work)
                             : each == 2 ? cudaLaunchKernelEx(&launch.config, kernel<T, 2>, work)
                                         : cudaLaunchKernelEx(&launch.config, kernel<T, 4>, work);
  require(status == cudaSuccess, "lu: a cluster of ", launch.config.gridDim.x,
          " blocks could not be started: ", cudaGetErrorString(status));
}

#define HEDDLE_INSTANTIATE(T) template class ClusterLeaves<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl

// Instructions of compute capability 9.0 that C++ does not express: arrivals at other blocks, the bulk copy engine, and
// products of warp groups, as NVIDIA's PTX ISA 8.0 and later describe them.
#pragma once

#include "core/fast_barrier.hpp"

#include <cuda.h>

#include <cstdint>

namespace heddle::impl {

struct Barrier : FastBarrier {
  // At the barrier of the same address of another block of the cluster. It orders the reads of this thread,
  // which suffices: a release over the cluster costs a fence of the whole device each time.
  __device__ void arrive_at(int block) const {
    asm volatile(
        "{\n"
        " .reg .b32 there;\n"
        " mapa.shared::cluster.u32 there, %0, %1;\n"
        " mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address),
        "r"(block)
        : "memory");
  }
};

__device__ inline int block_in_cluster() {
  int rank = 0;
  asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// Threads of one group of four warps, by the group's number.
__device__ inline void meet_group(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
}

// A word to the same address of another block of the cluster, which counts four bytes at its barrier.
__device__ inline void send_word(unsigned to, int word, Barrier barrier, int block) {
  asm volatile(
      "{\n"
      " .reg .b32 there, barrier;\n"
      " mapa.shared::cluster.u32 there, %0, %3;\n"
      " mapa.shared::cluster.u32 barrier, %1, %3;\n"
      " st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %2, [barrier];\n"
      "}" ::"r"(to),
      "r"(barrier.address), "r"(word), "r"(block)
      : "memory");
}
__device__ inline int read_word(unsigned from) {
  int word = 0;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}

// Boxes of arrays to fast memory, of this block or at the same address of those in `blocks`, and back.
__device__ inline void load_box(unsigned to, const CUtensorMap* map, Barrier barrier, int c0, int c1, int c2, int c3,
                                int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier.address), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}
__device__ inline void load_box_of_cluster(unsigned to, const CUtensorMap* map, Barrier barrier, unsigned blocks,
                                           int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%4, %5, %6}], [%2], %3;" ::"r"(to),
      "l"(map), "r"(barrier.address), "h"(static_cast<unsigned short>(blocks)), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}
__device__ inline void store_box(const CUtensorMap* map, unsigned from, int c0, int c1, int c2) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(from), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Vectors of 128 bytes in fast memory, eight of them 1024 bytes, swizzled by 128 bytes.
__device__ inline std::uint64_t descriptor(unsigned address) {
  return std::uint64_t{(address & 0x3ffffU) >> 4U} | std::uint64_t{1} << 16U | std::uint64_t{64} << 32U |
         std::uint64_t{1} << 62U;
}

// A thread's share of 64 x 192 sums: element 4 j + 2 h + e is that of row 16 w + 8 h + l / 4 and column 8 j +
// 2 (l % 4) + e, w being the warp of the group and l the lane.
using Sums = int[96];

// The compiler keeps sums where they are while products are under way.
__device__ __forceinline__ void hold(Sums& d) {
#pragma unroll
  for (int i = 0; i < 96; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

#define HEDDLE_4(i) "+r"(d[i]), "+r"(d[(i) + 1]), "+r"(d[(i) + 2]), "+r"(d[(i) + 3])
#define HEDDLE_16(i) HEDDLE_4(i), HEDDLE_4((i) + 4), HEDDLE_4((i) + 8), HEDDLE_4((i) + 12)
#define HEDDLE_32(i) HEDDLE_16(i), HEDDLE_16((i) + 16)
// 64 vectors of B (rows) by 192 of A (columns), 32 bytes of each; `more`: added to the present sums.
__device__ __forceinline__ void multiply(Sums& d, std::uint64_t B, std::uint64_t A, int more) {
  asm volatile(
      "{\n"
      " .reg .pred p;\n"
      " setp.ne.b32 p, %98, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
      "}, %96, %97, p;\n"
      "}"
      : HEDDLE_32(0), HEDDLE_32(32), HEDDLE_32(64)
      : "l"(B), "l"(A), "r"(more));
}
#undef HEDDLE_4
#undef HEDDLE_16
#undef HEDDLE_32

__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// All products but those of the last `under_way` end_products() have their sums.
template <int under_way> __device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(under_way) : "memory");
}

#endif

}  // namespace heddle::impl

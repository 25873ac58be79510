#include "blas/hopper.hpp"

#include <cuda.h>

#include <algorithm>

// Each block holds 128 x 256 sums in the registers of two groups of four warps, while a thread of a third has the bulk
// copy engine bring the next bytes of k: warp group matrix products (wgmma), tensor maps, and mbarriers, as NVIDIA's
// PTX ISA 8.0 and later describe them. Two blocks, a cluster, share what they read of A.

namespace heddle::impl {
namespace {

constexpr int cluster = 2;
constexpr int consumers = 2;
constexpr int stages = 4;
constexpr int side_by_side = 8;  // Tiles along m that run at a time, so that both factors stay in the cache.
constexpr int step = 128;        // Of k, a stage.
constexpr int tile_m = 256;
constexpr int group_n = 64;
constexpr int tile_n = group_n * consumers;
constexpr int threads = 128 * (consumers + 1);
constexpr int bytes_of_A = tile_m * step;
constexpr int stage_bytes = bytes_of_A + tile_n * step;
constexpr int result_bytes = group_n * tile_m;  // A group's.
constexpr int shared_bytes = stages * stage_bytes + consumers * result_bytes + 16 * stages + 1024;
static_assert(shared_bytes <= 232448);

// x mod p = x - floor(x magic / 2^(32 + shift)) p, with the integer `magic` nearest to 2^(32 + shift) / p. For |x| up
// to 2^31 the quotient is off by less than 1 / p, p being no more than 2^(shift + 2): the floor is one too low at most,
// and only where p divides x, which leaves p.
struct Reductions {
  int magic[most_hopper_planes];
  int shift[most_hopper_planes];
  int modulus[most_hopper_planes];
};

struct Shape {
  HopperProducts products;
  int tiles_m;
  int tiles_n;  // Of clusters.
};

__device__ unsigned shared_address(const void* word) {
  return static_cast<unsigned>(__cvta_generic_to_shared(word));
}

struct Barrier {
  unsigned address;

  __device__ void begin(int arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
  __device__ void expect(int bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  }
  // At the barrier of the same address of another block of the cluster.
  __device__ void arrive_at(int block) const {
    asm volatile(
        "{\n"
        " .reg .b32 there;\n"
        " mapa.shared::cluster.u32 there, %0, %1;\n"
        " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address),
        "r"(block)
        : "memory");
  }
  __device__ void wait(unsigned parity) const {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{\n"
          " .reg .pred p;\n"
          " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          " selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(address), "r"(parity)
          : "memory");
    }
  }
};

// The ring of stages, and which one is next.
struct Ring {
  unsigned base;
  int slot;
  unsigned parity;

  __device__ unsigned stage() const { return base + slot * stage_bytes; }
  __device__ Barrier full() const { return {base + stages * stage_bytes + consumers * result_bytes + 8 * slot}; }
  __device__ Barrier empty(int which) const {
    return {base + stages * stage_bytes + consumers * result_bytes + 8 * (stages + which)};
  }
  __device__ void advance() {
    if (++slot == stages) {
      slot = 0;
      parity ^= 1U;
    }
  }
};

struct Tile {
  int plane;
  int m;
  int n;
};

__device__ Tile tile_of(const Shape& shape, int number) {
  const int per_plane = shape.tiles_m * shape.tiles_n;
  const int plane = number / per_plane;
  number -= plane * per_plane;
  const int band = number / (side_by_side * shape.tiles_n);
  number -= band * side_by_side * shape.tiles_n;
  const int width = min(side_by_side, shape.tiles_m - band * side_by_side);
  const int n = number / width;
  return {plane, band * side_by_side + number - n * width, n};
}

__device__ int block_in_cluster() {
  int rank = 0;
  asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// Threads of one group of four warps.
__device__ void meet_group(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
}

// Half of a tile's vectors of A, to both blocks of the cluster. With 256 vectors numbered 4 q + 2 half + e, vector 2 q
// + e of the half in fast memory: a thread then holds sums of four neighbours, 2 q and 2 q + 1 of either half.
__device__ void load_A(unsigned to, const CUtensorMap* map, Barrier barrier, int k, int half, int tile, int plane) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to),
      "l"(map), "r"(barrier.address), "h"(static_cast<unsigned short>((1 << cluster) - 1)), "r"(k), "r"(0), "r"(half),
      "r"(tile * (tile_m / 4)), "r"(plane)
      : "memory");
}
__device__ void load_B(unsigned to, const CUtensorMap* map, Barrier barrier, int k, int vector, int plane) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier.address), "r"(k), "r"(vector), "r"(plane)
      : "memory");
}
__device__ void store_D(const CUtensorMap* map, unsigned from, int m, int n, int plane) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(from), "r"(m), "r"(n), "r"(plane)
               : "memory");
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Vectors of 128 bytes, eight of them 1024 bytes, swizzled by 128 bytes.
__device__ std::uint64_t descriptor(unsigned address) {
  return std::uint64_t{(address & 0x3ffffU) >> 4U} | std::uint64_t{1} << 16U | std::uint64_t{64} << 32U |
         std::uint64_t{1} << 62U;
}

using Sums = int[128];

// The compiler keeps sums where they are while products are under way.
__device__ __forceinline__ void hold(Sums& d) {
#pragma unroll
  for (int i = 0; i < 128; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

#define HEDDLE_4(i) "+r"(d[i]), "+r"(d[(i) + 1]), "+r"(d[(i) + 2]), "+r"(d[(i) + 3])
#define HEDDLE_16(i) HEDDLE_4(i), HEDDLE_4((i) + 4), HEDDLE_4((i) + 8), HEDDLE_4((i) + 12)
#define HEDDLE_64(i) HEDDLE_16(i), HEDDLE_16((i) + 16), HEDDLE_16((i) + 32), HEDDLE_16((i) + 48)
// 64 vectors of B by 256 of A, 32 bytes of each; `more`: on top of what is there.
__device__ __forceinline__ void multiply(Sums& d, std::uint64_t B, std::uint64_t A, int more) {
  asm volatile(
      "{\n"
      " .reg .pred p;\n"
      " setp.ne.b32 p, %130, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
      "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, "
      "%45, "
      "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "
      "%68, "
      "%69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, "
      "%91, "
      "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, "
      "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, p;\n"
      "}"
      : HEDDLE_64(0), HEDDLE_64(64)
      : "l"(B), "l"(A), "r"(more));
}
#undef HEDDLE_4
#undef HEDDLE_16
#undef HEDDLE_64

__device__ void produce(const Shape& shape, Ring ring, const CUtensorMap* map_A, const CUtensorMap* map_B, int block) {
  const int tiles = shape.products.count * shape.tiles_m * shape.tiles_n;
  const int steps = static_cast<int>((shape.products.k + step - 1) / step);
  const int stride = static_cast<int>(gridDim.x) / cluster;
  for (int number = static_cast<int>(blockIdx.x) / cluster; number < tiles; number += stride) {
    const Tile tile = tile_of(shape, number);
    for (int i = 0; i < steps; ++i) {
      ring.empty(ring.slot).wait(ring.parity ^ 1U);  // At first all are.
      const Barrier full = ring.full();
      full.expect(stage_bytes);
      load_A(ring.stage() + block * (bytes_of_A / cluster), map_A, full, i * step, block, tile.m, tile.plane);
      load_B(ring.stage() + bytes_of_A, map_B, full, i * step, (tile.n * cluster + block) * tile_n, tile.plane);
      ring.advance();
    }
  }
}

// A group's sums modulo p, in fast memory: columns of 256 bytes in two boxes of 128, swizzled.
template <bool add>
__device__ __forceinline__ void reduce(const Sums& d, const Reductions& reductions, const Shape& shape,
                                       const Tile& tile, int column, unsigned result) {
  const int magic = reductions.magic[tile.plane];
  const int shift = reductions.shift[tile.plane];
  const int modulus = reductions.modulus[tile.plane];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int j = 0; j < 16; j += 4) {
      unsigned word[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        unsigned r[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int x = d[4 * (j + w + 16 * (e / 2)) + 2 * h + e % 2];
          r[e] = static_cast<unsigned>(x - (__mulhi(x, magic) >> shift) * modulus);
        }
        if constexpr (add) {
          const int n = column + 16 * warp + 8 * h + lane / 4;
          const int m = tile.m * tile_m + 16 * (j + w) + 4 * (lane % 4);
          unsigned kept = 0;
          if (n < shape.products.n && m < shape.products.m) {
            kept = *reinterpret_cast<const unsigned*>(shape.products.D + tile.plane * shape.products.stride_d +
                                                      n * shape.products.leading_d + m);
          }
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            r[e] += kept >> (8 * e) & 255U;
            r[e] = min(r[e], r[e] - static_cast<unsigned>(modulus));
          }
        }
        word[w] = __byte_perm(__byte_perm(r[0], r[1], 0x0040), __byte_perm(r[2], r[3], 0x0040), 0x5410);
      }
      const unsigned chunk = static_cast<unsigned>((j % 8 + lane / 8) ^ (lane % 8));
      const unsigned to = result + (16 * warp + 8 * h + lane % 8) * 128 + j / 8 * (result_bytes / 2) + chunk * 16;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word[0]),
                   "r"(word[1]), "r"(word[2]), "r"(word[3])
                   : "memory");
    }
  }
}

template <bool add>
__device__ void consume(const Shape& shape, Ring ring, const CUtensorMap* map_D, const Reductions& reductions,
                        int block, int consumer) {
  const int tiles = shape.products.count * shape.tiles_m * shape.tiles_n;
  const int steps = static_cast<int>((shape.products.k + step - 1) / step);
  const int stride = static_cast<int>(gridDim.x) / cluster;
  const int first = static_cast<int>(blockIdx.x) / cluster;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool speaks = threadIdx.x % 128 == 0;
  const unsigned result = ring.base + stages * stage_bytes + consumer * result_bytes;
  Sums d;
  for (int number = first; number < tiles; number += stride) {
    const Tile tile = tile_of(shape, number);
    int before = 0;
    const auto release = [&] {
      if (lane < cluster) ring.empty(before).arrive_at(lane);
    };
    for (int i = 0; i < steps; ++i) {
      ring.full().wait(ring.parity);
      const std::uint64_t A = descriptor(ring.stage());
      const std::uint64_t B = descriptor(ring.stage() + bytes_of_A + consumer * group_n * step);
      hold(d);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply(d, B + 2 * k, A + 2 * k, i | k);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      hold(d);
      if (i > 0) {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        release();
      }
      before = ring.slot;
      ring.advance();
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold(d);
    release();
    const int column = (tile.n * cluster + block) * tile_n + consumer * group_n;
    if (speaks) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    meet_group(1 + consumer);
    reduce<add>(d, reductions, shape, tile, column, result);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet_group(1 + consumer);
    if (speaks) {
      store_D(map_D, result, tile.m * tile_m, column, tile.plane);
      store_D(map_D, result + result_bytes / 2, tile.m * tile_m + tile_m / 2, column, tile.plane);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (speaks) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  __syncwarp();
}

#endif

template <bool add>
__global__ void __cluster_dims__(cluster, 1, 1) __launch_bounds__(threads, 1)
    multiply_residues(const __grid_constant__ CUtensorMap map_A, const __grid_constant__ CUtensorMap map_B,
                      const __grid_constant__ CUtensorMap map_D, const __grid_constant__ Reductions reductions,
                      const __grid_constant__ Shape shape) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char fast[];
  Ring ring{(shared_address(fast) + 1023U) & ~1023U, 0, 0};
  const int block = block_in_cluster();
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ring.empty(s).begin(4 * consumers * cluster);
      Ring{ring.base, s, 0}.full().begin(1);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  meet_cluster();
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(shape, ring, &map_A, &map_B, block);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<add>(shape, ring, &map_D, reductions, block, group - 1);
  }
  meet_cluster();  // Nobody leaves while the other block still writes here.
#endif
}

// Of the current device.
int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, which, device);
  return value;
}

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encoder() {
  static const Encode found = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t failure =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t failure = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &result);
#endif
    if (failure != cudaSuccess) cudaGetLastError();
    return failure == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(entry) : nullptr;
  }();
  return found;
}

template <int rank>
bool encode(const void* data, const cuuint64_t (&extents)[rank], const cuuint64_t (&strides)[rank - 1],
            const cuuint32_t (&box)[rank], CUtensorMap& map) {
  cuuint32_t ones[rank];
  std::fill(ones, ones + rank, 1U);
  return encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, rank, const_cast<void*>(data), extents, strides, box, ones,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

Reductions reductions_by(const HopperProducts& products) {
  Reductions reductions{};
  for (int l = 0; l < products.count; ++l) {
    const std::uint32_t p = products.moduli[l];
    int shift = 0;
    while ((4U << shift) < p) ++shift;
    reductions.magic[l] = static_cast<int>(((std::uint64_t{1} << (32 + shift)) + p / 2) / p);
    reductions.shift[l] = shift;
    reductions.modulus[l] = static_cast<int>(p);
  }
  return reductions;
}

template <bool add> cudaError_t launch(const HopperProducts& products, cudaStream_t stream) {
  const auto number = [](std::int64_t x) { return static_cast<cuuint64_t>(x); };
  CUtensorMap A;
  CUtensorMap B;
  CUtensorMap D;
  const bool encoded = encode<5>(products.A, {number(products.k), 2, 2, number(products.m / 4), number(products.count)},
                                 {number(products.leading_a), number(2 * products.leading_a),
                                  number(4 * products.leading_a), number(products.stride_a)},
                                 {step, 2, 1, tile_m / 4, 1}, A) &&
                       encode<3>(products.B, {number(products.k), number(products.n), number(products.count)},
                                 {number(products.leading_b), number(products.stride_b)}, {step, tile_n, 1}, B) &&
                       encode<3>(products.D, {number(products.m), number(products.n), number(products.count)},
                                 {number(products.leading_d), number(products.stride_d)}, {tile_m / 2, group_n, 1}, D);
  if (!encoded) return cudaErrorInvalidValue;
  const auto tiles = [](std::int64_t extent, int tile) { return static_cast<int>((extent + tile - 1) / tile); };
  const Shape shape{products, tiles(products.m, tile_m), tiles(products.n, tile_n * cluster)};
  const int clusters = std::min(attribute(cudaDevAttrMultiProcessorCount) / cluster,
                                shape.products.count * shape.tiles_m * shape.tiles_n);
  const cudaError_t failure =
      cudaFuncSetAttribute(&multiply_residues<add>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (failure != cudaSuccess) return failure;
  multiply_residues<add>
      <<<clusters * cluster, threads, shared_bytes, stream>>>(A, B, D, reductions_by(products), shape);
  return cudaGetLastError();
}

}  // namespace

bool has_hopper_products() {
  return attribute(cudaDevAttrComputeCapabilityMajor) == 9 && attribute(cudaDevAttrComputeCapabilityMinor) == 0 &&
         encoder() != nullptr;
}

const char* hopper_products(const HopperProducts& products, CUstream_st* stream) {
  if (products.m == 0 || products.n == 0 || products.count == 0) return nullptr;
  const cudaError_t failure = products.add ? launch<true>(products, stream) : launch<false>(products, stream);
  return failure == cudaSuccess ? nullptr : cudaGetErrorString(failure);
}

}  // namespace heddle::impl

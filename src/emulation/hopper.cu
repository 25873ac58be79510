#include "emulation/hopper.hpp"
#include "emulation/hopper_instructions.cuh"

#include <algorithm>

// A block holds 256 x 192 sums in the registers of two groups of four warps, while a thread of a third group has the
// bulk copy engine bring the next bytes of k. The first limit of such a kernel on an H200 is the traffic through fast
// memory and the cache, so that the tile is the largest that registers have room for, and two blocks, a cluster, share
// the parts of B that they read; the second is the power that the tensor cores draw (docs/notes/emulation.md). Clusters
// are not equally near to all memory: each takes the next tile when it has done one.

namespace heddle::impl {
namespace {

constexpr int cluster = 2;
constexpr int consumers = 2;
constexpr int stages = 3;
constexpr int side_by_side = 6;  // Clusters' tiles along m that run at a time, so that both factors stay in the cache.
constexpr int step = 128;        // Extent of a stage along k.
constexpr int tile_m = 192;
constexpr int tile_n = 256;
constexpr int part_n = 64;  // Extent of one of the two products of a group.
constexpr int threads = 128 * (consumers + 1);
constexpr int bytes_of_A = tile_m * step;
constexpr int stage_bytes = bytes_of_A + tile_n * step;
constexpr int box_m = 64;  // Extent of a box of results, with rows of 64 bytes swizzled by as many.
constexpr int box_bytes = box_m * part_n;
constexpr int boxes = tile_m / box_m;

// Fast memory: stages, results, barriers of the stages, and the ring of two tile numbers with its barriers.
constexpr int results_at = stages * stage_bytes;
constexpr int barriers_at = results_at + tile_m * tile_n;
constexpr int turns_at = barriers_at + 16 * stages;
constexpr int shared_bytes = turns_at + 2 * (16 + 4) + 1024;
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
  int tiles_m;  // Tiles of clusters along m.
  int tiles_n;
  __device__ int tiles() const { return products.count * tiles_m * tiles_n; }
  __device__ int steps() const { return static_cast<int>((products.k + step - 1) / step); }
};

// The ring of stages, and the next one.
struct Ring {
  unsigned base;
  int slot;
  unsigned parity;

  __device__ unsigned stage() const { return base + slot * stage_bytes; }
  __device__ Barrier full() const { return {base + barriers_at + 8 * slot}; }
  __device__ Barrier empty(int which) const { return {base + barriers_at + 8 * (stages + which)}; }
  __device__ void advance() {
    if (++slot == stages) {
      slot = 0;
      parity ^= 1U;
    }
  }
};

// The ring of tile numbers, which a thread of the cluster's first block draws and sends to both.
struct Turns {
  static constexpr int readers = 4 * consumers + 1;  // Warps of a block.
  unsigned base;
  int round = 0;

  __device__ int slot() const { return round % 2; }
  __device__ unsigned parity() const { return round / 2 % 2; }
  __device__ Barrier full(int slot) const { return {base + turns_at + 8 * slot}; }
  __device__ Barrier empty(int slot) const { return {base + turns_at + 16 + 8 * slot}; }
  __device__ unsigned number(int slot) const { return base + turns_at + 32 + 4 * slot; }

  // The next tile's number, by all threads of a warp or by one `alone`, which makes room for what comes after.
  __device__ int next(bool alone) {
    const int s = slot();
    full(s).wait(parity());
    const int tile = read_word(number(s));
    if (alone) {
      full(s).expect(4);
    } else {
      __syncwarp();
    }
    if (alone || threadIdx.x % 32 == 0) empty(s).arrive_at(0);
    ++round;
    return tile;
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

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Draws tiles for a cluster until there are none left. `next` is 0 before the kernel, and again behind it: the last
// number to be drawn is known, since each cluster draws one that is no tile's.
__device__ void draw(const Shape& shape, Turns turns) {
  const int tiles = shape.tiles();
  const int clusters = static_cast<int>(gridDim.x) / cluster;
  for (int tile = 0; tile < tiles; ++turns.round) {
    const int slot = turns.slot();
    turns.empty(slot).wait(turns.parity() ^ 1U);  // At first all are.
    tile = static_cast<int>(atomicAdd(shape.products.next, 1U));
    for (int block = 0; block < cluster; ++block) send_word(turns.number(slot), tile, turns.full(slot), block);
    if (tile == tiles + clusters - 1) *shape.products.next = 0;
  }
}

__device__ void produce(const Shape& shape, Ring ring, Turns turns, const CUtensorMap* map_A, const CUtensorMap* map_B,
                        int block) {
  constexpr unsigned all_blocks = (1U << cluster) - 1;
  constexpr int share = tile_n / cluster;
  const int tiles = shape.tiles();
  const int steps = shape.steps();
  for (int s = 0; s < 2; ++s) turns.full(s).expect(4);
  for (int number = turns.next(true); number < tiles; number = turns.next(true)) {
    const Tile tile = tile_of(shape, number);
    const int quadruple = (tile.m * cluster + block) * (tile_m / 4);
    for (int i = 0; i < steps; ++i) {
      ring.empty(ring.slot).wait(ring.parity ^ 1U);  // At first all are.
      const Barrier full = ring.full();
      full.expect(stage_bytes);
      load_box_of_cluster(ring.stage() + bytes_of_A + block * share * step, map_B, full, all_blocks, i * step,
                          tile.n * tile_n + block * share, tile.plane);
      // With vectors of A numbered 4 q + 2 half + e, vector 2 q + e of the half in fast memory: a thread then holds
      // sums of four neighbours, 2 q and 2 q + 1 of either half.
      for (int half = 0; half < 2; ++half) {
        load_box(ring.stage() + half * bytes_of_A / 2, map_A, full, i * step, 0, half, quadruple, tile.plane);
      }
      ring.advance();
    }
  }
}

// Sums of a tile, of two times 64 of its vectors of B.
__device__ __forceinline__ void multiply_tile(Sums& first, Sums& second, Ring& ring, int steps, int consumer) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int before = 0;
  const auto release = [&] {
    if (lane < cluster) ring.empty(before).arrive_at(lane);
  };
  for (int i = 0; i < steps; ++i) {
    ring.full().wait(ring.parity);
    const std::uint64_t A = descriptor(ring.stage());
    const std::uint64_t B = descriptor(ring.stage() + bytes_of_A + consumer * 2 * part_n * step);
    hold(first);
    hold(second);
    begin_products();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      multiply(first, B + 2 * k, A + 2 * k, i | k);
      multiply(second, B + part_n * step / 16 + 2 * k, A + 2 * k, i | k);
    }
    end_products();
    hold(first);
    hold(second);
    if (i > 0) {
      wait_for_products<1>();
      release();
    }
    before = ring.slot;
    ring.advance();
  }
  wait_for_products<0>();
  hold(first);
  hold(second);
  release();
}

// 64 x 192 sums of a group modulo p, in fast memory: in boxes of rows of 64 bytes, swizzled.
template <bool add>
__device__ __forceinline__ void reduce(const Sums& d, const Reductions& reductions, const Shape& shape,
                                       const Tile& tile, int row, int column, unsigned result) {
  const int magic = reductions.magic[tile.plane];
  const int shift = reductions.shift[tile.plane];
  const int modulus = reductions.modulus[tile.plane];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int box = 0; box < boxes; ++box) {
      unsigned word[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int j = 4 * box + w;
        unsigned r[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int x = d[4 * (j + 12 * (e / 2)) + 2 * h + e % 2];
          r[e] = static_cast<unsigned>(x - (__mulhi(x, magic) >> shift) * modulus);
        }
        if constexpr (add) {
          const int n = column + 16 * warp + 8 * h + lane / 4;
          const int m = row + 16 * j + 4 * (lane % 4);
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
      const auto chunk = static_cast<unsigned>(lane / 8 ^ lane % 8 / 2);
      const unsigned to = result + box * box_bytes + (16 * warp + 8 * h + lane % 8) * box_m + chunk * 16;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word[0]),
                   "r"(word[1]), "r"(word[2]), "r"(word[3])
                   : "memory");
    }
  }
}

template <bool add>
__device__ void consume(const Shape& shape, Ring ring, Turns turns, const CUtensorMap* map_D,
                        const Reductions& reductions, int block, int consumer) {
  const int tiles = shape.tiles();
  const int steps = shape.steps();
  const bool speaks = threadIdx.x % 128 == 0;
  const unsigned result = ring.base + results_at + consumer * 2 * boxes * box_bytes;
  Sums first;
  Sums second;
  while (true) {
    const int number = turns.next(false);
    if (number >= tiles) break;
    const Tile tile = tile_of(shape, number);
    multiply_tile(first, second, ring, steps, consumer);
    const int row = (tile.m * cluster + block) * tile_m;
    const int column = tile.n * tile_n + consumer * 2 * part_n;
    if (speaks) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    meet_group(1 + consumer);
    reduce<add>(first, reductions, shape, tile, row, column, result);
    reduce<add>(second, reductions, shape, tile, row, column + part_n, result + boxes * box_bytes);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet_group(1 + consumer);
    if (speaks) {
      for (int box = 0; box < 2 * boxes; ++box) {
        store_box(map_D, result + box * box_bytes, row + box % boxes * box_m, column + box / boxes * part_n,
                  tile.plane);
      }
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
  const Ring ring{(shared_address(fast) + 1023U) & ~1023U, 0, 0};
  const Turns turns{ring.base};
  const int block = block_in_cluster();
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ring.empty(s).begin(4 * consumers * cluster);
      Ring{ring.base, s, 0}.full().begin(1);
    }
    for (int s = 0; s < 2; ++s) {
      turns.empty(s).begin(Turns::readers * cluster);
      turns.full(s).begin(1);
    }
    Barrier::have_begun();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  meet_cluster();
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(shape, ring, turns, &map_A, &map_B, block);
    if (threadIdx.x == 32 && block == 0) draw(shape, turns);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<add>(shape, ring, turns, &map_D, reductions, block, group - 1);
  }
  meet_cluster();  // No block leaves while the other still writes here.
#endif
}

// Attribute of the current device.
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
            const cuuint32_t (&box)[rank], CUtensorMapSwizzle swizzle, CUtensorMap& map) {
  cuuint32_t ones[rank];
  std::fill(ones, ones + rank, 1U);
  return encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, rank, const_cast<void*>(data), extents, strides, box, ones,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
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
                                 {step, 2, 1, tile_m / 4, 1}, CU_TENSOR_MAP_SWIZZLE_128B, A) &&
                       encode<3>(products.B, {number(products.k), number(products.n), number(products.count)},
                                 {number(products.leading_b), number(products.stride_b)}, {step, tile_n / cluster, 1},
                                 CU_TENSOR_MAP_SWIZZLE_128B, B) &&
                       encode<3>(products.D, {number(products.m), number(products.n), number(products.count)},
                                 {number(products.leading_d), number(products.stride_d)}, {box_m, part_n, 1},
                                 CU_TENSOR_MAP_SWIZZLE_64B, D);
  if (!encoded) return cudaErrorInvalidValue;
  const auto tiles = [](std::int64_t extent, int tile) { return static_cast<int>((extent + tile - 1) / tile); };
  const Shape shape{products, tiles(products.m, tile_m * cluster), tiles(products.n, tile_n)};
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

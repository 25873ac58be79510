// Products of 8-bit integers by the vectors of x86-64, which the processor is asked for as the program runs.
#include "emulation/integer.hpp"

#if defined(__x86_64__) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace heddle::impl {
namespace {

// A block of C that one thread computes: rows and columns from these on, and how many.
struct BlockOfSums {
  const IntegerProducts& products;
  Index plane;
  Index row;
  Index column;
  Index rows;
  Index columns;

  [[nodiscard]] const std::int8_t* a(Index i, Index k) const {
    return products.A + plane * products.stride_a + (row + i) * products.leading_a + k;
  }
  [[nodiscard]] const std::int8_t* b(Index j, Index k) const {
    return products.B + plane * products.stride_b + (column + j) * products.leading_b + k;
  }
  [[nodiscard]] std::int32_t* c(Index i, Index j) const {
    return products.C + plane * products.stride_c + (column + j) * products.leading_c + row + i;
  }
};

template <class T> T* aligned(T* memory) {
  return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(memory) + 63) / 64 * 64);
}

#define HEDDLE_AVX2 __attribute__((target("avx2")))
#define HEDDLE_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))

// By sums of pairs of 16-bit products: a tile's vectors go along k, and are summed up at the end. Its columns, widened,
// stay in the caches while all rows pass.
struct PairsOf16Bits {
  static constexpr Index columns = 48;
  static constexpr Index rows = 256;
  static constexpr Index chunk = 512;  // Of k.
  static constexpr int high = 4;
  static constexpr int wide = 3;
  static constexpr int lanes = 16;

  HEDDLE_AVX2 static void multiply(const BlockOfSums& block) {
    const auto memory = std::make_unique<std::int16_t[]>((columns + high) * chunk + 32);
    std::int16_t* const b = aligned(memory.get());
    std::int16_t* const a = b + columns * chunk;
    for (Index k = 0; k < block.products.k; k += chunk) {
      const Index steps = std::min(chunk, block.products.k - k) / lanes;
      for (Index j = 0; j < block.columns; ++j) widen(block.b(j, k), steps, b + j * chunk);
      for (Index i = 0; i < block.rows; i += high) {
        for (int r = 0; r < high; ++r) widen(block.a(i + r, k), steps, a + r * chunk);
        for (Index j = 0; j < block.columns; j += wide) {
          __m128i sums[wide];
          multiply_tile(a, b + j * chunk, steps, sums);
          for (Index l = 0; l < std::min<Index>(wide, block.columns - j); ++l) {
            auto* const c = reinterpret_cast<__m128i*>(block.c(i, j + l));
            _mm_storeu_si128(c, k > 0 || block.products.add ? _mm_add_epi32(_mm_loadu_si128(c), sums[l]) : sums[l]);
          }
        }
      }
    }
  }

 private:
  HEDDLE_AVX2 static void widen(const std::int8_t* from, Index steps, std::int16_t* to) {
    for (Index s = 0; s < steps; ++s) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(to) + s,
                         _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + s)));
    }
  }
  // Four rows by three columns. (Sums of columns beyond the block's are not used.)
  HEDDLE_AVX2 static void multiply_tile(const std::int16_t* a, const std::int16_t* b, Index steps,
                                        __m128i (&result)[wide]) {
    const auto at = [](const std::int16_t* vectors, int number, Index step) {
      return reinterpret_cast<const __m256i*>(vectors + number * chunk) + step;
    };
    __m256i sums[high][wide];
    for (auto& row : sums) {
      for (__m256i& sum : row) sum = _mm256_setzero_si256();
    }
    for (Index s = 0; s < steps; ++s) {
      const __m256i right[wide] = {_mm256_load_si256(at(b, 0, s)), _mm256_load_si256(at(b, 1, s)),
                                   _mm256_load_si256(at(b, 2, s))};
      for (int r = 0; r < high; ++r) {
        const __m256i left = _mm256_load_si256(at(a, r, s));
        for (int l = 0; l < wide; ++l) {
          sums[r][l] = _mm256_add_epi32(sums[r][l], _mm256_madd_epi16(left, right[l]));
        }
      }
    }
    for (int l = 0; l < wide; ++l) {
      const __m256i halves =
          _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0][l], sums[1][l]), _mm256_hadd_epi32(sums[2][l], sums[3][l]));
      result[l] = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    }
  }
};

// By sums of four 8-bit products (AVX-512 VNNI): lanes are rows of C, of which four bytes of a column each are packed
// side by side. The left factors are taken without a sign, 128 too large, for which the column's sum is taken off.
struct FoursOf8Bits {
  static constexpr Index columns = 240;
  static constexpr Index rows = 128;
  static constexpr Index chunk = 1024;  // Of k.
  static constexpr int lanes = 16;
  static constexpr int wide = 12;

  HEDDLE_VNNI static void multiply(const BlockOfSums& block) {
    const auto memory = std::make_unique_for_overwrite<std::uint8_t[]>(rows * chunk + 64);
    std::uint8_t* const a = aligned(memory.get());
    std::int32_t offsets[columns];
    for (Index k = 0; k < block.products.k; k += chunk) {
      const Index steps = std::min(chunk, block.products.k - k) / 4;
      for (Index i = 0; i < block.rows; i += lanes) pack(block, i, k, steps, a + i * 4 * steps);
      for (Index j = 0; j < block.columns; ++j) {
        const std::int8_t* const b = block.b(j, k);
        std::int32_t sum = 0;
        for (Index l = 0; l < 4 * steps; ++l) sum += b[l];
        offsets[j] = 128 * sum;
      }
      const bool add = k > 0 || block.products.add;
      for (Index j = 0; j < block.columns; j += wide) {
        Index i = 0;
        for (; i + 2 * lanes <= block.rows; i += 2 * lanes) {
          multiply_tile<2>(block, i, j, k, steps, a + i * 4 * steps, offsets + j, add);
        }
        if (i < block.rows) multiply_tile<1>(block, i, j, k, steps, a + i * 4 * steps, offsets + j, add);
      }
    }
  }

 private:
  // to[step][lane]: four bytes of a row, 128 added to each; four rows and steps at a time.
  HEDDLE_VNNI static void pack(const BlockOfSums& block, Index i, Index k, Index steps, std::uint8_t* to) {
    const __m128i signs = _mm_set1_epi8(-128);
    for (int r = 0; r < lanes; r += 4) {
      for (Index s = 0; s < steps; s += 4) {
        __m128i row[4];
        for (int q = 0; q < 4; ++q) {
          row[q] =
              _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block.a(i + r + q, k + 4 * s))), signs);
        }
        const __m128i low_01 = _mm_unpacklo_epi32(row[0], row[1]);
        const __m128i low_23 = _mm_unpacklo_epi32(row[2], row[3]);
        const __m128i high_01 = _mm_unpackhi_epi32(row[0], row[1]);
        const __m128i high_23 = _mm_unpackhi_epi32(row[2], row[3]);
        const __m128i steps_of[4] = {_mm_unpacklo_epi64(low_01, low_23), _mm_unpackhi_epi64(low_01, low_23),
                                     _mm_unpacklo_epi64(high_01, high_23), _mm_unpackhi_epi64(high_01, high_23)};
        for (int q = 0; q < 4; ++q) {
          _mm_store_si128(reinterpret_cast<__m128i*>(to + ((s + q) * lanes + r) * 4), steps_of[q]);
        }
      }
    }
  }
  // Sixteen rows, or twice as many, by twelve columns.
  template <int vectors>
  HEDDLE_VNNI static void multiply_tile(const BlockOfSums& block, Index i, Index j, Index k, Index steps,
                                        const std::uint8_t* a, const std::int32_t* offsets, bool add) {
    const Index columns_here = std::min<Index>(wide, block.columns - j);
    // Beyond the block's columns, repeat the last one.
    const std::int8_t* b[wide];
    for (int l = 0; l < wide; ++l) b[l] = block.b(j + std::min<Index>(l, columns_here - 1), k);
    __m512i sums[wide][vectors];
    for (auto& column : sums) {
      for (__m512i& sum : column) sum = _mm512_setzero_si512();
    }
    for (Index s = 0; s < steps; ++s) {
      __m512i left[vectors];
      for (int v = 0; v < vectors; ++v) left[v] = _mm512_load_si512(a + (v * steps + s) * 4 * lanes);
#pragma GCC unroll 12
      for (int l = 0; l < wide; ++l) {
        std::int32_t four;
        std::memcpy(&four, b[l] + 4 * s, sizeof(four));
        const __m512i right = _mm512_set1_epi32(four);
        for (int v = 0; v < vectors; ++v) sums[l][v] = _mm512_dpbusd_epi32(sums[l][v], left[v], right);
      }
    }
#pragma GCC unroll 12
    for (int l = 0; l < wide; ++l) {
      if (l >= columns_here) break;
      const __m512i offset = _mm512_set1_epi32(offsets[l]);
      for (int v = 0; v < vectors; ++v) {
        std::int32_t* const c = block.c(i + v * lanes, j + l);
        const __m512i sum = _mm512_sub_epi32(sums[l][v], offset);
        _mm512_storeu_si512(c, add ? _mm512_add_epi32(_mm512_loadu_si512(c), sum) : sum);
      }
    }
  }
};

template <class Kernel> void multiply_blocks(const ExecutionSpace& space, const IntegerProducts& products) {
  const Index down = (products.m + Kernel::rows - 1) / Kernel::rows;
  const Index across = (products.n + Kernel::columns - 1) / Kernel::columns;
  Kokkos::parallel_for(
      "heddle::blas::integer_gemm",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>(
          space, 0, down * across * products.count, Kokkos::ChunkSize(1)),
      [=](Index number) {
        const Index row = number % down * Kernel::rows;
        const Index column = number / down % across * Kernel::columns;
        Kernel::multiply({products, number / down / across, row, column, std::min(Kernel::rows, products.m - row),
                          std::min(Kernel::columns, products.n - column)});
      });
}

}  // namespace

std::span<const IntegerKernel> integer_kernels() {
  static constexpr IntegerKernel all[] = {{"AVX-512 VNNI", multiply_blocks<FoursOf8Bits>},
                                          {"AVX2", multiply_blocks<PairsOf16Bits>}};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni")) {
    return all;
  }
  return std::span(all).last(__builtin_cpu_supports("avx2") ? 1 : 0);
}

}  // namespace heddle::impl

#else

namespace heddle::impl {

std::span<const IntegerKernel> integer_kernels() {
  return {};
}

}  // namespace heddle::impl

#endif

// Products of 8-bit integers for any backend.
#include "core/on_host.hpp"
#include "emulation/integer.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>

namespace heddle::impl {
namespace {

// On CPUs: 16 bits are what every vector unit multiplies and adds in pairs.
constexpr Index chunk = 512;
constexpr int high = 2;
constexpr int wide = 4;

void widen(const std::int8_t* from, Index count, std::int16_t (&to)[chunk]) {
  for (Index k = 0; k < count; ++k) to[k] = from[k];
  for (Index k = count; k < chunk; ++k) to[k] = 0;
}

// Sums of the products of `high` and `wide` vectors.
void add_products(const std::int16_t (&a)[high][chunk], const std::int16_t (&b)[wide][chunk],
                  std::int32_t (&sums)[high][wide]) {
  std::int32_t each[high * wide] = {};
  for (Index k = 0; k < chunk; ++k) {
    // Unrolled in full, so that the loop around it is vectorised.
#pragma GCC unroll 8
    for (int e = 0; e < high * wide; ++e) each[e] += std::int32_t{a[e / wide][k]} * std::int32_t{b[e % wide][k]};
  }
  for (int e = 0; e < high * wide; ++e) sums[e / wide][e % wide] = each[e];
}

// Columns j ... j + wide of one plane.
[[maybe_unused]] void multiply_columns(const IntegerProducts& products, Index plane, Index j) {
  const std::int8_t* const A = products.A + plane * products.stride_a;
  const std::int8_t* const B = products.B + plane * products.stride_b;
  std::int32_t* const C = products.C + plane * products.stride_c;
  const Index columns = std::min<Index>(wide, products.n - j);
  for (Index begin = 0; begin < products.k; begin += chunk) {
    const Index length = std::min(chunk, products.k - begin);
    const bool add = products.add || begin > 0;
    std::int16_t b[wide][chunk] = {};
    for (Index l = 0; l < columns; ++l) widen(B + begin + (j + l) * products.leading_b, length, b[l]);
    for (Index i = 0; i < products.m; i += high) {
      std::int16_t a[high][chunk];
      for (Index l = 0; l < high; ++l) widen(A + begin + (i + l) * products.leading_a, length, a[l]);
      std::int32_t sums[high][wide];
      add_products(a, b, sums);
      for (Index l = 0; l < columns; ++l) {
        for (Index r = 0; r < high; ++r) {
          std::int32_t& c = C[i + r + (j + l) * products.leading_c];
          c = (add ? c : 0) + sums[r][l];
        }
      }
    }
  }
}

// On GPUs: a square of C to a thread.
void multiply_squares(const ExecutionSpace& space, const IntegerProducts& products) {
  constexpr Index width = 4;
  const Index row_blocks = (products.m + width - 1) / width;
  const Index column_blocks = (products.n + width - 1) / width;
  Kokkos::parallel_for(
      "heddle::blas::integer_gemm",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0,
                                                                    row_blocks * column_blocks * products.count),
      KOKKOS_LAMBDA(Index number) {
        const Index plane = number / (row_blocks * column_blocks);
        const Index block = number % (row_blocks * column_blocks);
        const Index row = block % row_blocks * width;
        const Index column = block / row_blocks * width;
        const std::int8_t* const a = products.A + plane * products.stride_a;
        const std::int8_t* const b = products.B + plane * products.stride_b;
        std::int32_t* const c = products.C + plane * products.stride_c;
        for (Index j = column; j < column + width && j < products.n; ++j) {
          for (Index i = row; i < row + width && i < products.m; ++i) {
            std::int32_t sum = products.add ? c[i + j * products.leading_c] : 0;
            for (Index k = 0; k < products.k; ++k) {
              sum += std::int32_t{a[k + i * products.leading_a]} * std::int32_t{b[k + j * products.leading_b]};
            }
            c[i + j * products.leading_c] = sum;
          }
        }
      });
}

// A template, so that each backend compiles its own alone.
template <bool host> void multiply(const ExecutionSpace& space, const IntegerProducts& products) {
  if constexpr (host) {
    const Index blocks = (products.n + wide - 1) / wide;
    Kokkos::parallel_for(
        "heddle::blas::integer_gemm",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, blocks * products.count),
        [=](Index number) { multiply_columns(products, number / blocks, number % blocks * wide); });
  } else {
    multiply_squares(space, products);
  }
}

}  // namespace

void portable_integer_gemm(const ExecutionSpace& space, const IntegerProducts& products) {
  multiply<on_host>(space, products);
}

#ifndef HEDDLE_HOPPER
bool has_integer_residues() {
  return false;
}

void integer_residues(const blas::Context&, const IntegerProducts&, const std::uint32_t*, std::uint8_t*) {
  throw Error(ErrorKind::computation, "integer_residues: this build has no units that reduce sums");
}
#endif

}  // namespace heddle::impl

// Products of 8-bit integers, modulo small primes, by the tensor cores of compute capability 9.0.
//
// A file of its own, in plain CUDA: its kernel wants the architecture sm_90a, all else the one that Kokkos was built
// for.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace heddle::impl {

/// D_l = A_l^T B_l modulo p_l, in [0, p_l] (for p_l = 256 in [0, 255]); `add`: the previous D is added first.
/// Layouts as in IntegerProducts, of D in bytes; its leading dimension and stride are multiples of 16, and its data is
/// aligned to as many bytes.
struct HopperProducts {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  int count;
  const std::int8_t* A;
  std::int64_t leading_a;
  std::int64_t stride_a;
  const std::int8_t* B;
  std::int64_t leading_b;
  std::int64_t stride_b;
  std::uint8_t* D;
  std::int64_t leading_d;
  std::int64_t stride_d;
  bool add;
  const std::uint32_t* moduli;  ///< One for each plane, on the host, from 2 to 256.
  std::uint32_t* next;          ///< A word of the device's, zero before and after; no two products at a time share it.
};

inline constexpr int most_hopper_planes = 80;

/// Whether the current device has these tensor cores, and the driver encodes tensor maps for them.
[[nodiscard]] bool has_hopper_products();

/// For up to most_hopper_planes planes, extents below 2^31 - 512. Ordered on the stream. Returns the text of the
/// error, or null.
[[nodiscard]] const char* hopper_products(const HopperProducts& products, CUstream_st* stream);

}  // namespace heddle::impl

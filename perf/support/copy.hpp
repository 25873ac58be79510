// The fastest copy of this machine: the ceiling of memory-bound work.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cstring>

// GPU compilers do not compile the CPU's vector intrinsics in kernels.
#if defined(__x86_64__) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#define HEDDLE_STREAMS
#include <immintrin.h>
#endif

namespace heddle::perf {

/// to = from. On CPUs with every thread, and with non-temporal stores, which avoid reading the overwritten lines.
template <Scalar T>
void streaming_copy(const ExecutionSpace& space, const LocalMatrix<T>& from, const LocalMatrix<T>& to) {
#ifdef HEDDLE_STREAMS
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) {
    constexpr Index chunk = 65536;
    const auto bytes = static_cast<Index>(from.size() * sizeof(T));
    const auto* const source = reinterpret_cast<const char*>(from.data());
    auto* const target = reinterpret_cast<char*>(to.data());
    if (reinterpret_cast<std::uintptr_t>(target) % 64 == 0) {
      Kokkos::parallel_for(
          "heddle::perf::streaming_copy",
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, (bytes + chunk - 1) / chunk),
          KOKKOS_LAMBDA(Index number) {
            const Index begin = number * chunk;
            const Index end = std::min(begin + chunk, bytes);
            Index byte = begin;
#if defined(__AVX512F__)
            for (; byte + 64 <= end; byte += 64) {
              _mm512_stream_si512(reinterpret_cast<__m512i*>(target + byte), _mm512_loadu_si512(source + byte));
            }
#else
            for (; byte + 16 <= end; byte += 16) {
              _mm_stream_si128(reinterpret_cast<__m128i*>(target + byte),
                               _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + byte)));
            }
#endif
            std::memcpy(target + byte, source + byte, static_cast<std::size_t>(end - byte));
            // The thread that issued the non-temporal stores orders them.
            _mm_sfence();
          });
      return;
    }
  }
#endif
  Kokkos::deep_copy(space, to, from);
}

}  // namespace heddle::perf

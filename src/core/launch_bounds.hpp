// Bounds of registers for kernels on GPUs.
#pragma once

#include <Kokkos_Core.hpp>

namespace heddle::impl {

/// Registers for blocks of at most `threads`, of which a multiprocessor has room for `blocks`. The second number of
/// Kokkos' bounds is that of CUDA, blocks; HIP takes it for wavefronts of 64 on each of a multiprocessor's four SIMDs.
#ifdef KOKKOS_ENABLE_HIP
template <unsigned threads, unsigned blocks>
using LaunchBounds = Kokkos::LaunchBounds<threads, (threads * blocks + 255) / 256>;
#else
template <unsigned threads, unsigned blocks> using LaunchBounds = Kokkos::LaunchBounds<threads, blocks>;
#endif

}  // namespace heddle::impl

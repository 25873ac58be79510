// Barriers in the fast memory of a multiprocessor (mbarriers of NVIDIA's PTX ISA). CUDA alone, and without Kokkos.
#pragma once

namespace heddle::impl {

/// The address of a word within this block's fast memory.
inline __device__ unsigned shared_address(const void* word) {
  return static_cast<unsigned>(__cvta_generic_to_shared(word));
}

/// A barrier whose phases alternate in parity, and end with so many arrivals and with all bytes that were expected.
struct FastBarrier {
  unsigned address;  ///< Address of 8 bytes in this block's fast memory.

  __device__ void begin(int arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
  /// By the thread that began some, before the cluster's blocks meet.
  static __device__ void have_begun() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  /// Arrive, and expect this many bytes before the phase ends.
  __device__ void expect(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  }
  /// Wait until the phase of this parity has ended.
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

}  // namespace heddle::impl

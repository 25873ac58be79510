// The device's part of the BLAS, a library of its own: programs that never ask for a device load nothing of a vendor's.
#pragma once

#include <cstddef>

namespace heddle::impl::interpose {

inline constexpr const char* engine_library = "libheddle_blas_device.so";
inline constexpr const char* engine_start = "heddle_blas_device_start";
inline constexpr const char* engine_multiply = "heddle_blas_device_multiply";

/// Starts Kokkos on its device, unless the program did; false, with a line about why in `message` of `size`
/// characters, where that can't be.
using EngineStart = bool(char* message, std::size_t size);
/// Result of a product.
enum class EngineResult : int {
  done,
  refused,  ///< C is as it was.
  broken,   ///< The device failed when parts of C were written.
};
/// The product, a Product<T> whose T `letter` names ('s', 'd', 'c' or 'z'); the reason as above where it is not done.
/// One call at a time.
using EngineMultiply = EngineResult(char letter, const void* product, char* message, std::size_t size);

}  // namespace heddle::impl::interpose

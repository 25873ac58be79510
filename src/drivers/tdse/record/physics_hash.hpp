// The physics in a file of `heddle tdse`, named by its bits.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// The SHA-256 of a file's arrays, and of each of them with its extents.
struct PhysicsHash {
  std::string hash;
  std::vector<std::pair<std::string, std::string>> datasets;
};

/// Spectra are left out: they follow from the rest by a Fourier transform, whose bits are its library's. Throws
/// Error(input) for a file that `heddle tdse` did not write.
[[nodiscard]] PhysicsHash physics_hash(const std::string& path);

}  // namespace heddle::driver

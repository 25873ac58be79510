// SHA-256 hashes of the arrays in a file of `heddle tdse`.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// The SHA-256 of all arrays of a file, and of each array with its extents.
struct PhysicsHash {
  std::string hash;
  std::vector<std::pair<std::string, std::string>> datasets;
};

/// Hash the file at `path`. Estimated errors and spectra are left out; spectra follow from the rest by a Fourier
/// transform, whose bits depend on its library. Throw Error(input) for a file that `heddle tdse` did not write.
[[nodiscard]] PhysicsHash physics_hash(const std::string& path);

}  // namespace heddle::driver

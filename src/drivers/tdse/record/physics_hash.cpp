// SHA-256 hashes of the arrays in a file of `heddle tdse`.
#include "drivers/tdse/record/physics_hash.hpp"

#include "drivers/support/process/sha256.hpp"
#include "drivers/tdse/record/hdf5.hpp"

namespace heddle::driver {

PhysicsHash physics_hash(const std::string& path) {
  const Hdf5Reader file(path);
  (void)file.extents("/restart/psi");
  PhysicsHash result;
  Sha256 all;
  for (const std::string& name : file.datasets()) {
    if (name.starts_with("/spectrum/") || name.starts_with("/errors/")) continue;
    Sha256 one;
    for (const hsize_t extent : file.extents(name)) one.add_numbers(&extent, 1);
    const auto bytes = file.bytes(name);
    one.add(bytes.data(), bytes.size());
    result.datasets.emplace_back(name, one.digest());
    all.add(name.c_str(), name.size() + 1);
    all.add(result.datasets.back().second.data(), result.datasets.back().second.size());
  }
  result.hash = all.digest();
  return result;
}

}  // namespace heddle::driver

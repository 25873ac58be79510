// The list of the hunt's operations.
#include "hunt/operations.hpp"

namespace heddle::hunt {

const std::vector<HuntedOperation>& operations() {
#define HEDDLE_HUNT_ENTRY(name) HuntedOperation{#name, draw_##name, run_##name},
  static const std::vector<HuntedOperation> all = {HEDDLE_HUNT_OPERATIONS(HEDDLE_HUNT_ENTRY)};
#undef HEDDLE_HUNT_ENTRY
  return all;
}

}  // namespace heddle::hunt

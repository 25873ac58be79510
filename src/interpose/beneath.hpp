// Routines of LAPACK that are not here: who calls them gets the library beneath, and the report says so.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::impl::interpose {

/// A routine that was called, under the name that it was called by.
struct CalledBeneath {
  const char* name;
  std::uint64_t calls;
};
/// All that were, also by one another; none where the processor is not one that forwarding is written for.
[[nodiscard]] std::vector<CalledBeneath> called_beneath();

}  // namespace heddle::impl::interpose

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

/// The routine of this name beneath, or by the name that SciPy's wheels have for it. Ends the process, with a line,
/// where no library has it.
[[nodiscard]] void* routine_beneath(const char* name);

}  // namespace heddle::impl::interpose

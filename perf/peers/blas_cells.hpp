// Calls of the BLAS and of LAPACK by type, shape and kind of values, each by two libraries.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace heddle::perf {

/// One call, repeatable, by libheddle_blas and by the other library.
struct Cell {
  std::string name;  ///< routine/shape/values
  std::function<void()> ours;
  std::function<void()> others;
};

/// Handles of the two libraries from dlopen().
struct Libraries {
  void* ours;
  void* others;
};

/// Calls `body` with one cell after the other; operands live only during the call. Cells are those whose name begins
/// with one of `wanted`, or all if it is empty.
void for_each_cell(const Libraries& libraries, const std::vector<std::string>& wanted,
                   const std::function<void(const Cell&)>& body);

/// Returns the time of our call over the other library's: medians of alternating samples, each of enough calls to last
/// some tens of microseconds.
[[nodiscard]] double ratio_of(const Cell& cell, double& seconds_of_ours);

}  // namespace heddle::perf

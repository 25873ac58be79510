// Release of memory that ranks hold for each other, if one of them has none left.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace heddle::impl {

/// Close the mappings of other ranks' device memory that this process does not use, so that memory that its owner has
/// freed returns to the device. Collective: once it returns, all ranks have done so.
void release_mappings(const Communicator& comm);

/// Return the result of `allocate`, which must have no collective calls. If it throws on any rank, as a rule for want
/// of memory, all ranks give up what they got, release_mappings(), and try once more; what it throws then is thrown.
/// Collective.
template <class Allocate>
std::invoke_result_t<Allocate> allocate_together(const Communicator& comm, Allocate allocate) {
  std::optional<std::invoke_result_t<Allocate>> allocated;
  try {
    allocated.emplace(allocate());
  } catch (...) {
    allocated.reset();
  }
  if (comm.all_reduce(allocated ? 1 : 0, Reduction::minimum) == 1) return std::move(*allocated);
  allocated.reset();
  release_mappings(comm);
  return allocate();
}

}  // namespace heddle::impl

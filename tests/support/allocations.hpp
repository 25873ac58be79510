// Allocations that Kokkos Tools sees.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

/// The labels of the library's own allocations of at least so many bytes while `work` runs, in order.
template <class Work> std::vector<std::string> allocations_of(const Work& work, std::uint64_t smallest = 0) {
  static std::vector<std::string> labels;
  static std::uint64_t least;
  labels.clear();
  least = smallest;
  Kokkos::Tools::Experimental::set_allocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t bytes) {
        if (bytes >= least && std::string(label).starts_with("heddle::")) labels.emplace_back(label);
      });
  work();
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  return labels;
}

}  // namespace heddle::test

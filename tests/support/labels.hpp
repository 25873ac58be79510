// Names that Kokkos Tools sees of the library, and the instances of its kernels and fences.
#pragma once

#include "support/on_host.hpp"
#include <heddle/core/scalar.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace heddle::test {

struct Seen {
  std::set<std::string> names;
  std::set<std::pair<std::string, std::uint32_t>> kernels;  // and fences, with the instance they are on
  int blas = 0;  // regions open from heddle::blas::gemm on: the names inside are Kokkos Kernels'
};
inline Seen seen;

inline void listen() {
  namespace tools = Kokkos::Tools::Experimental;
  seen = {};
  const auto kernel = [](const char* name, const std::uint32_t device, std::uint64_t* id) {
    *id = 0;
    if (seen.blas == 0) {
      seen.names.insert(name);
    }
    seen.kernels.emplace(name, device);
  };
  tools::set_begin_parallel_for_callback(kernel);
  tools::set_begin_parallel_reduce_callback(kernel);
  tools::set_begin_parallel_scan_callback(kernel);
  tools::set_begin_fence_callback(kernel);
  tools::set_push_region_callback([](const char* name) {
    if (seen.blas == 0) {
      seen.names.insert(name);
    }
    if (seen.blas > 0 || std::string(name) == "heddle::blas::gemm") {
      ++seen.blas;
    }
  });
  tools::set_pop_region_callback([] { seen.blas -= seen.blas > 0 ? 1 : 0; });
  tools::set_allocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char* name, const void*, std::uint64_t) { seen.names.insert(name); });
}

inline void stop_listening() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
  tools::set_push_region_callback(nullptr);
  tools::set_pop_region_callback(nullptr);
  tools::set_allocate_data_callback(nullptr);
}

inline bool is_of_allocation(const std::string& name) {
  return name.starts_with("SharedAllocationRecord<Kokkos::");
}

/// All names are Heddle's, or Kokkos' own for them, and nothing but `instance` was touched (on GPUs also those that a
/// plan makes beside it, never the default one).
inline void expect_labels(const ExecutionSpace& instance) {
  EXPECT_GT(seen.names.size(), 10U);
  for (const std::string& name : seen.names) {
    // Kokkos names its own helpers after the allocation they serve.
    const bool of_kokkos = (name.starts_with("Kokkos::") || name.starts_with("HostSpace") || is_of_allocation(name)) &&
                           (name.find('[') == std::string::npos || name.find("[heddle::") != std::string::npos);
    EXPECT_TRUE(name.starts_with("heddle::") || of_kokkos) << name;
  }
  const std::uint32_t mine = Kokkos::Tools::Experimental::device_id(instance);
  EXPECT_GT(seen.kernels.size(), 10U);
  for (const auto& [name, device] : seen.kernels) {
    // Kokkos' own: releasing an allocation fences everything, and so do a tool that listens, and the allocation of what
    // is of no instance, as the workspaces of a BLAS are.
    if (name.find("impl_deallocate") != std::string::npos || name.find("invoke_kokkosp") != std::string::npos ||
        is_of_allocation(name)) {
      continue;
    }
    // Host memory is another backend's on a GPU build.
    namespace tools = Kokkos::Tools::Experimental;
    if (tools::identifier_from_devid(device).type != tools::DeviceTypeTraits<ExecutionSpace>::id) {
      continue;
    }
    if (on_host) {
      EXPECT_EQ(device, mine) << name << " is on another instance";
    } else {
      EXPECT_NE(device, tools::device_id(ExecutionSpace{})) << name << " is on the default instance";
    }
  }
}

}  // namespace heddle::test
